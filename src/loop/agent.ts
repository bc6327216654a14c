// One agent of one context: idle ⇄ running, steering, interrupt. What it is, is its ledger; this only advances it.
import { LEAD_AGENT } from "../contexts/listing.ts";
import { crashPoint } from "../ledger/crash-point.ts";
import { isRecord } from "../ledger/guards.ts";
import { newId } from "../ledger/id.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { EventInput, Lease } from "../ledger/store.ts";
import { type Content, type Model, textOf } from "../models/model.ts";
import type { TurnEndReason } from "./events.ts";
import { Interrupt, type InterruptedBy, leaseIsOver } from "./interrupt.ts";
import { runTurn } from "./loop.ts";
import type { Merged } from "./merge.ts";
import type { ModelCalls } from "./model-calls.ts";
import { withMachine } from "./moved.ts";
import { type AgentView, noteFacts, type Progress, type Turn } from "./seams.ts";
import { runInside } from "./tool-calls.ts";
import { type AgentState, type ContextState, transcriptIn } from "./transcript.ts";

export interface SendOptions {
  /** Who says it; default: the user. */
  origin?: string;
  /** The words were piped in, not typed. */
  isPiped?: boolean | undefined;
  /** It begins a turn of its own, behind the one that runs. */
  waits?: boolean;
  /** What an agent knows by an input, should it not be blocked: recorded with it. */
  facts?: (inputId: string) => readonly Omit<EventInput, "actor">[];
}

export interface AgentHandle {
  readonly turn: Turn;
  readonly modelCalls: Readonly<ModelCalls>;
  /** Durable when it resolves, and with it the agent's own facts about it; shown to the model at the next round, or begins the next turn. */
  send(content: Content[] | string, how?: SendOptions): Promise<void>;
  /** Opens a turn that goes on where the last one ended early (interrupted, failed, at a limit). Contract: nothing when it was done. */
  reopen(cause?: "resume" | "wake"): Promise<void>;
  /** True when there is an open turn or an input to begin one with. */
  hasWork(): boolean;
  /** Resolves when something wants the idle agent: an input of another process, a finished job. */
  untilWoken(signal: AbortSignal): Promise<void>;
  /** One turn: the open one, one for the waiting inputs, or one because a mechanism has something to say; undefined when none, or it was left open. */
  oneTurn(): Promise<TurnEndReason | undefined>;
  /** Tells mechanisms that it has nothing more to do. */
  idle(): Promise<void>;
  /** Default: by a person. Contract: by the lease, its turn stays open, and nothing more is recorded here. */
  interrupt(by?: InterruptedBy, opts?: { cause?: unknown }): void;
  /** Contract: its turn stays open behind the present round, and none begins: whoever takes it next goes on. */
  leave(): void;
  /** This process lets the agent go. */
  end(reason: string): Promise<void>;
}

export interface AgentOptions {
  ledger: Ledger;
  lease: Lease;
  name: string;
  seams: Merged;
  model: Model;
  onProgress?: (progress: Progress) => void;
  /** Since when this process holds it; default: now. */
  heldSince?: number;
}

/** What a context is listed by that began without words: the first that were sent to its lead. */
function firstWords(lead: AgentState | undefined, edge: unknown): string {
  const said = [...(lead?.items ?? []), ...(lead?.queue ?? []), edge as { content?: Content[] }];
  const texts = said.flatMap((one) =>
    "content" in one && !("callId" in one) ? (one.content ?? []).map((part) => textOf([part])) : [],
  );
  const first = texts.find((text) => text.trim() !== "" && !text.startsWith("<note ")) ?? "";
  return first.replace(/\s+/g, " ").trim().slice(0, 80);
}

const EARLY = new Set<string>(["interrupted", "failed", "limit"] satisfies TurnEndReason[]);

/** The first agent of a context: how it ended is how the context did. */
export const LEAD = LEAD_AGENT;

export const contextState = (ledger: Ledger): ContextState => transcriptIn(ledger.state);

const agentState = (ledger: Ledger, agent: string): AgentState => contextState(ledger).agents[agent]!;

/** What can be seen of an agent; what it shows follows the ledger. */
export function viewOf(ledger: Ledger, agent: string): AgentView {
  const state = () => agentState(ledger, agent);
  return {
    context: ledger.name,
    agent,
    get root() {
      return state().root ?? state().home ?? contextState(ledger).root;
    },
    get cwd() {
      return state().cwd;
    },
    get state() {
      return state();
    },
    slice: <T>(mechanism: string) => ledger.state.slices[mechanism] as T,
  };
}

/** Listings change at an input and at the ends of a turn only: a round writes no page for them. An accepted input counts as open work. */
function summaryOf(ledger: Ledger, name: string, events: { type: string; data: unknown }[]): { summary?: unknown } {
  const edge = events.find((e) => e.type === "input.received" || e.type === "turn.started" || e.type === "turn.ended");
  if (!edge) return {};
  const { root, agents, ...named } = contextState(ledger);
  const title = named.title || firstWords(agents[LEAD], edge.data);
  const others = Object.values(agents).filter((a) => a.name !== name && (a.turn || a.queue.length > 0));
  const busy = [...others.map((a) => a.name), ...(edge.type === "turn.ended" ? [] : [name])];
  const ended: unknown = name === LEAD || !agents[LEAD]?.lastTurn ? edge.data : agents[LEAD].lastTurn;
  const reason = busy.length > 0 ? null : isRecord(ended) ? ended.reason : undefined;
  const { rounds } = agentState(ledger, name);
  return { summary: { title, root, open: busy.length > 0, busy, reason, rounds } };
}

/** Contract: as `until` of a turn says. */
async function untilChanged(ledger: Ledger, condition: () => boolean, signal: AbortSignal): Promise<void> {
  const changes = ledger.store.watchAll(signal)[Symbol.asyncIterator]();
  const staying = setInterval(() => undefined, 1 << 30); // a watch alone keeps no process
  try {
    for (let next = changes.next(); !condition(); ) {
      await ledger.catchUp(); // what came before the watch began
      if (condition()) return;
      for (let change = await next; ; change = await changes.next()) {
        if (change.done) return;
        if (change.value.ledger === ledger.name) break;
      }
      next = changes.next();
    }
  } finally {
    clearInterval(staying);
  }
}

/** What its turns show, under its lease; `signal` is that of the turn that runs, `refuseOver` throws when nothing may be begun any more. */
function turnOf(
  { ledger, lease, name, model, onProgress }: AgentOptions,
  { signal, refuseOver, runInside, announce }: TurnParts,
): Turn {
  const own: Omit<Turn, keyof AgentView> = {
    model,
    get signal() {
      return signal();
    },
    async append(events, appendOpts = {}) {
      refuseOver();
      const recorded = await ledger.append(
        events.map((e) => ({ ...(ledger.store.reach === "network" ? withMachine(e) : e), actor: name })),
        {
          ...appendOpts,
          lease: { name: lease.name, term: lease.term, token: lease.token },
          ...summaryOf(ledger, name, events),
        },
      );
      refuseOver(); // the answer may have come late: what is recorded now, the next holder goes on with
      return recorded;
    },
    until: (condition, until) => untilChanged(ledger, condition, until),
    async durable() {
      await ledger.durable(lease);
      refuseOver();
    },
    blob: (hash) => ledger.store.blob(hash),
    runInside,
    announce,
    emit: (progress) => onProgress?.(progress),
  };
  return Object.defineProperties(viewOf(ledger, name) as Turn, Object.getOwnPropertyDescriptors(own));
}

interface TurnParts extends Pick<Turn, "runInside" | "announce"> {
  signal: () => AbortSignal;
  refuseOver: () => void;
}

const started = (cause: "input" | "wake" | "resume") => ({
  type: "turn.started",
  data: { turnId: newId("trn"), cause },
});

/** What takes up a turn that ended early; nothing of one that was done. */
function reopening({ lastTurn, items }: AgentState, cause: "resume" | "wake"): Omit<EventInput, "actor">[] {
  if (!lastTurn || !EARLY.has(lastTurn.reason)) return [];
  const text = `The last turn ended early (${lastTurn.reason}). Go on where it stopped.`;
  // A reply at the end wants an answer before the model may speak again; anything else is still to be answered.
  return items.at(-1)?.kind === "reply"
    ? [started(cause), ...noteFacts({ origin: "holdfast", text })]
    : [started(cause)];
}

/** Whoever comes first ends the waiting of the others. */
async function firstOf(signal: AbortSignal, waits: (until: AbortSignal) => Promise<void>[]): Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race(waits(AbortSignal.any([signal, over.signal])));
  } finally {
    over.abort();
  }
}

const asContent = (said: Content[] | string): Content[] =>
  typeof said === "string" ? [{ type: "text", text: said }] : said;

/** Contract: durable when it resolves, together with `facts`, which are told the input's id. Needs no lease. */
async function recordInput(
  { ledger, agent }: { ledger: Ledger; agent: string },
  said: Content[] | string,
  { origin = "user", isPiped, waits = false, facts = () => [] }: SendOptions = {},
): Promise<void> {
  const content = asContent(said);
  const how = { ...(isPiped && { isPiped }), ...(waits && { waits }) };
  const data = { inputId: newId("inp"), agent, content, origin, ...how };
  const event = { type: "input.received", actor: origin, data };
  const own = facts(data.inputId).map((fact) => ({ ...fact, actor: agent }));
  await ledger.append([event, ...own], summaryOf(ledger, agent, [event]));
  crashPoint("input.durable");
}

export function createAgent(opts: AgentOptions): AgentHandle {
  const { ledger, lease, name, seams } = opts;
  const heldSince = opts.heldSince ?? Date.now();
  const modelCalls: ModelCalls = { ms: 0, aborted: 0 };
  let abort = new AbortController();
  let begun = false;
  let running = false;
  let early: Interrupt | undefined;
  let lost: Interrupt | undefined;
  let isLeft = false;
  const state = (): AgentState => agentState(ledger, name);
  const turn: Turn = turnOf(opts, {
    signal: () => abort.signal,
    refuseOver() {
      if (lost || lease.isOver()) throw leaseIsOver(ledger.name, name, lost ?? lease.problem?.());
    },
    runInside: (tool, input, id) => runInside({ turn, seams, heldSince, modelCalls }, tool, input, id),
    announce: (event, payload) => seams.announced(event, payload, turn),
  });

  async function advance(cause: "input" | "wake"): Promise<TurnEndReason | undefined> {
    if (!state().turn) await turn.append([started(cause)]);
    if (!begun) {
      begun = true;
      const notes = await seams.start(turn);
      if (notes.length > 0) await turn.append(notes.flatMap((note) => noteFacts(note)));
    }
    const reason = await runTurn({ turn, seams, heldSince, modelCalls, isLeft: () => isLeft });
    await ledger.saveSnapshot();
    return reason;
  }

  const hasWork = () => state().turn !== undefined || state().queue.length > 0;

  return {
    turn,
    modelCalls,
    send: (content, how) => recordInput({ ledger, agent: name }, content, how),
    hasWork,
    async reopen(cause = "resume") {
      const facts = hasWork() ? [] : reopening(state(), cause);
      if (facts.length > 0) await turn.append(facts);
    },
    untilWoken: (signal) => firstOf(signal, (until) => [turn.until(hasWork, until), seams.wake(turn, until)]),
    async oneTurn() {
      abort = new AbortController(); // from here on: also what is taken in before the turn begins can be interrupted
      if (lost ?? early) abort.abort(lost ?? early);
      early = undefined;
      running = true;
      if (isLeft) return undefined;
      if (hasWork()) return advance("input");
      const notes = await seams.intake(turn);
      if (notes.length === 0) return undefined;
      await turn.append([started("wake"), ...notes.flatMap((note) => noteFacts(note))]);
      return advance("wake");
    },
    idle: () => seams.idle(turn),
    interrupt(by = "person", opts = {}) {
      const reason = new Interrupt(by, opts);
      if (by === "lease") lost = reason;
      early = running ? undefined : reason; // before its first turn: that one does not begin
      abort.abort(reason);
    },
    leave() {
      isLeft = true;
    },
    end: async (reason) => (begun ? seams.end(turn, reason) : undefined),
  };
}
