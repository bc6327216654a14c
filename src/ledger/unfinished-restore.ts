// The mark of a restore that has not ended: while this ledger is in a store, only that restore writes there.
import type { ReadOnly } from "./store.ts";

export const UNFINISHED_RESTORE = "restore:unfinished";

/** Whoever reads sees a part of what was backed up; what somebody else records would keep the restore from its end. */
export const RESTORING: ReadOnly = {
  code: "refused",
  message: "a restore into this store has not ended: until `holdfast backup restore` has, it can only be read",
  restoring: true,
};
