// Older and newer Holdfasts on one store.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdDecompressSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { blobHash } from "../../src/ledger/checksum.ts";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import { repairSqliteStore } from "../../src/ledger/sqlite/repair.ts";
import { sqliteTooOld } from "../../src/ledger/sqlite/schema.ts";
import { all, code, event, seqs } from "../../src/testing/store-conformance-steps.ts";

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-versions-"));
  file = join(folder, "state", "p.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("a store of a newer Holdfast", () => {
  it("opens read-only, reads, and says to upgrade", async () => {
    const old = await openSqliteStore(file);
    await old.append([{ ledger: "l", events: [event(1)] }]);
    await old.close();
    const db = new DatabaseSync(file);
    db.exec(
      "UPDATE meta SET value = 99 WHERE name = 'schema'; PRAGMA user_version = 99; ALTER TABLE ledgers ADD COLUMN color TEXT",
    );
    db.close();
    const store = await openSqliteStore(file);
    expect([store.readOnly?.code, seqs(await all(store, "l")), await store.head("l")]).toEqual(["upgrade", [1], 1]);
    expect([
      await code(store.append([{ ledger: "l", events: [event(2)] }])),
      await code(store.leases.acquire("agent:x")),
      await code(store.remove("l")),
    ]).toEqual(["upgrade", "upgrade", "upgrade"]);
    await store.snapshots("l").save(1, new Map([["f@1", {}]]));
    expect((await store.verify()).damage).toEqual([]);
    await store.close();
  });

  it("keeps only the ledgers it has written to from older writers", async () => {
    const newer = await openSqliteStore(file, { version: 2 });
    await newer.append([{ ledger: "new", events: [event(1)] }]);
    const store = await openSqliteStore(file, { version: 1 });
    expect([
      await code(store.append([{ ledger: "new", events: [event(2)] }])),
      await code(
        store.append([
          { ledger: "old", events: [event(1)] },
          { ledger: "new", events: [event(2)] },
        ]),
      ),
      await code(store.append([{ ledger: "old", events: [event(1)] }])),
      await code(newer.append([{ ledger: "new", events: [event(2)] }])),
    ]).toEqual(["upgrade", "upgrade", "ok", "ok"]);
    expect([seqs(await all(store, "new")), seqs(await all(store, "old"))]).toEqual([[1, 2], [1]]);
    await store.close();
    await newer.close();
  });
});

describe("a store of an older Holdfast", () => {
  const [kept, gone, loose] = ["kept", "gone", "loose"].map((text) => Buffer.from(`${text} `.repeat(40)));
  const here = (store: Awaited<ReturnType<typeof openSqliteStore>>) =>
    Promise.all([kept, gone, loose].map(async (one) => (await store.blob(blobHash(one!))) !== undefined));

  /** Written by the code before terms had tokens and references were recorded: schema 1. */
  beforeEach(() => {
    mkdirSync(dirname(file), { recursive: true });
    const packed = readFileSync(join(import.meta.dirname, "fixtures", "schema-1.db.zst"));
    writeFileSync(file, zstdDecompressSync(packed));
  });

  it("opens with everything in it: events, summaries, guards, wakes, and a lease that is held without a token", async () => {
    const store = await openSqliteStore(file, { leaseMs: 300 });
    expect([store.readOnly, seqs(await all(store, "ctx_old")), await store.version("ctx_old", "x")]).toEqual([
      undefined,
      [1, 2],
      1,
    ]);
    expect(await store.due(1000)).toEqual([
      { context: "ctx_old", agent: null, by: "team", dueAt: 0 },
      { context: "ctx_old", agent: "lead", by: "cron", dueAt: 1000 },
    ]);
    await store.append([], { wake: [{ context: "ctx_old", agent: "lead", by: "cron", dueAt: null }] });
    expect((await store.due(1000)).map((wake) => wake.by)).toEqual(["team"]);
    const name = "agent:ctx_old/lead";
    expect((await store.leases.inspect(name))?.term).toEqual(1);
    const lease = await store.leases.acquire(name, { wait: AbortSignal.timeout(5_000) });
    expect("renew" in lease && [lease.term, lease.token.length, lease.takenFrom?.machine]).toEqual([
      2,
      32,
      "elsewhere",
    ]);
    expect((await store.verify()).damage).toEqual([]);
    await store.close();
  });

  it("keeps the blobs that its events name: they are read once, then known", async () => {
    const store = await openSqliteStore(file);
    await store.append([{ ledger: "ctx_old", events: [event(3)] }]);
    const { blobs } = await store.collect({ remove: [{ ledger: "ctx_gone", head: 1 }] });
    expect([blobs, await here(store)]).toEqual([2, [true, false, false]]);
    // Known from now on: a collection that reads no event finds the same.
    const db = new DatabaseSync(file);
    const named = db.prepare("SELECT n, lower(hex(hash)) AS hash FROM refs").all();
    expect(named).toEqual([{ n: 1, hash: blobHash(kept!) }]);
    db.close();
    expect([(await store.collect()).blobs, (await store.verify()).damage]).toEqual([0, []]);
    await store.close();
  });

  it("is written to by the older one that has it open: what it names is found all the same", async () => {
    const store = await openSqliteStore(file);
    await store.collect();
    const [extra] = [Buffer.from("of an older writer ".repeat(20))];
    await store.append([{ ledger: "ctx_old", events: [event(3, { data: { at: blobHash(extra!) } })] }], {
      blobs: [extra!],
    });
    // What the older code leaves behind: the event and the list of ledgers, nothing of references.
    const db = new DatabaseSync(file);
    db.exec(`DELETE FROM refs WHERE hash = x'${blobHash(extra!)}'; UPDATE ledgers SET refs = zeroblob(32) WHERE n = 1`);
    db.close();
    await store.append([{ ledger: "ctx_old", events: [event(4)] }]);
    await store.collect();
    expect([(await store.blob(blobHash(extra!))) !== undefined, await here(store)]).toEqual([
      true,
      [true, true, false],
    ]);
    await store.close();
  });

  it("is left as it is by a repair when it is sound", async () => {
    const before = readFileSync(file);
    expect(await repairSqliteStore(file)).toEqual({ damage: [], ledgers: 2, events: 3, lost: 0 });
    expect(readFileSync(file).equals(before)).toEqual(true);
  });
});

describe("a new store", () => {
  it("is private to its user, in WAL mode, with incremental vacuum", async () => {
    const store = await openSqliteStore(file);
    await store.append([{ ledger: "l", events: [event(1)] }]);
    const modes = [dirname(file), file, `${file}-wal`, `${file}.heads`, `${file}.bell`].map((path) =>
      (statSync(path).mode & 0o777).toString(8),
    );
    expect(modes).toEqual(["700", "600", "600", "600", "600"]);
    await store.close();
    const db = new DatabaseSync(file);
    expect([db.prepare("PRAGMA auto_vacuum").get(), db.prepare("PRAGMA journal_mode").get()]).toEqual([
      { auto_vacuum: 2 },
      { journal_mode: "wal" },
    ]);
    db.close();
  });

  it("may be created by many at once", async () => {
    const stores = await Promise.all(Array.from({ length: 6 }, () => openSqliteStore(file)));
    await Promise.all(stores.map((store, i) => store.append([{ ledger: `l${i % 2}`, events: [event(i)] }])));
    expect([await stores[0]!.head("l0"), await stores[5]!.head("l1")]).toEqual([3, 3]);
    for (const store of stores) await store.close();
  });
});

describe("SQLite itself", () => {
  it("is refused when it is older than the repair of its WAL", () => {
    const answers = ["3.51.2", "3.50.9", "2.99.9", "3.51.3", "3.52.0", "4.0.0"].map(
      (version) => sqliteTooOld(version) === undefined,
    );
    expect(answers).toEqual([false, false, false, true, true, true]);
  });
});
