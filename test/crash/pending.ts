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

export const PENDING: Pending[] = [
  { pending: "A1", environment: "`git init` in between" },
  { pending: "A1", environment: "moved in between" },
  { pending: "A6", point: "reply.taken" },
  { pending: "A6", point: "results.before" },
  { pending: "A6", point: "append.before-commit" },
  { pending: "A6", point: "fdatasync" },
  { pending: "A6", point: "fsync" },
  { pending: "A11", environment: "a workflow, taken up by -p -r" },
  { pending: "A12", environment: "stdout closed after its first line" },
  { pending: "A12", environment: "stdout on a full disk" },
  { pending: "A16", environment: "the clock set back two hours" },
];

export function waitsFor(cell: { environment: string; scenario: string; point: string }): string | undefined {
  if (process.env.HOLDFAST_PENDING) return undefined;
  return PENDING.find(
    (one) =>
      (one.environment === undefined || cell.environment.includes(one.environment)) &&
      (one.scenario === undefined || cell.scenario === one.scenario) &&
      (one.point === undefined || cell.point === one.point),
  )?.pending;
}
