// What a context used, as it went on: points for charts, a tree of costs by agent, turn and round, and what each break of the cached prefix cost.
import type { contextEvents } from "../../contexts/events.ts";
import type { Fact } from "../../ledger/events.ts";
import type { Slice } from "../../ledger/fold.ts";
import type { StoredEvent } from "../../ledger/store.ts";
import type { PromptCacheState } from "../../mechanisms/prompt-cache/index.ts";
import { BREAK_CAUSES } from "../../mechanisms/prompt-cache/index.ts";
import { costUsd } from "../../models/catalogue.ts";
import { addUsage, noUsage, type Usage } from "../../models/model.ts";
import type { ShownFact } from "../presentation/presenter.ts";
import { oneLine } from "../presentation/printable.ts";
import { breakCauseText } from "../requests/text.ts";
import type { CostBreak, CostNode, Costs, RequestRow, UsageSeries } from "./api.ts";

const MOST_POINTS = 600;
/** Of the tree: later turns have their rounds, older ones only their sums. */
const MOST_NODES = 1_200;
const MOST_BREAKS = 500;
const MOST_REQUESTS = 1_000;

interface Round {
  seq: number;
  at: number;
  n: number;
  model: string;
  usage: Usage;
  usd: number | undefined;
  ms: number;
}

interface TurnCost {
  seq: number;
  title: string;
  rounds: Round[];
}

interface AgentCost {
  turns: TurnCost[];
  rounds: number;
  /** The last two. */
  latest: Round[];
}

export interface UsageGatherer {
  observe(event: StoredEvent): void;
  series(): UsageSeries;
  costs(): Costs;
  /** Newest last; at most the last ones up to that round. */
  requests(agent: string, upTo?: number): RequestRow[];
  /** The round that ended with that reply. */
  roundAt(agent: string, seq: number): number | undefined;
  readonly lastModel: string | undefined;
}

/** `promptCache`: the slice that counts what broke the prefix. */
export function gatherUsage(promptCache: Slice<PromptCacheState>): UsageGatherer {
  const agents = new Map<string, AgentCost>();
  const points: UsageSeries = {
    ...{ at: [], seq: [], tokensIn: [], tokensOut: [], cached: [], usd: [], window: [], events: [], dataBytes: [] },
  };
  const breaks: CostBreak[] = [];
  const epochs: Costs["epochs"] = [];
  const data = new Map<string, number>();
  let dataBytes = 0;
  let sum = noUsage();
  let usd = 0;
  let cacheState = promptCache.initial();
  let lastModel: string | undefined;

  const costOf = (agent: string): AgentCost => {
    const found = agents.get(agent) ?? { turns: [], rounds: 0, latest: [] };
    agents.set(agent, found);
    return found;
  };

  function replied(
    event: StoredEvent,
    { model, usage, askedAt }: { model: string; usage: Usage; askedAt?: number | undefined },
  ): void {
    const mine = costOf(event.actor);
    const cost = costUsd(model, usage);
    const ms = askedAt === undefined ? 0 : Math.max(0, event.at - askedAt);
    const round = { seq: event.seq, at: event.at, n: ++mine.rounds, model, usage, usd: cost, ms };
    if (mine.turns.length === 0) mine.turns.push({ seq: event.seq, title: "turn", rounds: [] });
    mine.turns.at(-1)!.rounds.push(round);
    mine.latest = [...mine.latest.slice(-1), round];
    lastModel = model;
    sum = addUsage(sum, usage);
    usd += cost ?? 0;
    points.at.push(event.at);
    points.seq.push(event.seq);
    points.tokensIn.push(sum.input + sum.cacheWrite);
    points.tokensOut.push(sum.output);
    points.cached.push(sum.cacheRead);
    points.usd.push(usd);
    points.window.push(usage.input + usage.cacheRead + usage.cacheWrite);
    points.events.push(event.seq);
    points.dataBytes.push(dataBytes);
  }

  /** A break is what the slice has counted more than before. */
  function countBreaks(event: StoredEvent): void {
    if (promptCache.types && !promptCache.types.includes(event.type)) return;
    const before = cacheState.agents[event.actor]?.breaks;
    const was = before ? { requests: before.requests, byCause: { ...before.byCause } } : { requests: 0, byCause: {} };
    cacheState = promptCache.apply(cacheState, event);
    const now = cacheState.agents[event.actor]?.breaks;
    if (event.type !== "reply.received" || !now || now.requests <= was.requests) return;
    const causes = BREAK_CAUSES.filter((cause) => (now.byCause[cause] ?? 0) > (was.byCause[cause] ?? 0));
    const { latest } = costOf(event.actor);
    const round = latest.at(-1);
    const last = latest.at(-2);
    if (!round) return;
    const { model, usage } = round;
    const fresh = usage.input + usage.cacheWrite;
    // What the provider had of the request before, and was sent and paid for once more.
    const had = last ? last.usage.cacheRead + last.usage.cacheWrite : 0;
    const anew = Math.min(had, fresh);
    const asFresh = costUsd(model, { ...noUsage(), input: anew });
    const asCached = costUsd(model, { ...noUsage(), cacheRead: anew });
    breaks.push({
      ...{ agent: oneLine(event.actor, 60), n: round.n, seq: event.seq, at: event.at, tokensAnew: anew },
      cause: causes.map(breakCauseText).join(", "),
      ...(asFresh !== undefined && asCached !== undefined && { usd: asFresh - asCached }),
    });
    if (breaks.length > MOST_BREAKS) breaks.shift();
  }

  return {
    get lastModel() {
      return lastModel;
    },
    observe(event) {
      const fact = event as ShownFact | Fact<typeof contextEvents>;
      switch (fact.type) {
        case "turn.started":
          costOf(event.actor).turns.push({ seq: event.seq, title: `turn (${fact.data.cause})`, rounds: [] });
          break;
        case "reply.received":
          replied(event, fact.data);
          break;
        case "data.shared":
        case "data.appended": {
          const before = data.get(fact.data.key) ?? 0;
          const after = fact.type === "data.shared" ? fact.data.bytes : before + fact.data.bytes;
          data.set(fact.data.key, after);
          dataBytes += after - before;
          break;
        }
        case "data.removed":
          dataBytes -= data.get(fact.data.key) ?? 0;
          data.delete(fact.data.key);
          break;
        case "context.compacted":
        case "context.elided":
          epochs.push({
            ...{ agent: oneLine(event.actor, 60), seq: event.seq, at: event.at },
            says:
              fact.type === "context.compacted"
                ? `${fact.data.tokens.before} → ${fact.data.tokens.after} tokens`
                : `${fact.data.masks.length} results left out`,
          });
          break;
        default:
          break;
      }
      countBreaks(event);
    },
    series() {
      const step = Math.ceil(points.at.length / MOST_POINTS);
      const last = points.at.length - 1;
      const thin = (all: readonly number[]) =>
        step <= 1 ? [...all] : all.filter((_, i) => i % step === 0 || i === last);
      const { windowMax: _, ...lists } = points;
      const entries = Object.entries(lists).map(([name, all]) => [name, thin(all)] as const);
      return Object.fromEntries(entries) as unknown as UsageSeries;
    },
    costs: () => ({ tree: treeOf(agents), epochs: epochs.slice(-MOST_BREAKS), breaks: [...breaks] }),
    requests(agent, upTo = Number.POSITIVE_INFINITY) {
      const all = agents.get(agent)?.turns.flatMap((turn) => turn.rounds.filter(({ n }) => n <= upTo)) ?? [];
      return all.slice(-MOST_REQUESTS).map(({ seq, at, n, model, usage, usd: cost }) => ({
        ...{ n, seq, at, model: oneLine(model, 80), tokens: usage },
        ...(cost !== undefined && { usd: cost }),
      }));
    },
    roundAt(agent, seq) {
      const turn = agents.get(agent)?.turns.findLast((one) => one.seq <= seq);
      return turn?.rounds.find((round) => round.seq === seq)?.n;
    },
  };
}

type Sums = Pick<CostNode, "usd" | "tokens" | "ms">;

const sumsOf = (rounds: readonly Pick<Round, "usd" | "usage" | "ms">[]): Sums =>
  rounds.reduce(
    (all, { usd, usage, ms }) => ({ usd: all.usd + (usd ?? 0), tokens: addUsage(all.tokens, usage), ms: all.ms + ms }),
    { usd: 0, tokens: noUsage(), ms: 0 },
  );

const joinedSums = (nodes: readonly Sums[]): Sums =>
  nodes.reduce<Sums>(
    (all, { usd, tokens, ms }) => ({ usd: all.usd + usd, tokens: addUsage(all.tokens, tokens), ms: all.ms + ms }),
    { usd: 0, tokens: noUsage(), ms: 0 },
  );

/** Bounded: the last turns in full, before them turns without their rounds, before those one node for all. */
function treeOf(agents: ReadonlyMap<string, AgentCost>): CostNode {
  const share = Math.max(20, Math.floor(MOST_NODES / Math.max(1, agents.size)));
  const children = [...agents].flatMap(([name, { turns }]): CostNode[] => {
    const used = turns.filter(({ rounds }) => rounds.length > 0);
    if (used.length === 0) return [];
    let left = share;
    const shown: CostNode[] = [];
    const older: TurnCost[] = [];
    for (const turn of used.toReversed()) {
      if (left <= 0) {
        older.push(turn);
        continue;
      }
      const detailed = turn.rounds.length + 1 <= left;
      left -= detailed ? turn.rounds.length + 1 : 1;
      shown.unshift(turnNode(turn, detailed));
    }
    if (older.length > 0) {
      const rounds = older.flatMap((turn) => turn.rounds);
      const title = `${older.length} earlier turns`;
      shown.unshift({ name: title, kind: "turn", seq: older.at(-1)!.seq, ...sumsOf(rounds), children: [] });
    }
    return [{ name: oneLine(name, 60), kind: "agent", seq: used[0]!.seq, ...joinedSums(shown), children: shown }];
  });
  return { name: "context", kind: "context", seq: 1, ...joinedSums(children), children };
}

const turnNode = ({ seq, title, rounds }: TurnCost, detailed: boolean): CostNode => ({
  ...{ name: title, kind: "turn", seq, ...sumsOf(rounds) },
  children: detailed
    ? rounds.map((round) => ({ name: `r${round.n}`, kind: "round", seq: round.seq, ...sumsOf([round]), children: [] }))
    : [],
});
