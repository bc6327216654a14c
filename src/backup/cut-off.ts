// A disk that refuses in the middle of a restore or a copy: what is there already, and that it goes on.
import { HoldfastError, isHoldfastError, messageOf } from "../ledger/error.ts";
import { errorCode, isRecord } from "../ledger/guards.ts";
import type { Store } from "../ledger/store.ts";
import { isOwnLedger } from "./own-ledgers.ts";

/** Of a store, of a file that was written, of a place. */
export const isDiskError = (error: unknown): boolean =>
  isHoldfastError(error, "disk") || ["ENOSPC", "EDQUOT", "EIO"].includes(errorCode(error) ?? "");

/** The system's own words, without what is true of one write alone. */
export const diskWords = (error: unknown): string =>
  messageOf(isHoldfastError(error, "disk") && error.cause !== undefined ? error.cause : error);

/** Contract: `work` goes on where it was when it is called again. `what`: "the restore". */
export async function sayingHowFar<T>(
  { to, what, total }: { to: Store; what: string; total: number },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isDiskError(error)) throw error;
    const whole = await wholeIn(to).catch(() => undefined);
    const there = whole === undefined ? "a part of it is" : `${whole} of ${total} ledgers are`;
    throw new HoldfastError(
      "disk",
      `${what} stopped: ${diskWords(error)}; ${there} in ${to.url}: make room, and the same command goes on`,
      { cause: error },
    );
  }
}

async function wholeIn(to: Store): Promise<number> {
  let count = 0;
  for await (const { ledger, summary } of to.list())
    if (!isOwnLedger(ledger) && !(isRecord(summary) && summary.importing === true)) count++;
  return count;
}
