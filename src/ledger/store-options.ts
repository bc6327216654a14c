// What a store is opened with, whichever it is.
import type { Store } from "./store.ts";

export interface StoreOptions {
  /** This process is a person's terminal: its leases are only taken over by an explicit resume. */
  interactive?: boolean;
  /** What this writer puts into ledgers; raised when older code could not read it. */
  version?: number;
  leaseMs?: number;
  /** This process stays: a server that is not there yet is waited for as long as one that does not answer. */
  patient?: boolean;
  /** Only looks: nothing is written, and a damaged file is an error instead of being copied and searched. */
  readOnly?: boolean;
  /** Told of a row that cannot be read and is passed over, once of each. */
  onProblem?: (text: string) => void;
  /** Goes on with a restore that has not ended: anybody else may only read until it has. */
  restoring?: boolean;
  /** Asked once, before it is closed. Contract: bounded, and throws nothing. */
  beforeClose?: (store: Store) => Promise<void>;
}
