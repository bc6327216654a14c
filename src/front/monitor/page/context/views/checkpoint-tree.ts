// Checkpoints as a tree in the order of time: the timeline of now at the edge, what a restore left one level in.
import type { CheckpointRow } from "../../../context-api.ts";

export interface PlacedCheckpoint {
  row: CheckpointRow;
  /** 0: the timeline of now. */
  level: number;
  /** The first of its branch, and what it branched from. */
  branchOf?: CheckpointRow;
}

/** Contract: `rows` in the order of time; the same order is given. */
export function placeCheckpoints(rows: readonly CheckpointRow[]): PlacedCheckpoint[] {
  const bySeq = new Map(rows.map((row) => [row.seq, row]));
  const parentOf = ({ parent }: CheckpointRow) => (parent === undefined ? undefined : bySeq.get(parent));
  /** Of those that come next after one, the one that stays on its level: that of now, or the newest. */
  const next = new Map<CheckpointRow | undefined, CheckpointRow>();
  for (const row of rows) {
    const parent = parentOf(row);
    const known = next.get(parent);
    if (!known || row.current || !known.current) next.set(parent, row);
  }
  const levels = new Map<CheckpointRow | undefined, number>([[undefined, 0]]);
  return rows.map((row) => {
    const parent = parentOf(row);
    const goesOn = next.get(parent) === row;
    const level = (levels.get(parent) ?? 0) + (goesOn ? 0 : 1);
    levels.set(row, level);
    return { row, level, ...(!goesOn && parent && { branchOf: parent }) };
  });
}
