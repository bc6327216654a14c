// Hooks: the user's commands and the embedding program's functions, at the seams of the loop. Without hooks all goes by as it is.

import { type HookEvent, ruleOf } from "../../claude-code/hook-events.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { LEAD } from "../../loop/agent.ts";
import { harmless, noteText } from "../../loop/marks.ts";
import { defineMechanism, type Mechanism, type Seams, type Turn } from "../../loop/seams.ts";
import { textOf } from "../../models/model.ts";
import { betweenRounds } from "./between-rounds.ts";
import { callSeams, refusals } from "./call-seams.ts";
import { hookEvents, hooksSlice, turnHooks } from "./events.ts";
import { NOTHING_SAID } from "./fired.ts";
import { createFiring, type MatchesRule } from "./firing.ts";
import { type HandlerOptions, handlersOf } from "./handlers.ts";
import type { Payload } from "./payload.ts";
import { forgetTranscript, longTextDir, transcriptPaths } from "./transcript-places.ts";
import type { TranscriptOptions, Transcripts } from "./transcripts.ts";

export interface HooksOptions extends HandlerOptions {
  /** Texts of hooks over 10,000 characters are kept below it, in `hooks/CONTEXT/`; transcripts in `transcripts/`. */
  stateDir: string;
  /** How the conversation is read for hooks that want its transcript; default: there is none. */
  transcripts?: TranscriptOptions;
  /** How long the lead waits for a person before a Notification says so. */
  idleAfterMs?: number;
  /** As hooks are told it. */
  permissionMode?: () => string;
  /** The type of an agent other than the lead, as hooks are told it and match it; default: its name. */
  agentType?: (turn: Turn) => string | undefined;
  /** Reads the `if` of a hook. */
  matchesRule?: MatchesRule;
  now?: () => number;
  /** Where other mechanisms find `fire`. */
  port?: HookPort;
}

/** Empty until hooks are there. */
export interface HookPort {
  fire?: FireHook;
}

/** How other mechanisms fire an event of theirs. Contract: `blocked` where a hook refused; nothing said without hooks. */
type FireHook = (
  event: HookEvent,
  payload: Record<string, unknown>,
  turn: Turn,
) => Promise<{ blocked?: string; context: string[] }>;

export interface Hooks extends Mechanism {
  fire: FireHook;
}

const neverText = (event: HookEvent): string[] => {
  const { never } = ruleOf(event);
  return never === undefined ? [] : [`hooks for ${event} are not run: ${never}`];
};

/** The published word for a process that leaves: nobody cleared it, logged out, or typed an exit. */
const SESSION_END = "other";
const MAX_CONTINUATIONS = 8;
const IDLE_AFTER_MS = 60_000;

export function createHooks(opts: HooksOptions): Hooks {
  const handlers = handlersOf(opts);
  const facts = { name: "hooks", events: hookEvents, fold: hooksSlice }; // a past with hooks stays readable without them
  const { permissionMode = () => "default", now = Date.now, matchesRule, stateDir } = opts;
  const { idleAfterMs = IDLE_AFTER_MS } = opts;
  const maxContinuations = Number(process.env.CLAUDE_CODE_STOP_HOOK_BLOCK_CAP) || MAX_CONTINUATIONS;
  const firing = createFiring({
    handlers,
    dir: longTextDir(stateDir),
    permissionMode,
    agentType: opts.agentType,
    now,
    ...(matchesRule ? { matchesRule } : {}),
    ...(opts.transcripts ? { transcripts: transcriptsIn(stateDir, opts.transcripts) } : {}),
  });
  const has = (...events: HookEvent[]) => handlers.some((h) => events.includes(h.event));
  const fire = async (event: HookEvent, payload: Payload, turn: Turn) =>
    has(event) ? firing.fire(event, payload, turn, turn.signal) : NOTHING_SAID;
  /** Settings leave such hooks out by themselves, with their place. */
  const silent = new Set(handlers.flatMap(({ event }) => neverText(event)));
  const between = betweenRounds({ fire, has, idleAfterMs });
  const seams: Partial<Seams> = {
    ...callSeams(fire, has, now),
    model(call, next) {
      const { stop } = turnHooks(call.turn);
      if (stop !== undefined) throw new HoldfastError("refused", `a hook ended the turn: ${stop}`);
      return next(call);
    },
    async input(input, turn) {
      if (input.origin !== "user" || !has("UserPromptSubmit")) return input;
      const fired = await fire("UserPromptSubmit", { prompt: textOf(input.content) }, turn);
      // Nobody has said no to it: it waits for the next turn.
      if (turn.signal.aborted) throw new HoldfastError("refused", "interrupted before its hooks had answered");
      if (fired.stop !== undefined) return { block: harmless(fired.stop) };
      if (fired.decision === "deny") return { block: `blocked by a UserPromptSubmit hook: ${fired.reason}` };
      if (fired.context.length === 0) return input;
      return {
        ...input,
        content: [...input.content, { type: "text", text: noteText("hook", fired.context.join("\n")) }],
      };
    },
    async stop(turn, reply) {
      const event = turn.agent === LEAD ? "Stop" : "SubagentStop";
      if (reply.finish === "length" || !has(event)) return []; // cut off, not finished
      const { continued } = turnHooks(turn);
      const payload = { stop_hook_active: continued > 0, last_assistant_message: textOf(reply.parts) };
      const fired = await fire(event, payload, turn);
      if (fired.decision !== "deny" || fired.stop !== undefined) return [];
      if (continued >= maxContinuations) {
        turn.emit({ type: "status", text: `a stop hook continued the turn ${continued} times: it ends now` });
        return [];
      }
      const events = [{ type: "hook.continued", data: { count: continued + 1 } }];
      return [{ origin: "hook", text: harmless(fired.reason ?? ""), events }];
    },
    async intake(turn) {
      const notes = await between.intake(turn);
      return [...notes, ...firing.late(turn).map((text) => ({ origin: "hook", text: harmless(text) }))];
    },
  };

  const hooks: Hooks = {
    ...defineMechanism({
      ...facts,
      seams,
      async start(turn) {
        if (handlers.length === 0) {
          if (turn.agent === LEAD) forgetTranscript(stateDir, turn.context); // no hook wants it any more
          return [];
        }
        between.begin(turn);
        for (const says of turn.agent === LEAD ? silent : []) turn.emit({ type: "status", text: says });
        const first = turn.state.items.length === 0;
        if (turn.agent !== LEAD && !first) return [];
        const { context } =
          turn.agent === LEAD
            ? await fire("SessionStart", { source: first ? "startup" : "resume", model: turn.model.id }, turn)
            : await fire("SubagentStart", {}, turn);
        return context.map((text) => ({ origin: "hook", text: harmless(text) }));
      },
      async end(turn) {
        if (handlers.length === 0) return;
        between.end(turn);
        await firing.end(turn);
        // Without the turn's signal: whether or not the last turn was interrupted.
        if (turn.agent === LEAD) await firing.fire("SessionEnd", { reason: SESSION_END }, turn);
        await turn.append([]); // the lease goes next: what waits becomes durable now
      },
      refused: refusals(fire, has),
      async idle(turn) {
        between.idle(turn);
      },
      wake: (turn, signal) => firing.untilSaid(turn, signal),
    }),
    async fire(event, payload, turn) {
      const { decision, reason = "", context, stop } = await fire(event, payload, turn);
      const blocked = stop ?? (decision === "deny" ? reason : undefined);
      return { ...(blocked === undefined ? {} : { blocked: harmless(blocked) }), context: context.map(harmless) };
    },
  };
  if (opts.port) opts.port.fire = hooks.fire;
  return hooks;
}

/** Loaded when the first hook starts. */
function transcriptsIn(stateDir: string, opts: TranscriptOptions) {
  let opened: Promise<Transcripts> | undefined;
  return {
    pathsOf: (turn: Turn) => transcriptPaths(stateDir, turn),
    async update(turn: Turn) {
      opened ??= import("./transcripts.ts").then(({ createTranscripts }) => createTranscripts(stateDir, opts));
      return (await opened).update(turn);
    },
  };
}
