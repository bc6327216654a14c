// How the ledgers of contexts are read: with every mechanism of the house. Loaded by those who open one.
import type { Codec } from "../ledger/events.ts";
import type { Fold } from "../ledger/fold.ts";

export async function ledgerReaders(where: { root: string; jobsDir: string }): Promise<{ codec: Codec; fold: Fold }> {
  const [{ mechanismsOf }, { readers }] = await Promise.all([import("../harness.ts"), import("../loop/host.ts")]);
  return readers(mechanismsOf(where));
}
