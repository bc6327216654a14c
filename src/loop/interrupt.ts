// Who stops a turn, as the reason of its signal: what becomes of its open calls depends on that.
import { HoldfastError, isHoldfastError } from "../ledger/error.ts";

/**
 * `person`: the turn ends, and what runs is killed. `host`: so too, but nobody has said stop: the next host goes on. `lease`: nothing more is
 * recorded or begun here, as after a kill: another may have the agent, and looks at what became of its calls.
 */
export type InterruptedBy = "person" | "host" | "lease";

export class Interrupt extends Error {
  readonly by: InterruptedBy;
  /** `cause`: why a lease could not be renewed, where that is known. */
  constructor(by: InterruptedBy, opts: { cause?: unknown } = {}) {
    super(`interrupted by its ${by}`, opts);
    this.name = "Interrupt";
    this.by = by;
  }
}

/** Undefined: it is not stopped. */
export function interruptedBy({ aborted, reason }: AbortSignal): InterruptedBy | undefined {
  if (!aborted) return undefined;
  return reason instanceof Interrupt ? reason.by : "person";
}

/** `cause`: what its holder, or the reason of a signal, knows of it. */
export function leaseIsOver(context: string, agent: string, cause?: unknown): HoldfastError {
  const known = cause instanceof Interrupt ? cause.cause : cause;
  const why = isHoldfastError(known) ? known.message : "the store was not heard of in time, or another process has it";
  return new HoldfastError(
    "fenced",
    `the lease of ${agent} in context ${context} is over: ${why}; nothing more is done here, and whoever takes it next goes on`,
    { cause: known },
  );
}
