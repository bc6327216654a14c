// Verification: everything is read again, everything derived is derived again, and nothing is changed.
import { damageIn } from "../damage-in.ts";
import { possibleReferences } from "../references.ts";
import type { Damage, LedgerSummary, Seq, Store, VerifyReport } from "../store.ts";
import { getStoredBlob } from "./blobs.ts";
import { allBlobs, namedBy } from "./collecting.ts";
import { eventOf, streamEntry } from "./entries.ts";
import { leaseProblem, storedLeases } from "./lease-rows.ts";
import type { RedisLink } from "./link.ts";
import { fieldsOf, listLedgers, readEntries, unreadWakes } from "./reading.ts";
import { snapshotFrom } from "./snapshots.ts";

const PROGRESS_EVERY = 1_000;

type VerifyOptions = NonNullable<Parameters<Store["verify"]>[0]>;

/** What a ledger's events say that is also recorded beside them. */
interface Derived {
  head: Seq;
  ids: number;
  versions: Map<string, Seq>;
  named: Set<string>;
}

export async function verifyOnServer(link: RedisLink, opts: VerifyOptions): Promise<VerifyReport> {
  const report: VerifyReport = { ledgers: 0, events: 0, blobs: 0, damage: [] };
  const ledgers: LedgerSummary[] = [];
  for await (const one of listLedgers(link))
    if (opts.ledger === undefined || one.ledger === opts.ledger) ledgers.push(one);
  const total = ledgers.reduce((sum, { head }) => sum + head, 0);
  const blobs = await allBlobs(link);
  const counts = new Map<string, number>();
  for (const { ledger, head } of ledgers) {
    report.ledgers++;
    const derived = await derive(link, { ledger, head }, () => {
      report.events++;
      if (report.events % PROGRESS_EVERY === 0) opts.progress?.(report.events, total);
    });
    const found = "what" in derived ? [derived] : await besides(link, ledger, { derived, blobs });
    report.damage.push(...found, ...(await snapshotDamage(link, ledger)));
    for (const hash of await namedBy(link, ledger)) counts.set(hash, (counts.get(hash) ?? 0) + 1);
  }
  if (opts.ledger === undefined) {
    report.damage.push(...(await rowDamage(link)));
    for (const hash of blobs.keys()) {
      if (!(await getStoredBlob(link, hash)) && (await isStillThere(link, hash)))
        report.damage.push({ what: `blob ${hash} is incomplete or changed` });
      report.blobs++;
    }
    report.damage.push(...(await referenceDamage(link, { counts, ledgers })));
  }
  opts.progress?.(total, total);
  return report;
}

/** Rows beside the ledgers that cannot be read: they are passed over. */
async function rowDamage(link: RedisLink): Promise<Damage[]> {
  const wakes = (await unreadWakes(link)).map((row) => `a row that says who is due cannot be read: ${shown(row)}`);
  const leases = (await storedLeases(link, "")).flatMap(({ name, fields }) => leaseProblem(name, fields) ?? []);
  return [...wakes, ...leases].map((what) => ({ what }));
}

const shown = (row: string): string => JSON.stringify(row.slice(0, 100));

async function derive(
  link: RedisLink,
  { ledger, head }: { ledger: string; head: Seq },
  seen: () => void,
): Promise<Derived | Damage> {
  const derived: Derived = { head: 0, ids: 0, versions: new Map(), named: new Set() };
  const ids = new Set<string>();
  try {
    for await (const entry of readEntries(link, ledger, { upTo: head })) {
      seen();
      ids.add(entry.id);
      derived.head = entry.seq;
      for (const entity of eventOf(ledger, entry).touches) derived.versions.set(entity, entry.seq);
      for (const hash of possibleReferences(entry.data)) derived.named.add(hash);
    }
  } catch (error) {
    const damage = damageIn(error);
    if (damage) return damage;
    throw error;
  }
  derived.ids = ids.size;
  return derived;
}

/** What others append meanwhile is newer than what was read, and no damage. */
async function besides(
  link: RedisLink,
  ledger: string,
  { derived, blobs }: { derived: Derived; blobs: ReadonlyMap<string, number> },
): Promise<Damage[]> {
  const { prefix } = link;
  const now = Number((await link.command(["HGET", `${prefix}ledger:${ledger}`, "head"])) ?? 0);
  if (now < derived.head) return []; // removed meanwhile
  const damage: Damage[] = [];
  // In this order: what is appended between the two questions is behind neither.
  const [last] = asList(await link.command(["XREVRANGE", `${prefix}events:${ledger}`, "+", "-", "COUNT", "1"]));
  const end = Number((await link.command(["HGET", `${prefix}ledger:${ledger}`, "head"])) ?? 0);
  if ((streamEntry(last)?.seq ?? 0) > end && end > 0)
    damage.push({ ledger, seq: end + 1, what: "its head lies before its last event" });
  const versions = fieldsOf(await link.command(["HGETALL", `${prefix}versions:${ledger}`]));
  for (const [entity, version] of Object.entries(versions)) {
    const should = derived.versions.get(entity) ?? 0;
    if (Number(version) !== should && Number(version) <= derived.head)
      damage.push({ ledger, ...(should && { seq: should }), what: `the stored version of ${entity} is wrong` });
  }
  for (const [entity, seq] of derived.versions)
    if (versions[entity] === undefined)
      damage.push({ ledger, seq, what: `the stored version of ${entity} is missing` });
  const ids = Number(await link.command(["HLEN", `${prefix}ids:${ledger}`]));
  if (ids < derived.ids) damage.push({ ledger, what: "the record of its events' ids is wrong" });
  const named = new Set(await namedBy(link, ledger));
  // A blob that came later than the event that could mean it need not be recorded.
  const lost = [...named].filter((hash) => !blobs.has(hash));
  for (const hash of lost)
    if (!(await isStillThere(link, hash))) damage.push({ ledger, what: `blob ${hash}, which it names, is missing` });
  return damage;
}

const asList = (answer: unknown): unknown[] => (Array.isArray(answer) ? answer : []);

async function snapshotDamage(link: RedisLink, ledger: string): Promise<Damage[]> {
  const answer = await link.command(["HGETALL", `${link.prefix}snapshots:${ledger}`], { bytes: true });
  const all: Buffer[] = Array.isArray(answer) ? answer : [];
  const damage: Damage[] = [];
  for (let i = 0; i + 1 < all.length; i += 2) {
    const key = String(all[i]);
    const bytes = all[i + 1];
    if (bytes && !snapshotFrom(ledger, key, bytes))
      damage.push({ ledger, what: `the snapshot ${key} fails its checksum; it will not be used` });
  }
  return damage;
}

const isStillThere = async (link: RedisLink, hash: string): Promise<boolean> =>
  Number(await link.command(["HEXISTS", `${link.prefix}blobs`, hash])) === 1;

/** How many ledgers name each blob: what is counted too low would let a sweep take it. */
async function referenceDamage(
  link: RedisLink,
  { counts, ledgers }: { counts: ReadonlyMap<string, number>; ledgers: readonly LedgerSummary[] },
): Promise<Damage[]> {
  const refs = fieldsOf(await link.command(["HGETALL", `${link.prefix}refs`]));
  const low = [...counts].filter(([hash, count]) => Number(refs[hash] ?? 0) < count);
  if (low.length === 0) return [];
  // Ledgers that went meanwhile count no more.
  const still = new Map<string, number>();
  for (const { ledger } of ledgers)
    for (const hash of await namedBy(link, ledger)) still.set(hash, (still.get(hash) ?? 0) + 1);
  const now = fieldsOf(await link.command(["HGETALL", `${link.prefix}refs`]));
  return low
    .filter(([hash]) => Number(now[hash] ?? 0) < (still.get(hash) ?? 0))
    .map(([hash]) => ({ what: `the count of ledgers that name blob ${hash} is too low` }));
}
