// Work under a lease: it stops when the lease is lost, or when its caller says so.
import { HoldfastError } from "../ledger/error.ts";
import { holderText } from "../ledger/holder.ts";
import type { Store } from "../ledger/store.ts";

export interface LeasedWork {
  store: Store;
  name: string;
  /** What another process is doing that holds it: `is backing up to …`. */
  others: string;
  signal?: AbortSignal | undefined;
}

/** Contract: throws `held` where another process holds it; the lease is released when nothing is going on any more. */
export async function underLease<T>(
  { store, name, others, signal }: LeasedWork,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const lease = await store.leases.acquire(name);
  if ("held" in lease) throw new HoldfastError("held", `${holderText(lease.held)} ${others} just now: try again`);
  const lost = new AbortController();
  const stop = lease.keep(() =>
    lost.abort(new HoldfastError("fenced", "another process has taken this over: this one stops")),
  );
  try {
    return await work(signal ? AbortSignal.any([signal, lost.signal]) : lost.signal);
  } finally {
    stop();
    await lease.release();
  }
}
