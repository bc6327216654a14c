// Seeded faults: a state to damage, the damage, and the judgement whether anything was lost silently.
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { blobHash } from "../../src/ledger/checksum.ts";
import { isHoldfastError } from "../../src/ledger/error.ts";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import { repairSqliteStore } from "../../src/ledger/sqlite/repair.ts";
import type { Damage, LedgerSummary, Store, StoredEvent } from "../../src/ledger/store.ts";

export interface Truth {
  folder: string;
  ledgers: Map<string, StoredEvent[]>;
  list: LedgerSummary[];
  blobs: string[];
}

export interface Fault {
  seed: number;
  kind: "flip" | "truncate" | "zero512" | "zero4096";
  part: "" | "-wal";
  offset: number;
  length: number;
}

export interface Verdict {
  /** Something differed from the truth and nothing said so. */
  silent: string[];
  /** Ledgers that cannot be read to their end. */
  lost: string[];
  /** Ledgers lost although no byte of theirs was near the fault. */
  innocent: string[];
  reported: boolean;
}

function random(seed: number): () => number {
  let state = seed * 2654435761 + 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 374761393) | 0;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}

/** Several ledgers of different sizes, one half in the file and one half still in the WAL. */
export async function makeState(folder: string): Promise<Truth> {
  let store = await openSqliteStore(join(folder, "live", "p.db"));
  const rnd = random(7);
  const blobs: string[] = [];
  const round = async (name: string, i: number) => {
    const id = `${name}-${i}-${Math.floor(rnd() * 1e9)}`;
    const text = `${id} `.repeat(i % 17 === 0 ? 400 : 1 + Math.floor(rnd() * 6));
    const bytes = Buffer.from(i % 23 === 0 ? `${id} blob `.repeat(3000) + rnd() : "");
    if (bytes.length > 0) blobs.push(blobHash(bytes));
    const events = [
      { id, type: "test.happened", actor: name, touches: i % 3 ? [`thing:${i % 5}`] : [], data: { text } },
    ];
    await store.append([{ ledger: name, events, summary: { i } }], bytes.length > 0 ? { blobs: [bytes] } : {});
  };
  const names = Array.from({ length: 9 }, (_, i) => `ctx_${i}`);
  for (let i = 1; i <= 60; i++) for (const [k, name] of names.entries()) if (k < 6 || i < 5) await round(name, i);
  // Two chunks: every byte more is looked at by every salvage.
  const big = Buffer.from(Array.from({ length: 1_100_000 }, () => Math.floor(rnd() * 256)));
  await store.append([{ ledger: "ctx_1", events: [{ type: "test.blob", actor: "x", data: blobHash(big) }] }], {
    blobs: [big],
  });
  blobs.push(blobHash(big));
  await store.append([{ ledger: "gone", events: [{ type: "test.gone", actor: "x", data: 1 }] }]);
  await store.remove("gone");
  await store.snapshots("ctx_2").save(10, new Map([["f@1", { some: "state" }]]));
  await store.close();
  store = await openSqliteStore(join(folder, "live", "p.db"));
  for (let i = 61; i <= 75; i++) for (const [k, name] of names.entries()) if (k % 2 === 0) await round(name, i);
  const truth = await readTruth(store, folder, blobs);
  mkdirSync(join(folder, "state"));
  for (const part of ["", "-wal", ".heads"])
    copyFileSync(join(folder, "live", `p.db${part}`), join(folder, "state", `p.db${part}`));
  cpSync(join(folder, "live", "p.db.copies"), join(folder, "state", "p.db.copies"), { recursive: true });
  await store.close();
  return truth;
}

async function readTruth(store: Store, folder: string, blobs: string[]): Promise<Truth> {
  const list: LedgerSummary[] = [];
  const ledgers = new Map<string, StoredEvent[]>();
  for await (const one of store.list()) list.push(one);
  for (const { ledger } of list) ledgers.set(ledger, await readAll(store, ledger));
  return { folder, ledgers, list, blobs };
}

async function readAll(store: Store, ledger: string): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const event of store.read(ledger)) events.push(event);
  return events;
}

export function makeFault(truth: Truth, seed: number): Fault {
  const rnd = random(seed + 1000);
  for (let i = 0; i < 10; i++) rnd();
  const part = rnd() < 0.5 ? "" : "-wal";
  const kind = (["flip", "flip", "truncate", "zero512", "zero4096"] as const)[Math.floor(rnd() * 5)]!;
  const size = statSync(join(truth.folder, "state", `p.db${part}`)).size;
  // One in four goes where it hurts most: header, schema, the first pages.
  const near = rnd() < 0.25 ? 8192 : size;
  let offset = Math.floor(rnd() * near);
  const length = kind === "flip" ? 1 : kind === "truncate" ? size - offset : kind === "zero512" ? 512 : 4096;
  if (kind.startsWith("zero") && rnd() < 0.7) offset -= offset % length;
  return { seed, kind, part, offset, length: Math.min(length, size - offset) };
}

/** `copies`: with the second copy of every event, which no fault hits here. */
export function applyFault(truth: Truth, fault: Fault, opts: { into: string; copies: boolean }): string {
  const { into } = opts;
  rmSync(into, { recursive: true, force: true });
  mkdirSync(into, { recursive: true });
  for (const part of ["", "-wal", ".heads"])
    copyFileSync(join(truth.folder, "state", `p.db${part}`), join(into, `p.db${part}`));
  if (opts.copies) cpSync(join(truth.folder, "state", "p.db.copies"), join(into, "p.db.copies"), { recursive: true });
  const file = join(into, "p.db");
  const target = file + fault.part;
  if (fault.kind === "truncate") {
    truncateSync(target, fault.offset);
    return file;
  }
  const bytes = readFileSync(target);
  if (fault.kind === "flip") bytes[fault.offset]! ^= 1 << (fault.seed % 8);
  else bytes.fill(0, fault.offset, fault.offset + fault.length);
  writeFileSync(target, bytes);
  return file;
}

/** Ledgers with bytes in the pages that the fault touched: their events carry their own name many times over. */
function hitLedgers(truth: Truth, fault: Fault): Set<string> {
  const bytes = readFileSync(join(truth.folder, "state", `p.db${fault.part}`));
  const from = Math.max(0, fault.offset - 4200);
  const text = bytes.subarray(from, fault.offset + fault.length + 4200).toString("latin1");
  return new Set([...truth.ledgers.keys()].filter((name) => text.includes(name)));
}

export async function judge(truth: Truth, fault: Fault, file: string): Promise<Verdict> {
  const store = await openSqliteStore(file);
  const silent: string[] = [];
  const lost: string[] = [];
  const errors: Damage[] = [];
  for (const [ledger, events] of truth.ledgers) {
    const got: StoredEvent[] = [];
    try {
      for await (const event of store.read(ledger)) got.push(event);
    } catch (error) {
      if (!isHoldfastError(error, "damaged")) throw error;
      errors.push(error.detail as Damage);
      const { ledger: named, seq } = error.detail as Damage;
      if (named !== ledger || seq !== got.length + 1)
        silent.push(`${ledger}: damage named as ${named} ${seq}, not ${got.length + 1}`);
    }
    if (got.length < events.length) lost.push(ledger);
    if (got.length < events.length && !errors.some((one) => one.ledger === ledger))
      silent.push(`${ledger}: ends at ${got.length} of ${events.length}`);
    if (JSON.stringify(got) !== JSON.stringify(events.slice(0, got.length))) silent.push(`${ledger}: other content`);
  }
  const differs: string[] = [];
  const list: LedgerSummary[] = [];
  for await (const one of store.list()) list.push(one);
  if (JSON.stringify(list) !== JSON.stringify(truth.list)) differs.push("list");
  for (const hash of truth.blobs) {
    const bytes = await store.blob(hash);
    if (!bytes) differs.push(`blob ${hash}`);
    else if (blobHash(bytes) !== hash) silent.push(`blob ${hash} has other content`);
  }
  for (const [ledger, events] of truth.ledgers) {
    for (let k = 0; k < 5; k++) {
      const should = events.findLast((event) => event.touches.includes(`thing:${k}`))?.seq ?? 0;
      if ((await store.version(ledger, `thing:${k}`)) !== should) differs.push(`version ${ledger} thing:${k}`);
    }
  }
  const report = await store.verify();
  const reported = store.readOnly !== undefined || errors.length > 0 || report.damage.length > 0;
  if (!reported) silent.push(...differs);
  await store.close();
  const hit = hitLedgers(truth, fault);
  return { silent, lost, reported, innocent: lost.filter((ledger) => !hit.has(ledger)) };
}

/** After a repair: sound, writable, and every ledger as long as what could be read before. */
export async function judgeRepair(truth: Truth, file: string): Promise<string[]> {
  const wrong: string[] = [];
  const before = await openSqliteStore(file);
  const proven = new Map<string, number>();
  for (const ledger of truth.ledgers.keys()) proven.set(ledger, (await readGood(before, ledger)).length);
  const blobs = new Set<string>();
  for (const hash of truth.blobs) if (await before.blob(hash)) blobs.add(hash);
  await before.close();
  await repairSqliteStore(file);
  const store = await openSqliteStore(file);
  if (store.readOnly) wrong.push(store.readOnly.message);
  wrong.push(...(await store.verify()).damage.map((one) => JSON.stringify(one)));
  for (const [ledger, events] of truth.ledgers) {
    const got = await readGood(store, ledger);
    if (got.length !== proven.get(ledger))
      wrong.push(`${ledger}: ${got.length} events, ${proven.get(ledger)} before the repair`);
    if (JSON.stringify(got) !== JSON.stringify(events.slice(0, got.length))) wrong.push(`${ledger}: other content`);
    await store.append([{ ledger, events: [{ type: "test.after", actor: "x", data: null }] }]);
  }
  for (const hash of blobs) if (!(await store.blob(hash))) wrong.push(`blob ${hash} was lost by the repair`);
  await store.close();
  return wrong;
}

async function readGood(store: Store, ledger: string): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  try {
    for await (const event of store.read(ledger)) events.push(event);
  } catch (error) {
    if (!isHoldfastError(error, "damaged")) throw error;
  }
  return events;
}
