// The loop's slice of the state: each agent's transcript, its open turn and the calls that still want a result.
import type { contextEvents } from "../contexts/events.ts";
import { HoldfastError } from "../ledger/error.ts";
import type { Fact } from "../ledger/events.ts";
import type { Slice, State } from "../ledger/fold.ts";
import { knownFact } from "../ledger/guards.ts";
import { own } from "../ledger/own.ts";
import {
  addUsage,
  type CallPart,
  type Content,
  type Item,
  noUsage,
  type ReplyPart,
  textOf,
  type Usage,
} from "../models/model.ts";
import { loopEvents, type SentAs, type TurnLimit } from "./events.ts";
import { noteText } from "./marks.ts";
import { applyMoved } from "./moved.ts";
import { applyRewind, type Marks, REWINDS } from "./rewind.ts";
import type { AgentView, Effect, Grants } from "./seams.ts";

export interface PendingCall {
  call: CallPart;
  /** When the reply asked for it; not there in what an older version recorded. */
  askedAt?: number;
  /** Set once the intent is durable. */
  started?: {
    input: unknown;
    effect: Effect;
    cwd: string;
    intent?: unknown;
    grants?: Grants;
    at: number;
    /** Another machine ran it: nothing of it can be seen here. */
    isElsewhere?: true;
  };
}

export interface AgentState {
  name: string;
  /** The agent that started it; the first one of a context, and those that a program adds, were started by none. */
  startedBy?: string;
  cwd: string;
  /** The tree it works in, where that is not the context's. */
  root?: string;
  /** Stands for the context's root, on another machine than that was recorded on. */
  home?: string;
  /** Whose paths these are; not there: that of the context. */
  machine?: string;
  items: Item[];
  /** Calls of the last reply without a result, in source order. */
  pending: PendingCall[];
  /** Inputs received and not yet shown to the model. */
  queue: { inputId: string; content: Content[]; origin: string; isPiped?: true; waits?: true }[];
  /** The open turn. `text` is the answer so far; `answered` once a reply asked for nothing more. */
  turn?: {
    turnId: string;
    startedAt: number;
    /** What began it: someone's input, something that happened, a resume. */
    cause: "input" | "wake" | "resume";
    rounds: number;
    /** There is something to answer: an input that was taken in, or what it began for if that was none. */
    toAnswer: boolean;
    text: string;
    answered: boolean;
    /** Where in `items` it began. */
    from: number;
    /** The last reply was cut off by its output limit: the next one continues it. */
    cutOff?: boolean;
    /** The model, or a filter, would not answer. */
    refused?: boolean;
    /** In a fork: everything for its next request is taken in already. */
    isTakenIn?: true;
  };
  lastTurn?: { turnId: string; reason: string; text: string; error?: string; limit?: TurnLimit; rounds: number };
  rounds: number;
  /** How often something was said to it. */
  said: number;
  usage: Usage;
  usageByModel: Record<string, Usage>;
  /** How many calls this agent has made: their ids are c1, c2, … */
  calls: number;
  /** By their hashes: the system prompt and the tools that its requests carry, the settings it works by. `as`: how the last one was sent. */
  sent?: { system?: string; tools?: string; settings?: string; as?: SentAs };
  denials: { name: string; callId: string; input: unknown; reason: string }[];
}

export interface ContextState {
  root: string;
  title: string;
  createdAt: number;
  /** Whose folder the root is, where other machines reach the store. */
  machine?: string;
  agents: Record<string, AgentState>;
  /** Where everyone stood at each checkpoint. */
  marks?: Marks;
}

/** The tree that the context was started in, whatever tree the agent is in; on another machine the folder that stands for it. */
export const contextRoot = (agent: Pick<AgentView, "root" | "slice"> & Partial<Pick<AgentView, "state">>): string =>
  agent.state?.home ?? agent.slice<ContextState | undefined>("transcript")?.root ?? agent.root;

/** Contract: of the state of a context that these readers folded. */
export const transcriptIn = (state: State): ContextState => state.slices.transcript as ContextState;

/** Contract: inside a turn. */
export function openTurn({ name, turn }: Readonly<AgentState>): NonNullable<AgentState["turn"]> {
  if (!turn) throw new HoldfastError("conflict", `the turn of ${name} was ended by someone else: begin another one`);
  return turn;
}

/** A fork that goes on asks first what the original asked there; when it is spoken to before that, it asks something else. */
export const isIntakeDue = (agent: Readonly<AgentState>, { isTaken }: { isTaken: boolean }): boolean =>
  isTaken || !openTurn(agent).isTakenIn;

type KnownEvents = typeof loopEvents & Pick<typeof contextEvents, (typeof OF_CONTEXTS)[number]>;
type Known = Fact<KnownEvents>;

/** What contexts record and every transcript begins with. */
const OF_CONTEXTS = ["context.created", "agent.created", "context.moved"] as const;

export const transcript: Slice<ContextState> = {
  version: 8,
  types: [...Object.keys(loopEvents), ...OF_CONTEXTS, ...REWINDS],
  initial: () => ({ root: "", title: "", createdAt: 0, agents: {} }),
  apply(state, event) {
    const fact: Known = knownFact<KnownEvents>(event);
    const { type, data } = fact;
    if (type === "context.created") {
      const { root, title, machine } = data;
      return { ...state, root, title, createdAt: event.at, ...(machine !== undefined && { machine }) };
    }
    if (type === "context.moved") {
      applyMoved(state, data, noteText);
      return state;
    }
    if (type === "agent.created") {
      state.agents[data.name] = {
        name: data.name,
        ...(event.actor !== data.name && { startedBy: event.actor }),
        cwd: data.cwd,
        items: [],
        pending: [],
        queue: [],
        rounds: 0,
        said: 0,
        usage: noUsage(),
        usageByModel: {},
        calls: 0,
        denials: [],
      };
      return state;
    }
    if (applyRewind(state, event)) return state;
    const agent = own(state.agents, type === "input.received" ? data.agent : event.actor);
    if (agent) applyToAgent(agent, fact, state.root);
    return state;
  },
};

function applyToAgent(agent: AgentState, { type, at: when, data }: Known, contextRoot: string): void {
  switch (type) {
    case "agent.moved":
      agent.cwd = data.cwd;
      if (data.root !== undefined) agent.root = data.root ?? undefined;
      if (data.machine !== undefined) agent.machine = data.machine;
      if (data.home !== undefined) comeHome(agent, data.home);
      break;
    case "input.received": {
      const { agent: _, ...input } = data;
      agent.queue.push(input);
      break;
    }
    case "input.blocked":
      unqueue(agent, data.inputId);
      break;
    case "input.answered":
      unqueue(agent, data.inputId);
      if (agent.turn && !agent.turn.toAnswer) Object.assign(agent.turn, { text: data.text, answered: true });
      break;
    case "input.taken": {
      const taken = unqueue(agent, data.inputId);
      if (!taken) break;
      addUser(agent, data.content ?? taken.content, taken.origin === "user" ? {} : { from: taken.origin });
      if (agent.turn) agent.turn.toAnswer = true;
      break;
    }
    case "turn.started":
      beginTurn(agent, data, when);
      break;
    case "note.added":
      addUser(agent, [{ type: "text", text: noteText(data.origin, data.text, data.kind) }], {
        note: true,
        from: data.origin,
        ...(data.withResults && { withResults: true }),
      });
      break;
    case "request.changed":
      agent.sent = {
        ...agent.sent,
        ...(data.system && { system: data.system.hash }),
        ...(data.tools && { tools: data.tools.hash }),
        ...(data.settings && { settings: data.settings.hash }),
      };
      break;
    case "reply.received":
      applyReply(agent, data);
      break;
    case "reply.aside":
      addUsed(agent, data);
      break;
    case "tool.started": {
      const pending = agent.pending.find((p) => p.call.id === data.callId);
      if (pending) {
        const { input, effect, cwd, intent, grants } = data;
        pending.started = { input, effect, cwd, intent, grants, at: when };
      }
      break;
    }
    case "tool.finished":
      applyResult(agent, data, contextRoot);
      break;
    case "turn.ended":
      endTurn(agent, data);
      break;
  }
}

function comeHome(agent: AgentState, home: string): void {
  agent.home = home;
  for (const { started } of agent.pending) if (started) started.isElsewhere = true;
}

type DataOf<T extends Known["type"]> = Extract<Known, { type: T }>["data"];

/** An input that waits no longer; undefined when it did not. */
/** What may be taken in now: an input that waits begins a turn of its own, one after the other. */
export function dueInputs({ queue, turn }: Pick<AgentState, "queue" | "turn">): AgentState["queue"] {
  const due = queue.filter(({ waits }) => !waits);
  const isBeginning = (turn?.rounds ?? 0) === 0;
  return due.length === 0 && isBeginning ? queue.slice(0, 1) : due;
}

function unqueue({ queue }: AgentState, inputId: string): AgentState["queue"][number] | undefined {
  const at = queue.findIndex((one) => one.inputId === inputId);
  return at < 0 ? undefined : queue.splice(at, 1)[0];
}

function beginTurn(agent: AgentState, { turnId, cause }: DataOf<"turn.started">, startedAt: number): void {
  const toAnswer = cause !== "input";
  agent.turn = { turnId, startedAt, cause, rounds: 0, toAnswer, text: "", answered: false, from: agent.items.length };
}

function endTurn(agent: AgentState, { turnId, reason, text, error, limit }: DataOf<"turn.ended">): void {
  const rounds = agent.turn?.rounds ?? 0;
  agent.lastTurn = { turnId, reason, text, error, ...(limit !== undefined && { limit }), rounds };
  agent.turn = undefined;
}

function applyReply(agent: AgentState, data: DataOf<"reply.received">): void {
  const parts: ReplyPart[] = data.parts;
  addUsed(agent, data);
  if (data.sentAs) agent.sent = { ...agent.sent, as: data.sentAs };
  agent.rounds++;
  if (agent.turn) {
    const text = textOf(parts);
    agent.turn.rounds++;
    agent.turn.text = agent.turn.cutOff ? joinReplies(agent.turn.text, text) : text;
    agent.turn.answered = !parts.some((p) => p.type === "call");
    agent.turn.cutOff = data.finish === "length" && agent.turn.answered;
    agent.turn.refused = data.finish === "refused" && agent.turn.answered;
    delete agent.turn.isTakenIn;
  }
  if (parts.length === 0) return; // nothing to show: an empty assistant message is not valid on the wire
  agent.items.push({ kind: "reply", model: data.model, parts, n: agent.rounds });
  for (const part of parts) {
    if (part.type !== "call") continue;
    agent.calls++;
    agent.pending.push({ call: part, ...(data.askedAt !== undefined && { askedAt: data.askedAt }) });
  }
}

function addUsed(agent: AgentState, { model, usage }: { model: string; usage: Usage }): void {
  agent.usage = addUsage(agent.usage, usage);
  agent.usageByModel[model] = addUsage(own(agent.usageByModel, model) ?? noUsage(), usage);
}

function applyResult(agent: AgentState, data: DataOf<"tool.finished">, contextRoot: string): void {
  const at = agent.pending.findIndex((p) => p.call.id === data.callId);
  const [done] = at < 0 ? [] : agent.pending.splice(at, 1);
  if (!done) return; // a second result for one call never counts
  if (data.denied !== undefined) {
    agent.denials.push({ name: data.name, callId: data.callId, input: done.call.input, reason: data.denied });
  }
  const cwd = done.started?.cwd;
  insertResult(agent, {
    kind: "result",
    callId: data.callId,
    name: data.name,
    content: data.content,
    isError: data.isError,
    ...(data.ran?.exitCode !== undefined && { exitCode: data.ran.exitCode }),
    ...(data.stopped !== undefined && { stopped: data.stopped }),
    ...(data.whole && { whole: data.whole }),
    ...(cwd !== undefined && cwd !== contextRoot && { cwd }),
  });
}

function addUser(
  agent: AgentState,
  content: Content[],
  more: { note?: true; from?: string; withResults?: true },
): void {
  agent.items.push({ kind: "user", content, n: ++agent.said, ...more });
  if (agent.turn) agent.turn.answered = false;
}

/** Shorter repetitions may be chance: "hel" and "lo" share a letter that both need. */
const CERTAIN = 12;
/** A whole repeated line is no chance, even a short one. */
const CERTAIN_LINE = 4;
const LOOKED_AT = 2000;

/** A reply cut off by its limit and its continuation, as one text: what the second says again of the first's end is left out. */
export function joinReplies(first: string, second: string): string {
  for (let size = Math.min(first.length, second.length, LOOKED_AT); size >= CERTAIN_LINE; size--) {
    if (!first.endsWith(second.slice(0, size))) continue;
    const before = first.length - size - 1;
    const fromLineStart = before < 0 || first[before] === "\n";
    if (size >= CERTAIN || fromLineStart) return first + second.slice(size);
  }
  return first + second;
}

/** Results keep the order of their calls, whatever order they finished in. */
function insertResult(agent: AgentState, result: Extract<Item, { kind: "result" }>): void {
  const reply = agent.items.findLast((i) => i.kind === "reply");
  const order = reply?.parts.filter((p) => p.type === "call").map((p) => p.id) ?? [];
  const rank = (id: string) => order.indexOf(id);
  let at = agent.items.length;
  for (let i = agent.items.length - 1; i >= 0; i--) {
    const item = agent.items[i];
    if (!item || item.kind === "reply") break;
    if (item.kind === "result" && rank(item.callId) < rank(result.callId)) break;
    at = i;
  }
  agent.items.splice(at, 0, result);
}
