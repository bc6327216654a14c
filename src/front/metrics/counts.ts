// What a context has used and done, counted from its events: for the figures of a list and for Prometheus. Plain JSON, so that a snapshot holds it.
import type { contextEvents } from "../../contexts/events.ts";
import type { Fact } from "../../ledger/events.ts";
import type { Slice } from "../../ledger/fold.ts";
import { own, ownOr } from "../../ledger/own.ts";
import type { Seq, StoredEvent } from "../../ledger/store.ts";
import type { loopEvents } from "../../loop/events.ts";
import type { PromptCacheState } from "../../mechanisms/prompt-cache/index.ts";
import type { recoveryEvents } from "../../mechanisms/recovery/events.ts";
import { addUsage, noUsage, type Usage } from "../../models/model.ts";
import { isKnownTool, UNKNOWN_TOOL } from "../presentation/outgoing-names.ts";
import { oneLine } from "../presentation/printable.ts";

/** Upper bounds, in milliseconds. Raise the version of the slice with them. */
export const TOOL_BUCKETS_MS = [10, 50, 100, 500, 1_000, 5_000, 10_000, 30_000, 60_000, 300_000, 600_000] as const;
/** Of one context; names of tools come from servers too. */
const MOST_TOOLS = 60;
const MOST_MODELS = 20;
const MOST_CAUSES = 20;
export const OTHER = "other";

interface ModelCounts {
  replies: number;
  /** Calls beside the conversation: summaries, evaluators. */
  asides: number;
  usage: Usage;
}

interface ToolCounts {
  calls: number;
  errors: number;
  ms: number;
  /** So many took no longer than the bound of that place, and longer than the one before; the last: longer than all. */
  buckets: number[];
}

/** When a shared key had how many bytes: the last change before each checkpoint, and the newest. */
type Sizes = [seq: Seq, bytes: number][];

/** What was counted in this context itself: a copy begins at nothing. */
export interface Counts {
  models: Record<string, ModelCounts>;
  /** By cause. */
  retries: Record<string, number>;
  tools: Record<string, ToolCounts>;
  /** Calls that a gate refused. */
  refused: number;
  /** Turns that ended, by how. */
  turns: Record<string, number>;
  /** By what became of the holder before. */
  takeovers: Record<string, number>;
  /** Commands that were killed because their agent's lease was lost. */
  killedCommands: number;
}

export interface ContextCounts extends Counts {
  agents: number;
  data: Record<string, Sizes>;
  checkpointedAt: Seq;
  cache: PromptCacheState;
  /** What a copy brought with it. */
  breaksBefore: Record<string, number>;
  /** Calls that began and have no result yet, by agent: their tools are there. */
  begun: Record<string, string[]>;
}

const none = (): Counts => ({
  ...{ models: {}, retries: {}, tools: {}, refused: 0, turns: {}, takeovers: {}, killedCommands: 0 },
});

type Known = Fact<typeof loopEvents> | Fact<typeof contextEvents> | Fact<typeof recoveryEvents> | JobEnded;
type JobEnded = { type: "job.ended"; data: { lostLease?: true } };

const TYPES = [
  ...["reply.received", "reply.aside", "model.retried", "tool.started", "tool.finished", "turn.ended"],
  ...["agent.created", "agent.taken"],
  ...["data.shared", "data.appended", "data.removed", "job.ended"],
  ...["context.checkpointed", "context.restored", "context.forked", "context.imported"],
] as const;

/** `promptCache`: the slice that counts what broke the prefix, as ledgers fold it. */
export const countsSlice = (promptCache: Slice<PromptCacheState>): Slice<ContextCounts> => ({
  version: 2,
  types: [...new Set([...TYPES, ...(promptCache.types ?? [])])],
  initial: () => ({
    ...none(),
    ...{ agents: 0, data: {}, checkpointedAt: 0, cache: promptCache.initial(), breaksBefore: {}, begun: {} },
  }),
  apply(state, event) {
    if (promptCache.types?.includes(event.type) ?? true) state.cache = promptCache.apply(state.cache, event);
    return counted(state, event);
  },
});

function counted(state: ContextCounts, event: StoredEvent): ContextCounts {
  const fact = event as StoredEvent & Known;
  switch (fact.type) {
    case "reply.received":
      called(state, fact.data, "replies");
      break;
    case "reply.aside":
      called(state, fact.data, "asides");
      break;
    case "model.retried":
      add(state.retries, fact.data.kind);
      break;
    case "tool.started":
      ownOr(state.begun, event.actor, () => []).push(fact.data.callId);
      break;
    case "tool.finished":
      finished(state, fact.data, event.actor);
      break;
    case "job.ended":
      if (fact.data.lostLease) state.killedCommands++;
      break;
    case "turn.ended":
      add(state.turns, fact.data.reason);
      delete state.begun[event.actor];
      break;
    case "agent.created":
      state.agents++;
      break;
    case "agent.taken":
      add(state.takeovers, fact.data.from.was);
      break;
    case "context.forked":
    case "context.imported":
      // The events before it are copies: they were counted where they happened.
      return { ...state, ...none(), breaksBefore: breaksIn(state.cache), begun: {} };
    default:
      sized(state, fact);
  }
  return state;
}

function called(state: Counts, { model, usage }: { model: string; usage: Usage }, how: "replies" | "asides"): void {
  const name = room(state.models, model, MOST_MODELS);
  const counts = ownOr(state.models, name, () => ({ replies: 0, asides: 0, usage: noUsage() }));
  counts[how]++;
  counts.usage = addUsage(counts.usage, usage);
}

type Finished = Extract<Fact<typeof loopEvents>, { type: "tool.finished" }>["data"];

function finished(state: ContextCounts, data: Finished, agent: string): void {
  const { durationMs, isError, denied, stopped, ran } = data;
  const name = toolName(state, data, agent);
  if (denied !== undefined) state.refused++;
  if (ran?.lostLease) state.killedCommands++;
  if (denied !== undefined || stopped === "before") return;
  const tool = room(state.tools, name, MOST_TOOLS);
  const buckets = Array<number>(TOOL_BUCKETS_MS.length + 1).fill(0);
  const counts = ownOr(state.tools, tool, () => ({ calls: 0, errors: 0, ms: 0, buckets }));
  const place = TOOL_BUCKETS_MS.findIndex((bound) => durationMs <= bound);
  counts.buckets[place < 0 ? TOOL_BUCKETS_MS.length : place]!++;
  counts.calls++;
  counts.errors += isError ? 1 : 0;
  counts.ms += durationMs;
}

/** A model may call anything: what no tool is named is no label. */
function toolName(state: ContextCounts, data: Finished, agent: string): string {
  const { name, callId } = data;
  const begun = own(state.begun, agent) ?? [];
  const at = begun.indexOf(callId);
  if (at >= 0) begun.splice(at, 1);
  const isCounted = own(state.tools, oneLine(name, NAME_WIDTH)) !== undefined;
  return isKnownTool(data, at >= 0 || isCounted) ? name : UNKNOWN_TOOL;
}

/** Shared data: what each key holds, and what it held where a restore may go back to. */
function sized(state: ContextCounts, fact: StoredEvent & Known): void {
  switch (fact.type) {
    case "data.shared":
      changed(state, fact.data.key, { seq: fact.seq, bytes: fact.data.bytes });
      break;
    case "data.appended":
      changed(state, fact.data.key, {
        seq: fact.seq,
        bytes: (own(state.data, fact.data.key)?.at(-1)?.[1] ?? 0) + fact.data.bytes,
      });
      break;
    case "data.removed":
      changed(state, fact.data.key, { seq: fact.seq, bytes: 0 });
      break;
    case "context.checkpointed":
      state.checkpointedAt = fact.seq;
      break;
    case "context.restored": {
      const { seq: to, data } = fact.data;
      if (!data) break;
      for (const [key, sizes] of Object.entries(state.data))
        changed(state, key, { seq: fact.seq, bytes: sizes.findLast(([seq]) => seq <= to)?.[1] ?? 0 });
      break;
    }
    default:
      break;
  }
}

function changed(state: ContextCounts, key: string, { seq, bytes }: { seq: Seq; bytes: number }): void {
  const sizes = ownOr(state.data, key, (): Sizes => []);
  // Nobody goes back to what no checkpoint has.
  if (sizes.length > 0 && sizes.at(-1)![0] > state.checkpointedAt) sizes.pop();
  sizes.push([seq, bytes]);
}

/** Names are somebody else's texts: two that look the same are counted as one. */
const NAME_WIDTH = 80;

/** A name of its own while there is room. */
function room(known: Readonly<Record<string, unknown>>, given: string, most: number): string {
  const name = oneLine(given, NAME_WIDTH);
  return own(known, name) !== undefined || Object.keys(known).length < most ? name : OTHER;
}

function add(counts: Record<string, number>, given: string): void {
  const name = room(counts, given, MOST_CAUSES);
  counts[name] = (own(counts, name) ?? 0) + 1;
}

function breaksIn({ agents }: PromptCacheState): Record<string, number> {
  const found: Record<string, number> = {};
  for (const { breaks } of Object.values(agents))
    for (const [cause, count] of Object.entries(breaks.byCause)) found[cause] = (found[cause] ?? 0) + count;
  return found;
}

/** Requests that broke the prefix which providers cache, by cause. */
export function cacheBreaks({ cache, breaksBefore }: ContextCounts): Record<string, number> {
  const found = breaksIn(cache);
  for (const [cause, count] of Object.entries(breaksBefore)) found[cause] = Math.max(0, (found[cause] ?? 0) - count);
  return found;
}

export const dataBytes = ({ data }: ContextCounts): number =>
  Object.values(data).reduce((sum, sizes) => sum + (sizes.at(-1)?.[1] ?? 0), 0);
