// What a context used, as it went on: points for charts, a tree of costs by agent, turn and round, and what each break of the cached prefix cost.
import type { contextEvents } from "../../contexts/events.ts";
import type { Fact } from "../../ledger/events.ts";
import type { Slice } from "../../ledger/fold.ts";
import type { Seq, StoredEvent } from "../../ledger/store.ts";
import type { PromptCacheState } from "../../mechanisms/prompt-cache/index.ts";
import { BREAK_CAUSES } from "../../mechanisms/prompt-cache/index.ts";
import { costUsd, limitsOf } from "../../models/catalogue.ts";
import { addUsage, noUsage, textOf, type Usage } from "../../models/model.ts";
import type { ShownFact } from "../presentation/presenter.ts";
import { oneLine } from "../presentation/printable.ts";
import { breakCauseText } from "../requests/text.ts";
import type { CostBreak, Costs, RequestRow, UsageSeries } from "./context-api.ts";
import { costTree, type Paid, type PaidTurn } from "./cost-tree.ts";
import { createRoundTimes } from "./round-times.ts";

const MOST_POINTS = 600;
const MOST_BREAKS = 500;
const MOST_REQUESTS = 1_000;

type Round = Paid & { n: number };

interface AgentCost {
  turns: PaidTurn[];
  rounds: number;
  /** The last two. */
  latest: Round[];
}

export interface UsageGatherer {
  observe(event: StoredEvent): void;
  series(): UsageSeries;
  costs(): Costs;
  /** Newest last; at most the last ones up to that round. */
  requests(agent: string, range?: { upTo?: number | undefined; count?: number | undefined }): RequestRow[];
  /** The round that ended with that reply. */
  roundAt(agent: string, seq: number): number | undefined;
  readonly lastModel: string | undefined;
}

/** `promptCache`: the slice that counts what broke the prefix. */
export function gatherUsage(promptCache: Slice<PromptCacheState>): UsageGatherer {
  const agents = new Map<string, AgentCost>();
  const numbers = new Map<string, number>();
  const times = createRoundTimes();
  /** By id: words that no agent has taken up yet. */
  const said = new Map<string, string>();
  let points = noPoints();
  let breaks: CostBreak[] = [];
  let epochs: Costs["epochs"] = [];
  const data = new Map<string, number>();
  let dataBytes = 0;
  let sum = noUsage();
  let usd = 0;
  let unpriced = 0;
  let copied: Costs["copied"];
  let cacheState = promptCache.initial();
  let lastModel: string | undefined;
  /** By model: so much it did not take. */
  const refused = new Map<string, number>();

  const costOf = (agent: string): AgentCost => {
    const found = agents.get(agent) ?? { turns: [], rounds: 0, latest: [] };
    agents.set(agent, found);
    return found;
  };

  function pay(event: StoredEvent, one: Pick<Paid, "model" | "usage" | "ms" | "name"> & { n?: number }): Paid {
    const { turns } = costOf(event.actor);
    const paid: Paid = { seq: event.seq, at: event.at, usd: costUsd(one.model, one.usage), ...one };
    if (turns.length === 0) turns.push({ seq: event.seq, title: "turn", paid: [] });
    turns.at(-1)!.paid.push(paid);
    sum = addUsage(sum, one.usage);
    usd += paid.usd ?? 0;
    if (paid.usd === undefined) unpriced++;
    return paid;
  }

  /** What came after the last round is part of its size. */
  let head: Seq = 0;

  const sums = () => ({ tokensIn: sum.input + sum.cacheWrite, tokensOut: sum.output, cached: sum.cacheRead, usd });

  function replied(
    event: StoredEvent,
    { model, usage, askedAt }: { model: string; usage: Usage; askedAt?: number | undefined },
  ): void {
    const mine = costOf(event.actor);
    const n = ++mine.rounds;
    const { from, to } = times.of(event, askedAt);
    mine.latest = [...mine.latest.slice(-1), { ...pay(event, { model, usage, ms: to - from, n, name: `r${n}` }), n }];
    lastModel = model;
    const by = numbers.get(event.actor) ?? numbers.size;
    numbers.set(event.actor, by);
    const window = usage.input + usage.cacheRead + usage.cacheWrite;
    addPoint(points, { at: event.at, seq: event.seq, by, ...sums(), window, events: event.seq, dataBytes });
  }

  /** Paid for by whoever it was copied from. Its rounds stay: their requests are part of this conversation. */
  function beginsAsCopy({ seq }: StoredEvent): void {
    const { tokens, usd: before } = copied ?? { tokens: noUsage(), usd: 0 };
    copied = { seq, tokens: addUsage(tokens, sum), usd: before + usd };
    sum = noUsage();
    usd = 0;
    unpriced = 0;
    points = noPoints();
    breaks = [];
    epochs = [];
  }

  const paidHere = (): ReadonlyMap<string, readonly PaidTurn[]> => {
    const from = copied?.seq ?? 0;
    const here = (turn: PaidTurn): PaidTurn => ({ ...turn, paid: turn.paid.filter(({ seq }) => seq > from) });
    return new Map([...agents].map(([name, { turns }]) => [name, from === 0 ? turns : turns.map(here)]));
  };

  /** A turn is called by what it answers. */
  function titleTurn(agent: string, inputId: string): void {
    const turn = costOf(agent).turns.at(-1);
    const words = said.get(inputId);
    said.delete(inputId);
    if (turn && words && turn.paid.length === 0) turn.title = words;
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
        case "input.received":
          said.set(fact.data.inputId, oneLine(textOf(fact.data.content), 80));
          break;
        case "input.taken":
          titleTurn(event.actor, fact.data.inputId);
          break;
        case "turn.started":
          costOf(event.actor).turns.push({ seq: event.seq, title: `turn (${fact.data.cause})`, paid: [] });
          break;
        case "reply.received":
          replied(event, fact.data);
          break;
        case "reply.aside": {
          const { model, usage, for: what } = fact.data;
          const { from, to } = times.of(event, undefined);
          pay(event, { model, usage, ms: to - from, name: oneLine(what, 40) });
          amendPoint(points, sums());
          break;
        }
        case "context.forked":
        case "context.imported":
          beginsAsCopy(event);
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
          if (fact.type === "context.compacted" && fact.data.model !== undefined)
            refused.set(fact.data.model, fact.data.tokens.before);
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
      head = event.seq;
      countBreaks(event);
      times.observe(event);
    },
    series() {
      amendPoint(points, { events: head });
      const step = Math.ceil(points.at.length / MOST_POINTS);
      const last = points.at.length - 1;
      const thin = (all: readonly number[]) =>
        step <= 1 ? [...all] : all.filter((_, i) => i % step === 0 || i === last);
      const windowMax = lastModel === undefined ? undefined : windowOf(lastModel, refused);
      return {
        ...(Object.fromEntries(Object.entries(points).map(([name, all]) => [name, thin(all)])) as unknown as Points),
        agents: [...numbers.keys()].map((name) => oneLine(name, 60)),
        ...(windowMax !== undefined && { windowMax }),
      };
    },
    costs: () => ({
      ...{ tree: costTree(paidHere()), epochs: epochs.slice(-MOST_BREAKS), breaks: [...breaks], unpriced },
      ...(copied && { copied }),
    }),
    requests(agent, { upTo = Number.POSITIVE_INFINITY, count = MOST_REQUESTS } = {}) {
      const all = agents.get(agent)?.turns.flatMap(({ paid }) => paid) ?? [];
      const rows = all.flatMap(({ n, seq, at, model, usage, usd: cost }): RequestRow[] => {
        if (n === undefined || n > upTo) return [];
        return [{ n, seq, at, model: oneLine(model, 80), tokens: usage, ...(cost !== undefined && { usd: cost }) }];
      });
      return rows.slice(-Math.min(MOST_REQUESTS, Math.max(1, count)));
    },
    roundAt(agent, seq) {
      const turn = agents.get(agent)?.turns.findLast((one) => one.seq <= seq);
      return turn?.paid.find((one) => one.seq === seq)?.n;
    },
  };
}

type Points = Omit<UsageSeries, "agents" | "windowMax">;

const noPoints = (): Points => ({
  ...{ at: [], seq: [], by: [], tokensIn: [], tokensOut: [], cached: [], usd: [] },
  ...{ window: [], events: [], dataBytes: [] },
});

type Point = Record<keyof Points, number>;

function addPoint(points: Points, point: Point): void {
  for (const [name, value] of Object.entries(point)) points[name as keyof Points].push(value);
}

/** What came between two rounds counts with the one before. */
function amendPoint(points: Points, changes: Partial<Point>): void {
  const last = points.at.length - 1;
  if (last < 0) return;
  for (const [name, value] of Object.entries(changes)) points[name as keyof Points][last] = value;
}

/** As the catalogue knows it, or less where the model refused that; undefined: it is not known. */
function windowOf(model: string, refused: ReadonlyMap<string, number>): number | undefined {
  const { contextTokens, isAssumed } = limitsOf(model);
  const most = refused.get(model) ?? Number.POSITIVE_INFINITY;
  if (!isAssumed) return Math.min(contextTokens, most);
  return Number.isFinite(most) ? most : undefined;
}
