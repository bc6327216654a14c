// The one error type of the house and its codes.
import { FOR_PROGRAMS, type NextStep, type Wording, worded } from "./next-step.ts";
import { systemErrorText } from "./system-error.ts";

export type ErrorCode =
  | "conflict" // an entity changed since the decision read it
  | "fenced" // the lease is not held any more under this term and token
  | "rolled_back" // the store has another past than the one that was folded
  | "held" // another live host holds the lease
  | "id_reused" // the same event id with other data
  | "damaged" // a checksum, a gap or the database file itself is broken
  | "upgrade" // written by a newer Holdfast
  | "mechanism" // written with a mechanism that this program does not have
  | "busy" // the store stayed locked too long
  | "unreachable" // the store's server did not answer in time: what was asked of it may have been recorded or not
  | "disk" // full disk or input/output error
  | "closed" // used after it was closed
  | "invalid" // bad input
  | "not_found"
  | "refused" // by policy
  | "limit" // a budget or limit was reached
  | "model"; // the provider answered with an error

/** The one error of Holdfast. Contract: `message` is one line that says what is wrong and what to do next. */
export class HoldfastError extends Error {
  readonly code: ErrorCode;
  readonly detail?: unknown;
  /** What is wrong, without what to do next. */
  readonly what: string;
  /** What to do next, for whoever words it; in `message` it is worded for programs. */
  readonly next?: NextStep;

  constructor(code: ErrorCode, what: string, opts: { cause?: unknown; detail?: unknown; next?: NextStep } = {}) {
    const message = opts.next === undefined ? what : `${what}: ${worded(opts.next, FOR_PROGRAMS, opts.detail)}`;
    super(message, opts.cause === undefined ? undefined : { cause: opts.cause });
    this.name = "HoldfastError";
    this.code = code;
    this.what = what;
    if (opts.next !== undefined) this.next = opts.next;
    if (opts.detail !== undefined) this.detail = opts.detail;
  }
}

export function isHoldfastError(error: unknown, code?: ErrorCode): error is HoldfastError {
  return error instanceof HoldfastError && (code === undefined || error.code === code);
}

/** One line for people and models; `wording`: what to do next, in their words. */
export function messageOf(error: unknown, wording?: Wording): string {
  if (wording && isHoldfastError(error) && error.next !== undefined)
    return `${error.what}: ${worded(error.next, wording, error.detail)}`;
  return systemErrorText(error) ?? (error instanceof Error ? error.message : String(error));
}
