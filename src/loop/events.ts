// The loop's own event types: inputs, turns, replies, tool calls.
import * as z from "../ledger/event-schema.ts";
import type { EventDefs } from "../ledger/events.ts";

const content = () =>
  z.array(
    z.discriminatedUnion("type", [
      z.object({ type: z.literal("text"), text: z.string() }),
      z.object({ type: z.literal("image"), mediaType: z.string(), data: z.string() }),
      z.object({ type: z.literal("document"), mediaType: z.string(), data: z.string(), name: z.string() }),
    ]),
  );

const parts = () =>
  z.array(
    z.discriminatedUnion("type", [
      z.object({ type: z.literal("text"), text: z.string() }),
      z.object({
        type: z.literal("reasoning"),
        text: z.string(),
        signature: z.string().optional(),
        redacted: z.string().optional(),
        provider: z.looseObject({}).optional(),
      }),
      z.object({
        type: z.literal("call"),
        id: z.string(),
        name: z.string(),
        input: z.unknown(),
        broken: z.string().optional(),
        provider: z.looseObject({}).optional(),
      }),
    ]),
  );

const usage = () => z.object({ input: z.number(), output: z.number(), cacheRead: z.number(), cacheWrite: z.number() });

/** What its request had besides the conversation, the system prompt and the tools. */
const sentAs = () =>
  z.object({
    maxOutputTokens: z.number(),
    /** How its model writes requests; not there for one that does not say. */
    wire: wire().optional(),
    /** The mechanisms that made the view. */
    viewedBy: z.array(z.string()),
    /** A mechanism around the call sent something else than the view. */
    isAltered: z.literal(true).optional(),
  });
export type SentAs = z.infer<ReturnType<typeof sentAs>>;

/** As `WireSettings` of the models says. */
const wire = () =>
  z.object({
    wire: z.enum(["anthropic", "openai", "openai-responses"]),
    name: z.string(),
    images: z.boolean(),
    documents: z.boolean(),
    extra: z.record(z.string(), z.unknown()).optional(),
    limitField: z.enum(["max_tokens", "max_completion_tokens"]).optional(),
    asksUsage: z.boolean().optional(),
    sealed: z.boolean().optional(),
    unreadable: z.number().optional(),
  });

/** What judging it saw of the disk, by path, where that is not what one would expect. */
const looked = () =>
  z.record(
    z.string(),
    z.object({ real: z.string().optional(), kind: z.string().optional(), links: z.number().optional() }),
  );

const TURN_END_REASONS = ["done", "interrupted", "failed", "limit", "blocked"] as const;
export type TurnEndReason = (typeof TURN_END_REASONS)[number];

/** Limits of one turn. What a whole context may spend is its budget. */
export const TURN_LIMITS = ["rounds", "repetition"] as const;
export type TurnLimit = (typeof TURN_LIMITS)[number];
const COMMAND_ENDS = ["completed", "failed", "killed", "timeout", "interrupted", "unknown"] as const;

export const loopEvents = {
  /**
   * `root`: the tree it works in from here on (a worktree); null: the context's own again. `home`: it goes on on another machine, where this
   * folder stands for the context's root. `machine`: whose paths these are, where other machines reach the store.
   */
  "agent.moved": {
    v: 1,
    schema: () =>
      z.object({
        cwd: z.string(),
        root: z.string().nullish(),
        home: z.string().optional(),
        machine: z.string().optional(),
      }),
  },
  /** Its last holder had not let it go. `was`: its process had ended; it lived past its time; it is on a machine that was not heard of. */
  "agent.taken": {
    v: 1,
    schema: () =>
      z.object({
        from: z.object({ machine: z.string(), pid: z.number(), was: z.enum(["gone", "alive", "unseen"]) }),
        by: z.object({ machine: z.string(), pid: z.number() }),
      }),
  },
  "input.received": {
    v: 1,
    schema: () =>
      z.object({
        ...{ inputId: z.string(), agent: z.string(), content: content(), origin: z.string() },
        /** The words were piped in, not typed. */
        isPiped: z.literal(true).optional(),
        /** It is no part of the turn that runs: it begins one of its own. */
        waits: z.literal(true).optional(),
      }),
  },
  /** Shown to the model from here on; `content` where a mechanism changed it. */
  "input.taken": { v: 1, schema: () => z.object({ inputId: z.string(), content: content().optional() }) },
  /** A mechanism answered it: the model is not shown it. */
  "input.answered": { v: 1, schema: () => z.object({ inputId: z.string(), text: z.string() }) },
  "input.blocked": { v: 1, schema: () => z.object({ inputId: z.string(), reason: z.string() }) },
  "turn.started": { v: 1, schema: () => z.object({ turnId: z.string(), cause: z.enum(["input", "wake", "resume"]) }) },
  "note.added": {
    v: 1,
    schema: () =>
      z.object({
        origin: z.string(),
        kind: z.string().regex(/^\w+$/).optional(),
        text: z.string(),
        /** Behind results that no request has shown yet. */
        withResults: z.literal(true).optional(),
      }),
  },
  /** What requests carry from here on besides the conversation, and its hash. `tools` is JSON. */
  "request.changed": {
    v: 1,
    schema: () =>
      z.object({
        system: z.object({ hash: z.string(), blocks: z.array(z.string()) }).optional(),
        tools: z.object({ hash: z.string(), specs: z.string() }).optional(),
        /** What decisions rest on besides the ledger, by mechanism, and the model's limits: JSON. */
        settings: z.object({ hash: z.string(), json: z.string() }).optional(),
      }),
  },
  "reply.received": {
    v: 1,
    schema: () =>
      z.object({
        model: z.string(),
        parts: parts(),
        finish: z.enum(["stop", "calls", "length", "refused", "other"]),
        usage: usage(),
        interrupted: z.boolean().optional(),
        /** When its calls were asked for, by the clock of the process that recorded it. */
        askedAt: z.number().optional(),
        /** How it was asked for, where that is not as for the reply before it. */
        sentAs: sentAs().optional(),
        /** The fingerprint of the conversation as it was shown. */
        shown: z.string().optional(),
      }),
  },
  /** A call beside the conversation: what it was for, and what it used. */
  "reply.aside": { v: 1, schema: () => z.object({ model: z.string(), usage: usage(), for: z.string() }) },
  "tool.started": {
    v: 1,
    schema: () =>
      z.object({
        callId: z.string(),
        name: z.string(),
        input: z.unknown(),
        effect: z.enum(["internal", "read", "reconcile", "job", "external"]),
        cwd: z.string(),
        intent: z.unknown().optional(),
        grants: z
          .object({
            network: z.boolean().optional(),
            git: z.boolean().optional(),
            withheld: z
              .array(
                z.object({
                  what: z.enum(["network", "git"]),
                  part: z.string(),
                  because: z.enum(["beside", "no_rule"]),
                }),
              )
              .optional(),
            outside: z.array(z.object({ path: z.string(), isOpen: z.boolean() })).optional(),
            paths: z.array(z.string()).optional(),
            exclude: z.array(z.string()).optional(),
            judged: z.string().optional(),
          })
          .optional(),
        looked: looked().optional(),
      }),
  },
  "tool.finished": {
    v: 1,
    schema: () =>
      z.object({
        callId: z.string(),
        name: z.string(),
        content: content(),
        isError: z.boolean(),
        display: z.string().optional(),
        /** Refused by a gate: recorded, not run. */
        denied: z.string().optional(),
        refusal: z
          .object({
            code: z.string(),
            unanswered: z.boolean().optional(),
            rules: z.array(z.string()).optional(),
            looked: looked().optional(),
          })
          .optional(),
        durationMs: z.number(),
        /** Its turn was stopped before it began, or while it ran. */
        stopped: z.enum(["before", "during"]).optional(),
        /** Begun by an earlier process: what this one found. */
        resumed: z.enum(["finished", "adopted", "unknown"]).optional(),
        /** Of a command. */
        ran: z
          .object({
            status: z.enum(COMMAND_ENDS),
            exitCode: z.number().optional(),
            ms: z.number(),
            /** Killed with the lease of its agent. */
            lostLease: z.literal(true).optional(),
            /** A host that had lost its lease let it run on: nothing crashed. */
            left: z.literal(true).optional(),
          })
          .optional(),
        /** Of the whole output, where `content` is a part of it. */
        lines: z.number().optional(),
        /** Texts of `content` that are cut, and the blobs that have all of them. */
        whole: z.array(z.object({ part: z.number(), hash: z.string(), grams: z.string().optional() })).optional(),
        /** Its host was gone, and this one took it up then: in between nobody ran it here. */
        resumedAt: z.number().optional(),
      }),
  },
  "turn.ended": {
    v: 1,
    schema: () =>
      z.object({
        turnId: z.string(),
        reason: z.enum(TURN_END_REASONS),
        text: z.string(),
        error: z.string().optional(),
        /** Of a turn that ended at a limit: which, where it was one of the turn's own. */
        limit: z.enum(TURN_LIMITS).optional(),
      }),
  },
} satisfies EventDefs;
