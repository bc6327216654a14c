// The seams: the named points of the loop where mechanisms attach, each with one merge rule. Knows no mechanism.

import type { ZodType } from "zod";
import type { EventDefs } from "../ledger/events.ts";
import type { Durability } from "../ledger/ledger.ts";
import type { AppendOptions, EventInput, StoredEvent, WakeInput } from "../ledger/store.ts";
import type {
  CallPart,
  Content,
  Delta,
  Item,
  Model,
  ModelRequest,
  Reply,
  ToolSpec,
  WholeText,
} from "../models/model.ts";
import type { Carried, Carrying } from "./carry.ts";
import type { CommandEnd } from "./command-end.ts";
import type { LeaseWatch } from "./lease-watch.ts";
import type { Outside } from "./outside.ts";
import type { Outstanding } from "./outstanding.ts";
import type { StopOptions } from "./stop-options.ts";
import type { MechanismSlice } from "./timelines.ts";
import type { AgentState } from "./transcript.ts";

/** What an agent's turn shows to mechanisms and tools. */
export interface Turn {
  readonly context: string;
  readonly agent: string;
  /** The tree the agent works in: where the context was started, or its worktree. */
  readonly root: string;
  /** The agent's current directory. */
  readonly cwd: string;
  /** This agent's folded state. Read only. */
  readonly state: Readonly<AgentState>;
  /** A mechanism's folded slice. Read only. */
  slice<T>(name: string): T;
  readonly model: Model;
  readonly signal: AbortSignal;
  /** Records facts under the agent's lease. Contract: durable when it resolves, or `deferred` before the next effect; `fenced` means stop at once. */
  append(
    events: Omit<EventInput, "actor">[],
    opts?: Pick<AppendOptions, "blobs" | "wake"> & { durability?: Durability },
  ): Promise<StoredEvent[]>;
  /** Contract: resolves when the condition holds, looked at after every change by any process, or on abort. */
  until(condition: () => boolean, signal: AbortSignal): Promise<void>;
  /** Contract: all that was appended so far is durable when it resolves: before anything outside acts on it (a hook, a question). */
  durable(): Promise<void>;
  blob(hash: string): Promise<Uint8Array | undefined>;
  /**
   * Runs a tool inside what goes on, as the part of a call or of an input: gated, asked and hooked like a call of the model, and no part
   * of the transcript. Contract: an output whatever happens; its facts are the caller's to record. `id` names it for who is asked.
   */
  runInside(name: string, input: unknown, id: string): Promise<ToolOutput>;
  /** Tells every mechanism that listens (`announced`) what happens here, by a name. Contract: `blocked` where one of them objects; who asks decides what that means. */
  announce(event: string, payload: Readonly<Record<string, unknown>>): Promise<Heard>;
  /** For observers only: what is not a fact (deltas, progress). */
  emit(progress: Progress): void;
}

/** What those who listen say to an announcement. */
export interface Heard {
  /** Why it shall not be. */
  blocked?: string;
  /** What the model may be told. */
  context: string[];
}

/** What can be seen of an agent without holding it. */
export type AgentView = Pick<Turn, "context" | "agent" | "root" | "cwd" | "state" | "slice">;

export type Progress =
  | { type: "delta"; delta: Delta }
  | { type: "output"; callId: string; text: string }
  /** `recorded`: an event says the same; whoever shows events leaves this out. */
  | { type: "status"; text: string; recorded?: boolean };

export type Effect = "internal" | "read" | "reconcile" | "job" | "external";

export interface ToolRun {
  readonly call: CallPart;
  readonly tool: Tool;
  /** Parsed by the tool's schema, after any rewrite by a gate. */
  readonly input: unknown;
  /** Where it runs; an around may hand on another one. */
  readonly cwd: string;
  readonly root: string;
  readonly turn: Turn;
  readonly signal: AbortSignal;
  /** What `intend` recorded before the effect began. */
  readonly intent: unknown;
  /** What the gates let this call do besides. */
  readonly grants: Grants;
  /** True when an earlier host recorded the intent and no result: look before acting. */
  readonly resumed: boolean;
  /** When the model asked for it, where an earlier process took that in: a call may be run long after. */
  readonly askedAt?: number;
}

export interface ToolOutput {
  /** What the model sees. */
  content: string | Content[];
  isError?: boolean;
  /** It never began: sent again it may run. */
  notRun?: boolean;
  /** What a person sees instead, where that differs (a diff, a table). */
  display?: string;
  /** How a command ended, and how long it ran: for people and programs; the model reads `content`. */
  ran?: CommandEnd;
  /** How many lines the whole output has, where `content` is a part of it. */
  lines?: number;
  /** The texts of `content` that are cut, by their places, and the blobs that have all of them. */
  whole?: WholeText[];
  /** Facts that become durable in the same append as the result. */
  events?: Omit<EventInput, "actor">[];
  blobs?: Uint8Array[];
  wake?: WakeInput[];
  /** Runs after the result is durable (cleaning up); must not throw, may be lost in a crash. */
  after?: () => void;
}

/** What became of an effect that an earlier process began, and whose result was not recorded. */
export type EffectOutcome =
  /** It is done; this is what was not recorded. */
  | { kind: "finished"; output: ToolOutput }
  /** It goes on, or its end is yet to be read: `follow` does that inside seam `tool`, like an execution. */
  | { kind: "adopted"; follow: (run: ToolRun) => Promise<ToolOutput> }
  /** Nothing of it happened: it runs now, with a new intent. */
  | { kind: "undone" }
  /** It is never run again blindly: the model is told, with `why` where more is known. */
  | { kind: "unknown"; why?: string };

// biome-ignore lint/suspicious/noExplicitAny: a pool holds tools of every input type
export interface Tool<I = any> {
  name: string;
  description: string;
  /** Built on first use. */
  schema: () => ZodType<I>;
  /** The schema as a model is shown it, where it is known without building it. The build adds it to tools of the house (scripts/tool-schemas.mjs). */
  json?: Readonly<Record<string, unknown>>;
  /** Decides what a resume does with an intent that has no result (DESIGN §5). */
  effect: Effect;
  /** Neighbouring calls of such tools run together. Contract: only with effect `internal`. Reads always do. */
  parallel?: boolean;
  /** Its results hold for all that follows: whoever makes room takes them last. */
  keepsResults?: boolean;
  /** Contract: no effect yet. What it returns is durable before `execute` begins. */
  intend?: (run: ToolRun & { input: I }) => Promise<unknown>;
  /** Contract: on abort return what happened so far as an error result; a throw becomes an error result. Output is not bounded here. */
  execute: (run: ToolRun & { input: I }) => Promise<ToolOutput>;
  /**
   * Contract: asked after a crash when an intent was recorded and no result, before seam `tool`: it looks at the world and says what
   * became of the effect. A throw becomes an error result: then it must be certain that running it again would be wrong.
   */
  reconcile?: (run: ToolRun & { input: I }) => Promise<EffectOutcome>;
}

export const defineTool = <I>(tool: Tool<I>): Tool<I> => tool;

export interface Note {
  /** Where the text comes from; shown to the model with it. */
  origin: string;
  /** What it says in one word, where something is decided by that; shown to the model too. */
  kind?: string;
  text: string;
  /** Facts recorded in the same append (a notification is delivered once). */
  events?: Omit<EventInput, "actor">[];
}

/** What is recorded of a note that is shown. */
export const noteFacts = (
  { origin, kind, text, events = [] }: Note,
  how: { withResults?: true } = {},
): Omit<EventInput, "actor">[] => [
  { type: "note.added", data: { origin, ...(kind !== undefined && { kind }), text, ...how } },
  ...events,
];

export interface Input {
  content: Content[];
  origin: string;
  /** The words were piped in, not typed: they are said, and no command of a person. */
  isPiped?: true;
  /** What is true once the input is taken in as it says here, and not before: recorded with that in one transaction. */
  events?: Omit<EventInput, "actor">[];
}

/** An input that is for the runtime: its facts are recorded, then this is what is said to it. */
export interface AnsweredInput {
  /** Then what the model would see now is made, before it is answered. */
  changesView: boolean;
  answer: () => string;
  events: Omit<EventInput, "actor">[];
}

/** The input with a text behind it, and what is true once that is in the conversation. */
export const saying = (input: Input, text: string, fact: Omit<EventInput, "actor">): Input => ({
  ...input,
  content: [...input.content, { type: "text", text }],
  events: [...(input.events ?? []), fact],
});

export interface ModelCall {
  readonly model: Model;
  readonly request: ModelRequest;
  readonly turn: Turn;
  readonly signal: AbortSignal;
  /** Asked by seam `stop` beside the conversation: limits on rounds do not count it. */
  readonly isNoRound?: true;
  /** Rebuilds the request after the context seam was asked to shrink. Contract: undefined when that changed nothing since the last request; may be asked again. */
  shrink(): Promise<ModelRequest | undefined>;
}

export interface GateCall {
  readonly call: CallPart;
  readonly tool: Tool;
  readonly input: unknown;
  readonly turn: Turn;
}

/** What a call would need and does not get, so that the model can be told how it would: for one of its parts. */
export interface Withheld {
  what: "network" | "git";
  /** The command that would need it, as written. */
  part: string;
  /** `beside`: another command of the same call would get it too; `no_rule`: no rule allows it. */
  because: "beside" | "no_rule";
}

/** A place outside the project that a command reads, by its real path. */
interface ReadOutside {
  path: string;
  /** A rule or a person allows this very command, and every other part of the call that does more than read the project or write files is such a one. */
  isOpen: boolean;
}

/** What a call may do beyond the usual, recorded with it. */
export interface Grants {
  network?: boolean;
  /** The commands are git's: they may change the repository. */
  git?: boolean;
  withheld?: Withheld[];
  outside?: ReadOutside[];
  /** Real paths outside the project, or protected ones in it, that it may touch. */
  paths?: string[];
  /** Real paths that it must leave out, though they are inside. */
  exclude?: string[];
  /** The real path that was judged: the call touches this, or what is below it, and nothing else. */
  judged?: string;
}

/** Why a call is not simply allowed: for whoever decides by it, compares it or shows it. The sentence beside it is for people alone. */
export type VerdictCode =
  | "rule" // a rule of the user says so
  | "mode" // the permission mode refuses it
  | "outside" // it leaves the project
  | "temporary" // it writes to /tmp
  | "protected" // git's files, settings, hooks, what runs at start
  | "secret" // keys, credentials, the environment
  | "device" // devices, kernel files, pipes
  | "edit" // it changes files of the project, as acceptEdits allows it
  | "changes" // it takes away or changes much at once
  | "network"
  | "runs_code" // of the project, of a package, from another machine
  | "runtime" // what it does is only known when it runs
  | "unreadable" // it cannot be judged: too long, too deep, not to be parsed
  | "command" // what this command does; the sentence says it
  | "tool" // a tool that acts outside the project
  | "hook" // a hook of the user says so
  | "team" // the place in the team does not allow it
  | "program" // the program around the harness says so
  | "person" // a person said no
  | "unanswered" // it needs a person's yes, and nobody is there to ask
  | "failed"; // a gate failed

/** `firm`: only a person may answer. `grants` hold once the call is allowed. `rules`: each of them would have allowed it, the narrowest first. `about`: stands for what a person is shown beside the call; a yes to another holds no more. */
export type Asked = {
  decision: "ask";
  code: VerdictCode;
  reason: string;
  firm?: boolean;
  grants?: Grants;
  rules?: string[];
  about?: string;
};
type Denied = { decision: "deny"; code: VerdictCode; reason: string };
/** What was seen of the disk while judging, where nobody would expect it: recorded with the call. */
export type Looked = Readonly<Record<string, { real?: string; kind?: string; links?: number }>>;
export type Verdict = ({ decision: "allow"; grants?: Grants } | Asked | Denied) & { looked?: Looked };
/** `code`: who says no; default: the program around the harness. */
export type Answer = { decision: "allow" } | { decision: "deny"; reason: string; code?: VerdictCode };

export interface Gate {
  /** Contract: returns the input to use from here on; runs before any judge. A throw refuses the call. */
  rewrite?: (call: GateCall) => Promise<unknown>;
  /** Contract: judges the final input; the strictest answer of all gates wins; a throw or no answer in time refuses. */
  judge?: (call: GateCall) => Promise<Verdict> | Verdict;
}

export interface ViewOptions {
  /** The model said that what it was sent is too long: less is asked for, if less is possible. */
  overflow: boolean;
  /** What the agent is offered in this call. */
  tools: readonly ToolSpec[];
  system: readonly string[];
  /** The tools whose results go last where room is made. */
  keeps: () => readonly string[];
  /** Whether the agent would be given that tool. */
  offers: (tool: Tool) => boolean;
  /** What mechanisms have that must not go with the past; `window`: how many characters it holds, about. */
  carry: (how: Pick<Carrying, "shows"> & { window: number }) => Promise<Carried[]>;
  /** Asks the model beside the conversation, with what its requests carry otherwise. What that used is for the asker to record (`reply.aside`). */
  ask: (items: readonly Item[], signal?: AbortSignal) => Promise<Reply>;
}

export interface Seams {
  /** Chain. Contract: a block ends the turn with its reason; a throw blocks. */
  input: (input: Input, turn: Turn) => Promise<Input | AnsweredInput | { block: string }>;
  /** Collect, appended at the tail in order. Contract: empty means nothing to say; a throw is reported and skipped. */
  intake: (turn: Turn) => Promise<Note[]> | Note[];
  /** Chain: the only place that changes what the model sees. Contract: must be the same for the same facts; `overflow` asks to shrink. */
  context: (items: readonly Item[], turn: Turn, opts: ViewOptions) => Promise<readonly Item[]> | readonly Item[];
  /** Collect, in the order of the harness. Contract: byte-stable between rounds unless its source changed; "" adds nothing. */
  system: (turn: Turn) => Promise<string> | string;
  /** Around. Contract: calls `next` as often as it needs; what it throws ends the turn with that error. */
  model: (call: ModelCall, next: (call: ModelCall) => Promise<Reply>) => Promise<Reply>;
  gate: Gate;
  /** First answer wins, in order. Contract: asked when the gates say ask; undefined leaves it to the next; a throw refuses, no answer refuses. */
  ask: (call: GateCall, asked: Asked) => Promise<Answer | undefined>;
  /** Around. Contract: returns an output whatever happens; a throw becomes an error result. */
  tool: (run: ToolRun, next: (run: ToolRun) => Promise<ToolOutput>) => Promise<ToolOutput>;
  /** Collect. Contract: asked when a reply has no call; any text continues the turn with it, none ends the turn. */
  stop: (turn: Turn, reply: Reply, opts: StopOptions) => Promise<Note[]> | Note[];
}

/** "later": it has, and another machine is to take it in while that lives; nobody writes down when that changes. */
export type HasWork = boolean | "later";

/** One capability attached to the loop. Its events, its slice of the state and its tools belong to it alone. */
export interface Mechanism extends LeaseWatch {
  name: string;
  events?: EventDefs;
  /**
   * For mechanisms that are not Holdfast's own. True: a program without it may only read a context in which it has recorded something
   * (who only opens its shared data meets no event of it, and is not bound). Default: such a program passes over its events and goes on.
   */
  required?: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: slices of every type
  fold?: MechanismSlice<any>;
  /** What its decisions rest on besides the ledger and `outside`, as JSON: recorded when it changes. Contract: the same for a whole process; nothing secret. */
  settings?: () => Readonly<Record<string, unknown>>;
  /** What a replay cannot compute anew. Default: nothing. */
  outside?: Outside;
  /** Facts that its seams record by themselves, and not beside a note, an input or a result: a replay holds them to that. */
  decides?: readonly string[];
  /** The pool is assembled anew each round. */
  tools?: Tool[] | ((turn: Turn) => Tool[]);
  seams?: Partial<Seams>;
  /** Contract: once when a process takes the agent, before its first turn; its notes are shown to the model. A throw is reported and skipped. */
  start?: (turn: Turn) => Promise<Note[]>;
  /** Contract: when that process lets the agent go; a throw is ignored. */
  end?: (turn: Turn, reason: string) => Promise<void>;
  /**
   * Contract: before the intent of an effect outside the ledger is recorded, also when one is run again after a crash; what it appends
   * as `deferred` is durable with that intent. A throw is reported and skipped.
   */
  beforeEffect?: (run: ToolRun) => Promise<void>;
  /**
   * Contract: told when a call was refused before it ran, by whomever; its notes stand beside what the model reads of that. A throw is
   * ignored.
   */
  refused?: (call: GateCall, refusal: { code: VerdictCode; reason: string }) => Promise<Note[]>;
  /** Contract: told what another mechanism announces. The first `blocked` in the order of the harness counts; a throw is the announcer's. */
  announced?: (event: string, payload: Readonly<Record<string, unknown>>, turn: Turn) => Promise<Heard>;
  /**
   * What of it the model has to know when the past is out of its view; "": nothing. Contract: from the fold alone, no clock, no longer than
   * its room. A throw is reported and skipped. One of the house that has nothing says so (`nothing`).
   */
  carry?: (turn: Turn, how: Carrying) => string | Promise<string>;
  /** Contract: false keeps a tool from that agent; the pool of one agent stays the same between rounds unless a fact changed. */
  offers?: (tool: Tool, turn: Turn) => boolean;
  /** Contract: whether the idle agent has something to take in; looked at by hosts that do not hold it. Changes nothing. */
  wants?: (agent: AgentView) => Promise<HasWork> | HasWork;
  /** Contract: what is not over; changes nothing and answers at once. Whoever keeps a process or hosts agents asks this, and knows no mechanism. */
  outstanding?: (agent: AgentView) => Outstanding[];
  /** Ledgers beside the context's own that may give its agents work (the project's board). */
  alsoWokenBy?: readonly string[];
  /** Contract: when a hosted agent has nothing more to do, before it is let go; its facts may give it more. A throw is ignored. */
  idle?: (turn: Turn) => Promise<void>;
  /** Contract: resolves when the idle agent has something to take in, rejects never, ends with the signal. */
  wake?: (turn: Turn, signal: AbortSignal) => Promise<void>;
  /** Contract: when the host closes, before it lets its agents go; a throw is ignored. */
  close?: () => Promise<void>;
}

export const defineMechanism = (mechanism: Mechanism): Mechanism => mechanism;
