// A whole store copied into another, exactly: every ledger with its blobs, its listing and its wakes; then compared.
import { listContexts } from "../contexts/listing.ts";
import { contextStateHash } from "../contexts/verify.ts";
import { contentHashOf } from "../ledger/content-hash.ts";
import { copyLedger, sourceOf } from "../ledger/copy-ledger.ts";
import { HoldfastError } from "../ledger/error.ts";
import { isRecord } from "../ledger/guards.ts";
import { holderText } from "../ledger/holder.ts";
import type { LedgerSummary, Seq, Store, WakeInput } from "../ledger/store.ts";
import { sayingHowFar } from "./cut-off.ts";
import { isOurName, STRANGE_NAME } from "./ledger-names.ts";
import { isOwnLedger } from "./own-ledgers.ts";

export interface CopyAllOptions {
  from: Store;
  to: Store;
  progress?: (done: number, total: number) => void;
  signal?: AbortSignal;
}

/** What backups record in a store goes along, and is counted apart: a backup does not have it. */
export interface CopyAllReport {
  ledgers: number;
  contexts: number;
  events: Seq;
  /** Ledgers of backups themselves. */
  own: number;
  /** Ledgers that the target has besides. */
  besides: number;
  /** Events that an earlier, unfinished copy had brought. */
  already: Seq;
  blobs: number;
  wakes: number;
  /** Over the content hashes of all ledgers, in the order of their names. */
  hash: string;
}

/** Contract: the source is only read. Killed, the same call goes on; a target with another past is refused before anything is written. */
export async function copyAllLedgers({ from, to, progress, signal }: CopyAllOptions): Promise<CopyAllReport> {
  if (from.url === to.url) throw new HoldfastError("invalid", `${from.url} cannot be copied to itself`);
  await refuseRunning(from);
  const entries = await entriesOf(from);
  await refuseOtherPast(from, to, entries);
  const wakes = await from.due(Number.MAX_SAFE_INTEGER);
  const stale = await to.due(Number.MAX_SAFE_INTEGER);
  const total = entries.reduce((sum, { head }) => sum + head, 0);
  const report = { ledgers: 0, contexts: 0, events: 0, own: 0, already: 0, blobs: 0, wakes: wakes.length };
  let done = 0;
  await sayingHowFar({ to, what: "the copy", total: entries.length }, async () => {
    for (const entry of entries.toSorted((a, b) => a.updatedAt - b.updatedAt)) {
      signal?.throwIfAborted();
      const { ledger } = entry;
      const own = ({ context }: { context: string }) => context === ledger;
      const wake: WakeInput[] = [...stale.filter(own).map((one) => ({ ...one, dueAt: null })), ...wakes.filter(own)];
      const count = () => progress?.(++done, total);
      const copied = await copyLedger(sourceOf(from, entry), to, { wake, progress: count, ...(signal && { signal }) });
      done += copied.already;
      if (isOwnLedger(ledger)) {
        report.own++;
        continue;
      }
      report.ledgers++;
      report.contexts += ledger.startsWith("ctx_") ? 1 : 0;
      report.events += copied.head;
      report.already += copied.already;
      report.blobs += copied.blobs;
    }
  });
  const hash = await compared(from, to, entries);
  return { ...report, besides: await besides(to, entries), hash };
}

async function besides(to: Store, entries: readonly LedgerSummary[]): Promise<number> {
  const copied = new Set(entries.map(({ ledger }) => ledger));
  let found = 0;
  for await (const { ledger } of to.list()) if (!copied.has(ledger) && !isOwnLedger(ledger)) found++;
  return found;
}

async function refuseRunning(from: Store): Promise<void> {
  const busy = (await listContexts(from)).find(({ heldBy }) => heldBy?.alive);
  if (busy?.heldBy)
    throw new HoldfastError(
      "held",
      `${holderText(busy.heldBy)} works in ${busy.id}: end it first, so that nothing is recorded in the old store any more`,
    );
}

async function entriesOf(from: Store): Promise<LedgerSummary[]> {
  const found: LedgerSummary[] = [];
  for await (const entry of from.list())
    if (!(isRecord(entry.summary) && entry.summary.importing === true)) found.push(entry);
  const strange = found.find(({ ledger }) => !isOurName(ledger));
  if (strange)
    throw new HoldfastError(
      "refused",
      `${from.url} has a ledger ${strange.ledger}: ${STRANGE_NAME}; nothing was copied: remove it there, or find out who wrote it`,
    );
  return found;
}

async function refuseOtherPast(from: Store, to: Store, entries: readonly LedgerSummary[]): Promise<void> {
  for (const { ledger, head } of entries) {
    const there = await to.head(ledger);
    if (there === 0) continue;
    const upTo = Math.min(there, head);
    const isSame =
      (await contentHashOf(from, ledger, { upTo })).sum === (await contentHashOf(to, ledger, { upTo })).sum;
    if (there > head || !isSame)
      throw new HoldfastError(
        "refused",
        `${to.url} has another past of ${ledger}${there > head ? ` (it goes on to event ${there})` : ""}: nothing was copied; choose an empty target`,
      );
  }
}

/** Contract: throws unless both say the same, event for event, and give the same state. */
async function compared(from: Store, to: Store, entries: readonly LedgerSummary[]): Promise<string> {
  const { createHash } = await import("node:crypto");
  const all = createHash("sha256");
  for (const { ledger, head } of entries.toSorted((a, b) => (a.ledger < b.ledger ? -1 : 1))) {
    const [a, b] = [await contentHashOf(from, ledger, { upTo: head }), await contentHashOf(to, ledger, { upTo: head })];
    if (a.sum !== b.sum) throw differs(ledger, "its events");
    const folds = ledger.startsWith("ctx_") && head > 0;
    if (folds && (await contextStateHash(from, ledger, head)) !== (await contextStateHash(to, ledger, head)))
      throw differs(ledger, "its state");
    all.update(`${ledger}\n${head}\n${a.sum}\n`);
  }
  return all.digest("hex");
}

const differs = (ledger: string, what: string): HoldfastError =>
  new HoldfastError(
    "damaged",
    `${ledger}: ${what} came out otherwise in the target: do not use it; copy to an empty one`,
  );
