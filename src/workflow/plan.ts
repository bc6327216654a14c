// What comes next: read from the records alone, so that a resumed run decides as the first one would have.
import type { PhaseRecord, Records } from "./records.ts";

export interface PlannedPhase {
  id: string;
  needs: readonly string[];
  until?: { repeat: readonly string[] };
}

/** `ready`: everything it needs is there. `blocked`: something it needs has failed. */
export type PhaseState = "done" | "skipped" | "running" | "waiting" | "failed" | "ready" | "blocked" | "pending";

export interface WorkflowPlan {
  standings: Map<string, PhaseState>;
  /** The round of its loop that a phase has to be in. */
  roundOf(id: string): number;
  /** The runs of what it needs, as they are now. */
  basisOf(id: string): Record<string, number>;
}

/**
 * A phase is done when its record says so, everything it needs is done, it was based on these very runs, and its loop asks for no more.
 * Contract: `steps` are in order. `failedNow`: those not to be tried again by this process; without it every failed one.
 */
export function planOf(
  steps: readonly PlannedPhase[],
  records: Records,
  failedNow?: ReadonlySet<string>,
): WorkflowPlan {
  const wanted = new Map<string, number>();
  for (const { id, until } of steps) {
    if (!until) continue;
    const record = records.get(id);
    const round = record ? record.round + (record.again ? 1 : 0) : 1;
    for (const one of until.repeat) wanted.set(one, round);
  }
  const roundOf = (id: string): number => wanted.get(id) ?? 1;
  const needsOf = new Map(steps.map(({ id, needs }) => [id, needs]));
  const basisOf = (id: string): Record<string, number> =>
    Object.fromEntries((needsOf.get(id) ?? []).map((need) => [need, records.get(need)?.run ?? 0]));

  const standings = new Map<string, PhaseState>();
  for (const { id, needs } of steps) {
    const record = records.get(id);
    const before = needs.map((need) => standings.get(need));
    if (!before.every((one) => one === "done" || one === "skipped")) {
      const blocked = before.some((one) => one === "failed" || one === "blocked");
      standings.set(id, blocked ? "blocked" : "pending");
      continue;
    }
    const current = record !== undefined && sameBasis(record, basisOf(id)) && record.round >= roundOf(id);
    standings.set(id, current ? standingOf(id, record, failedNow) : "ready");
  }
  return { standings, roundOf, basisOf };
}

function standingOf(id: string, { state }: PhaseRecord, failedNow: ReadonlySet<string> | undefined): PhaseState {
  return state === "failed" && failedNow && !failedNow.has(id) ? "ready" : state;
}

export function sameBasis(record: PhaseRecord, basis: Record<string, number>): boolean {
  return Object.entries(basis).every(([need, run]) => record.needs[need] === run);
}
