// Cells that are known to be red until another part is merged, with the finding each waits for. Must be empty at the end.
// HOLDFAST_PENDING=1 runs them too.

export interface Pending {
  /** The finding (findings/durability.md). */
  pending: string;
  /** A part of the environment's name. */
  environment?: string;
  scenario?: string;
  /** Of the named point, or of the system call. */
  point?: string;
}

export const PENDING: Pending[] = [];

export function waitsFor(cell: { environment: string; scenario: string; point: string }): string | undefined {
  if (process.env.HOLDFAST_PENDING) return undefined;
  return PENDING.find(
    (one) =>
      (one.environment === undefined || cell.environment.includes(one.environment)) &&
      (one.scenario === undefined || cell.scenario === one.scenario) &&
      (one.point === undefined || cell.point === one.point),
  )?.pending;
}
