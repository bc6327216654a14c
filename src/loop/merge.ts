// The merge rules: how many attachments at one seam become one function. Knows no mechanism by name.
import { HoldfastError, messageOf } from "../ledger/error.ts";
import type { Item, Reply } from "../models/model.ts";
import { type Carried, carriedBy } from "./carry.ts";
import type { Outstanding } from "./outstanding.ts";
import type {
  AgentView,
  Answer,
  AnsweredInput,
  Asked,
  GateCall,
  Grants,
  HasWork,
  Heard,
  Input,
  Looked,
  Mechanism,
  ModelCall,
  Note,
  Seams,
  Tool,
  ToolOutput,
  ToolRun,
  Turn,
  Verdict,
  VerdictCode,
  ViewOptions,
} from "./seams.ts";
import type { StopOptions } from "./stop-options.ts";

export interface Merged {
  input(input: Input, turn: Turn): Promise<Input | AnsweredInput | { block: string }>;
  intake(turn: Turn): Promise<Note[]>;
  context(items: readonly Item[], turn: Turn, opts: ViewOptions): Promise<readonly Item[]>;
  /** The names of those that attach there. */
  readonly viewers: readonly string[];
  system(turn: Turn): Promise<string[]>;
  model(call: ModelCall, base: (call: ModelCall) => Promise<Reply>): Promise<Reply>;
  gate(call: GateCall): Promise<{ verdict: Verdict; input: unknown }>;
  ask(call: GateCall, asked: Asked): Promise<Answer>;
  tool(run: ToolRun, base: (run: ToolRun) => Promise<ToolOutput>): Promise<ToolOutput>;
  beforeEffect(run: ToolRun): Promise<void>;
  /** What is to be said beside the refusal of a call. */
  refused(call: GateCall, refusal: { code: VerdictCode; reason: string }): Promise<Note[]>;
  stop(turn: Turn, reply: Reply, opts: Pick<StopOptions, "ask">): Promise<Note[]>;
  tools(turn: Turn): Tool[];
  /** Whether the agent would be given that tool. */
  offers(tool: Tool, turn: Turn): boolean;
  carry(turn: Turn, how: Parameters<ViewOptions["carry"]>[0]): Promise<Carried[]>;
  /** By mechanism: what decisions rest on besides the ledger. */
  settings(): Record<string, unknown>;
  announced(event: string, payload: Readonly<Record<string, unknown>>, turn: Turn): Promise<Heard>;
  start(turn: Turn): Promise<Note[]>;
  end(turn: Turn, reason: string): Promise<void>;
  /** Whether any mechanism has something for the idle agent. */
  wants(agent: AgentView): Promise<HasWork>;
  outstanding(agent: AgentView): Outstanding[];
  idle(turn: Turn): Promise<void>;
  /** Resolves when any mechanism wants the idle agent. */
  wake(turn: Turn, signal: AbortSignal): Promise<void>;
}

type Around<A, R> = (arg: A, next: (arg: A) => Promise<R>) => Promise<R>;

/** The first attachment is the outermost. */
function around<A, R>(attached: Around<A, R>[]): Around<A, R> {
  return (arg, base) => {
    const run = (at: number, value: A): Promise<R> => {
      const attach = attached[at];
      return attach ? attach(value, (next) => run(at + 1, next)) : base(value);
    };
    return run(0, arg);
  };
}

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

/** Of two that ask the firm one: what only a person may answer stays so, whichever gate asked first. */
function isStricter(a: Verdict, b: Verdict): boolean {
  if (a.decision === "ask" && b.decision === "ask") return a.firm === true && b.firm !== true;
  return STRICTNESS[a.decision] > STRICTNESS[b.decision];
}

/** What only a person may answer says all that there is to answer: a yes to one reason is none to another. */
function withBoth(first: Verdict, other: Verdict): Verdict {
  if (first.decision !== "ask" || other.decision !== "ask" || !first.firm || !other.firm) return first;
  const about = [first.about, other.about].filter((one) => one !== undefined).join(" ");
  return { ...first, reason: `${first.reason}; ${other.reason}`, ...(about !== "" && { about }) };
}

type Mechanisms = readonly Mechanism[];

const attachedAt = <K extends keyof Seams>(mechanisms: Mechanisms, name: K): Seams[K][] =>
  mechanisms.flatMap(({ seams }): Seams[K][] => {
    const attach: Partial<Seams>[K] = seams?.[name];
    return attach === undefined ? [] : [attach];
  });

export const mergeSeams = (mechanisms: readonly Mechanism[]): Merged => ({
  ...mergeRounds(mechanisms),
  ...mergeCalls(mechanisms),
  ...mergeLife(mechanisms),
});

/** A round: what is taken in, what the model is shown and asked, what comes behind its reply. */
function mergeRounds(
  mechanisms: Mechanisms,
): Pick<
  Merged,
  "input" | "intake" | "context" | "viewers" | "system" | "model" | "stop" | "tools" | "offers" | "settings" | "carry"
> {
  const inputs = attachedAt(mechanisms, "input");
  const intakes = attachedAt(mechanisms, "intake");
  const contexts = attachedAt(mechanisms, "context");
  const systems = attachedAt(mechanisms, "system");
  const stops = attachedAt(mechanisms, "stop");
  const offers = mechanisms.flatMap((m) => (m.offers ? [m.offers] : []));
  const isOffered = (tool: Tool, turn: Turn) => offers.every((offer) => offer(tool, turn));
  return {
    async input(input, turn) {
      for (const attach of inputs) {
        const result = await attach(input, turn);
        if ("block" in result || "answer" in result) return result;
        input = result;
      }
      return input;
    },
    async intake(turn) {
      const notes: Note[] = [];
      for (const attach of intakes) {
        try {
          notes.push(...(await attach(turn)));
        } catch (error) {
          turn.emit({ type: "status", text: `intake failed: ${messageOf(error)}` });
        }
      }
      return notes;
    },
    async context(items, turn, opts) {
      for (const attach of contexts) items = await attach(items, turn, opts);
      return items;
    },
    viewers: mechanisms.flatMap(({ name, seams }) => (seams?.context ? [name] : [])),
    async system(turn) {
      const blocks: string[] = [];
      for (const attach of systems) {
        const text = await attach(turn);
        if (text !== "") blocks.push(text);
      }
      return blocks;
    },
    carry: (turn, how) => carriedBy(mechanisms, turn, how),
    settings: () => Object.fromEntries(mechanisms.flatMap((m) => (m.settings ? [[m.name, m.settings()]] : []))),
    model: around(attachedAt(mechanisms, "model")),
    async stop(turn, reply, { ask }) {
      const notes: Note[] = [];
      for (const attach of stops) notes.push(...(await attach(turn, reply, { ask, goesOn: notes.length > 0 })));
      return notes;
    },
    tools(turn) {
      const pool = mechanisms.flatMap((m) => (typeof m.tools === "function" ? m.tools(turn) : (m.tools ?? [])));
      const names = new Set<string>();
      for (const tool of pool) {
        if (names.has(tool.name)) throw new HoldfastError("invalid", `two tools are named ${tool.name}: rename one`);
        names.add(tool.name);
      }
      return offers.length === 0 ? pool : pool.filter((tool) => isOffered(tool, turn));
    },
    offers: isOffered,
  };
}

/** A tool call: whether it may run, and what runs around it. */
function mergeCalls(mechanisms: Mechanisms): Pick<Merged, "gate" | "ask" | "tool" | "beforeEffect" | "refused"> {
  const gates = attachedAt(mechanisms, "gate");
  const asks = attachedAt(mechanisms, "ask");
  return {
    async gate(call) {
      let verdict: Verdict = { decision: "allow" };
      const grants: Grants = {};
      let looked: Looked | undefined;
      try {
        for (const gate of gates) if (gate.rewrite) call = { ...call, input: await gate.rewrite(call) };
        for (const gate of gates) {
          const answer = await gate.judge?.(call);
          if (answer && "grants" in answer) Object.assign(grants, answer.grants);
          if (answer?.looked) looked = { ...looked, ...answer.looked };
          if (answer) verdict = isStricter(answer, verdict) ? answer : withBoth(verdict, answer);
        }
      } catch (error) {
        verdict = { decision: "deny", code: "failed", reason: `a gate failed: ${messageOf(error)}` };
      }
      const given = verdict.decision !== "deny" && Object.keys(grants).length > 0;
      return { verdict: { ...verdict, ...(given && { grants }), ...(looked && { looked }) }, input: call.input };
    },
    async ask(call, asked) {
      try {
        for (const attach of asks) {
          const answer = await attach(call, asked);
          if (answer) return answer;
        }
      } catch (error) {
        return { decision: "deny", code: "failed", reason: `asking failed: ${messageOf(error)}` };
      }
      const reason = `${asked.reason} (needs approval, and no one is there to ask)`;
      return { decision: "deny", code: "unanswered", reason };
    },
    tool: around(attachedAt(mechanisms, "tool")),
    async beforeEffect(run) {
      for (const m of mechanisms) {
        try {
          await m.beforeEffect?.(run);
        } catch (error) {
          run.turn.emit({ type: "status", text: `${m.name} failed before ${run.tool.name}: ${messageOf(error)}` });
        }
      }
    },
    async refused(call, refusal) {
      const notes: Note[] = [];
      for (const m of mechanisms) notes.push(...((await m.refused?.(call, refusal).catch(() => [])) ?? []));
      return notes;
    },
  };
}

/** An agent while a process holds it, and what it is idle for. */
function mergeLife(
  mechanisms: Mechanisms,
): Pick<Merged, "announced" | "start" | "end" | "wants" | "outstanding" | "idle" | "wake"> {
  const wakes = mechanisms.flatMap((m) => (m.wake ? [m.wake] : []));
  return {
    async announced(event, payload, turn) {
      const heard: Heard = { context: [] };
      for (const m of mechanisms) {
        const says = await m.announced?.(event, payload, turn);
        heard.context.push(...(says?.context ?? []));
        if (says?.blocked !== undefined) heard.blocked ??= says.blocked;
      }
      return heard;
    },
    async start(turn) {
      const notes: Note[] = [];
      for (const m of mechanisms) {
        try {
          if (m.start) notes.push(...(await m.start(turn)));
        } catch (error) {
          turn.emit({ type: "status", text: `${m.name} could not start: ${messageOf(error)}` });
        }
      }
      return notes;
    },
    async end(turn, reason) {
      for (const m of mechanisms) await m.end?.(turn, reason).catch(() => undefined);
    },
    async wants(agent) {
      let wanted: HasWork = false;
      for (const m of mechanisms) {
        const one = await m.wants?.(agent);
        if (one === true) return true;
        wanted = one || wanted;
      }
      return wanted;
    },
    outstanding: (agent) => mechanisms.flatMap((m) => m.outstanding?.(agent) ?? []),
    async idle(turn) {
      for (const m of mechanisms) await m.idle?.(turn).catch(() => undefined);
    },
    wake: (turn, signal) =>
      wakes.length === 0 ? new Promise(() => undefined) : Promise.race(wakes.map((wake) => wake(turn, signal))),
  };
}
