// Older and newer Holdfasts on one store.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
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
