// What a context cost, as a tree of agent, turn and round. Bounded.
import { addUsage, noUsage, type Usage } from "../../models/model.ts";
import { oneLine } from "../presentation/printable.ts";
import type { CostNode } from "./context-api.ts";

/** Later turns have their rounds, older ones only their sums. */
const MOST_NODES = 1_200;

/** One answer of a model. */
export interface Paid {
  seq: number;
  at: number;
  model: string;
  usage: Usage;
  /** Undefined: the price is not known. */
  usd: number | undefined;
  ms: number;
  /** The round that it answered; not there: asked beside the conversation, `name` says what for. */
  n?: number;
  name: string;
}

export interface PaidTurn {
  seq: number;
  title: string;
  paid: Paid[];
}

type Sums = Pick<CostNode, "usd" | "tokens" | "ms">;

const sumsOf = (paid: readonly Pick<Paid, "usd" | "usage" | "ms">[]): Sums =>
  paid.reduce(
    (all, { usd, usage, ms }) => ({ usd: all.usd + (usd ?? 0), tokens: addUsage(all.tokens, usage), ms: all.ms + ms }),
    { usd: 0, tokens: noUsage(), ms: 0 },
  );

const joinedSums = (nodes: readonly Sums[]): Sums =>
  nodes.reduce<Sums>(
    (all, { usd, tokens, ms }) => ({ usd: all.usd + usd, tokens: addUsage(all.tokens, tokens), ms: all.ms + ms }),
    { usd: 0, tokens: noUsage(), ms: 0 },
  );

/** The last turns in full, before them turns without their rounds, before those one node for all. */
export function costTree(agents: ReadonlyMap<string, readonly PaidTurn[]>): CostNode {
  const share = Math.max(20, Math.floor(MOST_NODES / Math.max(1, agents.size)));
  const children = [...agents].flatMap(([name, turns]): CostNode[] => {
    const used = turns.filter(({ paid }) => paid.length > 0);
    if (used.length === 0) return [];
    let left = share;
    const shown: CostNode[] = [];
    const older: PaidTurn[] = [];
    for (const turn of used.toReversed()) {
      if (left <= 0) {
        older.push(turn);
        continue;
      }
      const detailed = turn.paid.length + 1 <= left;
      left -= detailed ? turn.paid.length + 1 : 1;
      shown.push(turnNode(turn, detailed));
    }
    if (older.length > 0) {
      const paid = older.flatMap((turn) => turn.paid);
      const title = `${older.length} earlier ${older.length === 1 ? "turn" : "turns"}`;
      shown.push({ name: title, kind: "turn", seq: older.at(-1)!.seq, ...sumsOf(paid), children: [] });
    }
    shown.reverse();
    return [{ name: oneLine(name, 60), kind: "agent", seq: used[0]!.seq, ...joinedSums(shown), children: shown }];
  });
  return { name: "context", kind: "context", seq: 1, ...joinedSums(children), children };
}

const turnNode = ({ seq, title, paid }: PaidTurn, detailed: boolean): CostNode => ({
  ...{ name: title, kind: "turn", seq, ...sumsOf(paid) },
  children: detailed
    ? paid.map((one) => ({ name: one.name, kind: "round", seq: one.seq, ...sumsOf([one]), children: [] }))
    : [],
});
