// Collection: ledgers that may go, each in one step, then the blobs that no ledger names, page by page.
import type { JudgedLeases } from "../leases.ts";
import type { Collected, CollectOptions } from "../store.ts";
import { leaseMark, leaseRowsFrom, namesFrom } from "./lease-rows.ts";
import type { RedisLink } from "./link.ts";
import { fieldsOf } from "./reading.ts";

const PAGE = 200;

/**
 * Whoever begins to work on a ledger takes its lease first: before the step that removes it, and it stays; or after, and it is gone. Whoever
 * names a blob does so in the step that appends: before a blob is swept, and it stays; or after, and the blob comes with the append again.
 */
export async function collectOnServer(
  link: RedisLink,
  { remove = [], blobs: sweeps = true, dryRun = false }: CollectOptions,
  heldBy: JudgedLeases["heldBy"],
): Promise<Collected> {
  const done: Collected = { ledgers: [], held: [], blobs: 0, bytes: 0 };
  for (const one of remove) {
    const outcome = dryRun ? await wouldRemove(link, one, heldBy) : await removeIfFree(link, one, heldBy);
    if ("held" in outcome) done.held.push({ ledger: one.ledger, by: outcome.held });
    else if ("gone" in outcome) done.ledgers.push({ ledger: one.ledger, ...outcome.gone });
  }
  if (!sweeps) return done;
  const names = done.ledgers.map(({ ledger }) => ledger);
  return { ...done, ...(dryRun ? await wouldSweep(link, names) : await sweepAll(link)) };
}

type Going = NonNullable<CollectOptions["remove"]>[number];
type Removal =
  | { held: Collected["held"][number]["by"] }
  | { gone: { events: number; bytes: number } }
  | { stays: true };

async function judge(link: RedisLink, { leases }: Going, heldBy: JudgedLeases["heldBy"]) {
  const rows = leases === undefined ? [] : await leaseRowsFrom(link, leases);
  const [held] = rows.flatMap((row) => heldBy(row) ?? []);
  return { rows, held };
}

async function removeIfFree(link: RedisLink, going: Going, heldBy: JudgedLeases["heldBy"]): Promise<Removal> {
  for (;;) {
    const { rows, held } = await judge(link, going, heldBy);
    // Of one that stands elsewhere by now nothing is said.
    if (held) return (await headOf(link, going.ledger))?.head === going.head ? { held } : { stays: true };
    const marks = rows.flatMap((row) => [row.name, ...leaseMark(row)]);
    const leases = going.leases === undefined ? ["0"] : ["1", ...namesFrom(going.leases), ...marks];
    const args = [link.prefix, going.ledger, String(going.head), ...leases];
    const answer = await link.step("remove", args, { confirmed: true });
    const [kind, events, bytes] = Array.isArray(answer) ? answer.map(String) : [];
    if (kind === "gone") return { gone: { events: Number(events), bytes: Number(bytes) } };
    if (kind !== "leases") return { stays: true };
  }
}

async function wouldRemove(link: RedisLink, going: Going, heldBy: JudgedLeases["heldBy"]): Promise<Removal> {
  const now = await headOf(link, going.ledger);
  if (now?.head !== going.head) return { stays: true };
  const { held } = await judge(link, going, heldBy);
  return held ? { held } : { gone: { events: now.head, bytes: now.bytes } };
}

async function headOf(link: RedisLink, ledger: string): Promise<{ head: number; bytes: number } | undefined> {
  const { head, bytes } = fieldsOf(await link.command(["HGETALL", `${link.prefix}ledger:${ledger}`]));
  return head === undefined ? undefined : { head: Number(head), bytes: Number(bytes) };
}

/** All blobs, in pages: what comes or goes meanwhile may be there or not. */
async function* blobPages(link: RedisLink): AsyncGenerator<Record<string, string>> {
  let cursor = "0";
  do {
    const answer = await link.command(["HSCAN", `${link.prefix}blobs`, cursor, "COUNT", String(PAGE)]);
    const [next, page] = Array.isArray(answer) ? answer : ["0", []];
    yield fieldsOf(page);
    cursor = String(next);
  } while (cursor !== "0");
}

export async function allBlobs(link: RedisLink): Promise<Map<string, number>> {
  const blobs = new Map<string, number>();
  for await (const page of blobPages(link))
    for (const [hash, size] of Object.entries(page)) blobs.set(hash, Number(size));
  return blobs;
}

async function sweepAll(link: RedisLink): Promise<{ blobs: number; bytes: number }> {
  const swept = { blobs: 0, bytes: 0 };
  for await (const page of blobPages(link)) {
    const hashes = Object.keys(page);
    if (hashes.length === 0) continue;
    const answer = await link.step("sweep", [link.prefix, ...hashes], { confirmed: true });
    const [blobs, bytes] = Array.isArray(answer) ? answer : [];
    swept.blobs += Number(blobs);
    swept.bytes += Number(bytes);
  }
  return swept;
}

async function wouldSweep(link: RedisLink, going: readonly string[]): Promise<{ blobs: number; bytes: number }> {
  const refs = fieldsOf(await link.command(["HGETALL", `${link.prefix}refs`]));
  const left = new Map(Object.entries(refs).map(([hash, count]) => [hash, Number(count)]));
  for (const ledger of going) for (const hash of await namedBy(link, ledger)) left.set(hash, (left.get(hash) ?? 0) - 1);
  const would = { blobs: 0, bytes: 0 };
  for (const [hash, size] of await allBlobs(link)) {
    if ((left.get(hash) ?? 0) > 0) continue;
    would.blobs++;
    would.bytes += size;
  }
  return would;
}

/** The blobs that a ledger's events name. */
export async function namedBy(link: RedisLink, ledger: string): Promise<string[]> {
  const answer = await link.command(["SMEMBERS", `${link.prefix}named:${ledger}`]);
  return Array.isArray(answer) ? answer.map(String) : [];
}
