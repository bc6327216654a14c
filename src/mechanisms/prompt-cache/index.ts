// The requests that broke the prefix which providers cache, counted by cause: from the facts alone, in whichever process they were made.

import type { contextEvents } from "../../contexts/events.ts";
import { isRecord, knownFact } from "../../ledger/guards.ts";
import { own } from "../../ledger/own.ts";
import type { Seq, StoredEvent } from "../../ledger/store.ts";
import { nothing } from "../../loop/carry.ts";
import type { loopEvents } from "../../loop/events.ts";
import { defineMechanism, type Mechanism } from "../../loop/seams.ts";
import type { MechanismSlice } from "../../loop/timelines.ts";
import { sameWriting, type WireSettings } from "../../models/model.ts";
import type { BreakCause, CacheBreaks } from "./port.ts";

export const promptCache = (): Mechanism => defineMechanism({ name: "prompt-cache", carry: nothing, fold: slice });

/** Of all agents. `before`: where that stood, for what came since. */
export function cacheBreaksIn(
  state: PromptCacheState | undefined,
  agents = Object.keys(state?.agents ?? {}),
): CacheBreaks {
  return agents.map((name) => own(state?.agents ?? {}, name)?.breaks ?? none()).reduce(added, none());
}

/** In the order in which they are told. */
export const BREAK_CAUSES: readonly BreakCause[] = [
  "epoch",
  "overflow",
  "undo",
  "restore",
  "system",
  "tools",
  "model",
  "expired",
  "unknown",
];

const none = (): CacheBreaks => ({ requests: 0, byCause: {} });

const added = (a: CacheBreaks, b: CacheBreaks): CacheBreaks => joined(a, b, 1);

export const breaksSince = (before: CacheBreaks, now: CacheBreaks): CacheBreaks => joined(now, before, -1);

function joined(a: CacheBreaks, b: CacheBreaks, sign: 1 | -1): CacheBreaks {
  const counts = BREAK_CAUSES.flatMap((cause) => {
    const count = (a.byCause[cause] ?? 0) + sign * (b.byCause[cause] ?? 0);
    return count > 0 ? [[cause, count] as const] : [];
  });
  return { requests: a.requests + sign * b.requests, byCause: Object.fromEntries(counts) };
}

/** What requests carry, by their hashes. */
interface Carried {
  system?: string;
  tools?: string;
}

interface OfAgent {
  breaks: CacheBreaks;
  /** How many replies it got, and which one its conversation ends with: another one after a restore. */
  replies: number;
  at: number;
  carries: Carried;
  /** Of the view, since its last reply. */
  changes: { cause: BreakCause; seq: Seq }[];
  last?: { carried: Carried; model: string; wire?: WireSettings; cached: number };
}

export interface PromptCacheState {
  agents: Record<string, OfAgent>;
  /** By the seq of a checkpoint: which reply each conversation ended with. */
  marks: Record<number, Record<string, number>>;
}

const fresh = (): OfAgent => ({ breaks: none(), replies: 0, at: 0, carries: {}, changes: [] });

const OF_THE_VIEW = ["context.compacted", "context.elided", "context.uncompacted"];

const slice: MechanismSlice<PromptCacheState> = {
  version: 1,
  types: ["request.changed", "reply.received", "context.checkpointed", ...OF_THE_VIEW],
  timelines: {
    restored: (state, { to, from }) => {
      state.marks[from] ??= endsOf(state);
      const there = state.marks[to] ?? {};
      for (const [name, agent] of Object.entries(state.agents)) {
        agent.at = own(there, name) ?? 0;
        agent.changes = agent.changes.filter(({ seq }) => seq <= to);
      }
      return state;
    },
    // What was sent for the first is in the provider's cache for the second too.
    copied: (state) => state,
  },
  initial: () => ({ agents: {}, marks: {} }),
  apply(state, event) {
    const fact = knownFact<typeof loopEvents & typeof contextEvents>(event);
    if (fact.type === "context.checkpointed") state.marks[fact.seq] = endsOf(state);
    else state.agents[fact.actor] = changed(own(state.agents, fact.actor) ?? fresh(), event);
    return state;
  },
};

const endsOf = ({ agents }: PromptCacheState): Record<string, number> =>
  Object.fromEntries(Object.entries(agents).map(([name, { at }]) => [name, at]));

function changed(agent: OfAgent, event: StoredEvent): OfAgent {
  const { type, data, seq } = knownFact<typeof loopEvents>(event);
  switch (type) {
    case "request.changed":
      return { ...agent, carries: { ...agent.carries, ...hashes(data) } };
    case "reply.received":
      return answered(agent, data);
    default:
      return { ...agent, changes: viewChanged(agent.changes, event, seq) };
  }
}

const hashes = ({
  system,
  tools,
}: {
  system?: { hash: string } | undefined;
  tools?: { hash: string } | undefined;
}): Carried => ({
  ...(system && { system: system.hash }),
  ...(tools && { tools: tools.hash }),
});

function viewChanged(changes: OfAgent["changes"], { type, data }: StoredEvent, seq: Seq): OfAgent["changes"] {
  if (type !== "context.uncompacted") {
    const cause = isRecord(data) && data.cause === "overflow" ? "overflow" : "epoch";
    return [...changes, { cause, seq }];
  }
  // Taken back before it was sent: nothing changed.
  const at = changes.findLastIndex(({ cause }) => cause === "epoch" || cause === "overflow");
  return at < 0 ? [...changes, { cause: "undo", seq }] : changes.toSpliced(at, 1);
}

type Answered = Extract<ReturnType<typeof knownFact<typeof loopEvents>>, { type: "reply.received" }>["data"];

function answered(agent: OfAgent, { model, usage, sentAs }: Answered): OfAgent {
  const wire = sentAs ? sentAs.wire : agent.last?.wire;
  const causes = agent.last ? causesOf(agent, { model, wire, cacheRead: usage.cacheRead }) : [];
  const replies = agent.replies + 1;
  const last = { carried: agent.carries, model, ...(wire && { wire }), cached: usage.cacheRead + usage.cacheWrite };
  const byCause = Object.fromEntries(causes.map((cause) => [cause, 1]));
  const breaks = causes.length === 0 ? agent.breaks : added(agent.breaks, { requests: 1, byCause });
  return { ...agent, breaks, replies, at: replies, changes: [], last };
}

function causesOf(
  { at, replies, changes, carries, last }: OfAgent,
  now: { model: string; wire: WireSettings | undefined; cacheRead: number },
): BreakCause[] {
  if (!last) return [];
  const isOther = last.model !== now.model || !sameWriting(last.wire, now.wire);
  const causes = new Set<BreakCause>([
    ...changes.map(({ cause }) => cause),
    ...(at === replies ? [] : ["restore" as const]),
    ...(carries.system === last.carried.system ? [] : ["system" as const]),
    ...(carries.tools === last.carried.tools ? [] : ["tools" as const]),
    ...(isOther ? ["model" as const] : []),
  ]);
  if (causes.size === 0 && last.cached > 0 && now.cacheRead === 0) return ["expired"];
  return [...causes];
}
