// One damaged row, a dropped WAL, a broken header: what still works, what is said, and what a repair brings back.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { blobHash } from "../../src/ledger/checksum.ts";
import { isHoldfastError } from "../../src/ledger/error.ts";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import { repairSqliteStore } from "../../src/ledger/sqlite/repair.ts";
import type { Damage, Store } from "../../src/ledger/store.ts";
import { all, code, collect, event, failure, seqs } from "../../src/testing/store-conformance-steps.ts";
import { startChild } from "./children/spawn.ts";

let folder: string;
let file: string;
const blob = Buffer.from("bytes that an event refers to ".repeat(500));

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-repair-"));
  file = join(folder, "p.db");
  const store = await openSqliteStore(file);
  for (let i = 1; i <= 10; i++) {
    const data = { n: i, blob: blobHash(blob) };
    await store.append([{ ledger: "hurt", events: [event(i, { touches: ["x"], data })], summary: { i } }], {
      blobs: [blob],
    });
    await store.append([{ ledger: "well", events: [event(i)] }], {
      wake: [{ context: "well", agent: "w", by: "t", dueAt: i }],
    });
  }
  await store.leases.acquire("agent:w");
  await store.close();
  // Here it is about what the database proves by itself; copies.test.ts has the rest.
  rmSync(`${file}.copies`, { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

function change(sql: string): void {
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
}

async function readUntilDamage(store: Store, ledger: string): Promise<{ read: number[]; damage?: Damage }> {
  const read: number[] = [];
  const error = await failure(
    (async () => {
      for await (const one of store.read(ledger)) read.push(one.seq);
    })(),
  );
  if (error !== undefined && !isHoldfastError(error, "damaged")) throw error;
  return { read, ...(error !== undefined && { damage: (error as { detail: Damage }).detail }) };
}

describe("one changed row", () => {
  beforeEach(() => change("UPDATE events SET data = replace(data, '6', '7') WHERE key = (1 << 32) + 6"));

  it("opens its ledger up to the damage, names the place, and keeps what lies behind", async () => {
    const store = await openSqliteStore(file);
    const { read, damage } = await readUntilDamage(store, "hurt");
    expect(read).toEqual([1, 2, 3, 4, 5]);
    expect({ ...damage, salvage: typeof damage?.salvage }).toEqual({
      ledger: "hurt",
      seq: 6,
      what: "the event is missing or fails its checksum",
      salvage: "string",
    });
    const behind = readFileSync(damage!.salvage!, "utf8").trim().split("\n");
    expect(behind.map((line) => JSON.parse(line).seq)).toEqual([6, 7, 8, 9, 10]);
    await store.close();
  });

  it("leaves the other ledgers writable and refuses the damaged one, after a restart too", async () => {
    let store = await openSqliteStore(file);
    await readUntilDamage(store, "hurt");
    for (const again of [false, true]) {
      if (again) {
        await store.close();
        store = await openSqliteStore(file);
      }
      expect([store.readOnly, await code(store.append([{ ledger: "hurt", events: [event(11)] }]))]).toEqual([
        undefined,
        "damaged",
      ]);
      expect(await code(store.append([{ ledger: "well", events: [event(11)] }]))).toEqual("ok");
    }
    expect(seqs(await all(store, "well")).length).toEqual(12);
    expect((await store.verify()).damage.map(({ ledger, seq }) => ({ ledger, seq }))).toEqual([
      { ledger: "hurt", seq: 6 },
    ]);
    await store.close();
  });

  it("is repaired to its good part, and the damaged file is kept", async () => {
    const { damage, lost } = await repairSqliteStore(file);
    expect(lost).toEqual(5);
    expect(damage.map(({ ledger, seq }) => ({ ledger, seq }))).toEqual([{ ledger: "hurt", seq: 6 }]);
    const store = await openSqliteStore(file);
    expect([store.readOnly, seqs(await all(store, "hurt")), seqs(await all(store, "well")).length]).toEqual([
      undefined,
      [1, 2, 3, 4, 5],
      10,
    ]);
    expect((await collect(store.list())).map(({ ledger, summary }) => ({ ledger, summary }))).toEqual([
      { ledger: "hurt", summary: { i: 10 } },
      { ledger: "well", summary: null },
    ]);
    expect([await store.version("hurt", "x"), (await store.blob(blobHash(blob)))?.length, await store.due(99)]).toEqual(
      [5, blob.length, [{ context: "well", agent: "w", by: "t", dueAt: 10 }]],
    );
    const lease = await store.leases.acquire("agent:w");
    expect("held" in lease && lease.held.term).toEqual(1);
    await store.append([{ ledger: "hurt", events: [event(6, { touches: ["x"] })], expect: { x: 5 } }]);
    expect((await store.verify()).damage).toEqual([]);
    await store.close();
    const kept = readdirSync(folder).filter((name) => name.includes(".damaged-"));
    expect(kept.length).toEqual(1);
    expect(readdirSync(join(folder, kept[0]!)).includes("p.db")).toEqual(true);
  });
});

describe("a repair that is cut off", () => {
  for (const point of ["repair.rebuilt", "repair.half-way"]) {
    it(`at ${point} is finished or done again`, async () => {
      change("DELETE FROM ledgers WHERE n = 1");
      await startChild("repairer.ts", [file], { HOLDFAST_CRASH_AT: point }).ended;
      await repairSqliteStore(file);
      const store = await openSqliteStore(file);
      expect([store.readOnly, (await store.verify()).damage]).toEqual([undefined, []]);
      expect([seqs(await all(store, "hurt")).length, seqs(await all(store, "well")).length]).toEqual([10, 10]);
      await store.close();
    });
  }
});

describe("a process that has looked at damage", () => {
  it("keeps its locks: others that come and go take none of its commits away", async () => {
    change("UPDATE events SET data = replace(data, '6', '7') WHERE key = (1 << 32) + 6");
    const store = await openSqliteStore(file);
    await readUntilDamage(store, "hurt");
    await store.append([{ ledger: "well", events: [event(11)] }]);
    await startChild("appender.ts", [file, "well", "1"]).ended;
    await store.append([{ ledger: "well", events: [event(13)] }]);
    const other = await openSqliteStore(file);
    expect(seqs(await all(other, "well")).length).toEqual(13);
    await other.close();
    await store.close();
  });
});

describe("derived tables", () => {
  for (const [what, sql] of [
    ["a wrong entity version", "UPDATE entities SET version = 3"],
    ["a lost entity", "DELETE FROM entities"],
    ["a lost event at the end", "DELETE FROM events WHERE key = (2 << 32) + 10"],
    [
      "an event too many",
      "INSERT INTO events SELECT key + 1, name, id || 'x', at, type, v, actor, touches, data, sum FROM events WHERE key = (2 << 32) + 10",
    ],
    ["a changed blob", "UPDATE blobs SET data = zeroblob(length(data))"],
    ["a changed wake", "UPDATE wakes SET due_at = due_at + 1"],
    ["a lost wake", "DELETE FROM wakes"],
    ["a changed reference", "UPDATE refs SET hash = zeroblob(32)"],
    ["a lost reference", "DELETE FROM refs"],
    ["a changed lease", "UPDATE leases SET epoch = 0"],
    ["a lost lease", "DELETE FROM leases"],
  ] as const) {
    it(`${what} is found by verify`, async () => {
      change(sql);
      const store = await openSqliteStore(file);
      expect((await store.verify()).damage.length > 0).toEqual(true);
      await store.close();
    });
  }

  for (const sql of ["UPDATE refs SET hash = zeroblob(32)", "DELETE FROM refs", "UPDATE ledgers SET refs = NULL"]) {
    it(`no blob is lost to a record of references that is wrong (${sql})`, async () => {
      change(sql);
      const store = await openSqliteStore(file);
      expect([(await store.collect()).blobs, (await store.blob(blobHash(blob)))?.length]).toEqual([0, blob.length]);
      expect((await store.verify()).damage).toEqual([]);
      await store.close();
    });
  }

  it("a guard over a damaged entity version says damaged, not conflict", async () => {
    change("UPDATE entities SET version = 99");
    const store = await openSqliteStore(file);
    expect(await code(store.append([{ ledger: "hurt", events: [event(11)], expect: { x: 10 } }]))).toEqual("damaged");
    await store.close();
  });
});

describe("a list of ledgers that lies", () => {
  for (const [what, sql] of [
    ["a head that went back", "UPDATE ledgers SET head = 9 WHERE n = 1"],
    ["another summary", "UPDATE ledgers SET summary = '{}' WHERE n = 1"],
    ["a ledger that vanished", "DELETE FROM ledgers WHERE n = 1"],
    ["a ledger marked as removed", "UPDATE ledgers SET removed = 1 WHERE n = 1"],
    ["another version in the header", "PRAGMA user_version = 7"],
  ] as const) {
    it(`${what}: the store opens read-only with every event, and a repair mends it`, async () => {
      change(sql);
      const store = await openSqliteStore(file);
      expect((await collect(store.list())).map((one) => one.ledger)).toEqual(["hurt", "well"]);
      expect([
        store.readOnly?.code,
        seqs(await all(store, "hurt")).length,
        seqs(await all(store, "well")).length,
      ]).toEqual(["damaged", 10, 10]);
      expect(await code(store.append([{ ledger: "well", events: [event(11)] }]))).toEqual("damaged");
      await store.close();
      expect((await repairSqliteStore(file)).damage.length > 0).toEqual(true);
      const mended = await openSqliteStore(file);
      expect([mended.readOnly, (await mended.verify()).damage, seqs(await all(mended, "hurt")).length]).toEqual([
        undefined,
        [],
        10,
      ]);
      await mended.close();
    });
  }
});

describe("a broken file", () => {
  it("with a header of zeros still gives every event, and opening it twice copies it once", async () => {
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0, 0, 4096));
    for (let i = 0; i < 2; i++) {
      const store = await openSqliteStore(file);
      expect([
        seqs(await all(store, "hurt")).length,
        seqs(await all(store, "well")).length,
        (await collect(store.list())).length,
      ]).toEqual([10, 10, 2]);
      await store.close();
    }
    expect(readdirSync(dirname(file)).filter((name) => name.includes(".damaged-")).length).toEqual(1);
  });

  it("that is empty names what was in it, and is not taken for a new one", async () => {
    writeFileSync(file, "");
    const store = await openSqliteStore(file);
    expect([store.readOnly?.message.includes("empty"), await readUntilDamage(store, "hurt")]).toEqual([
      true,
      { read: [], damage: { ledger: "hurt", seq: 1, what: "the event is missing or fails its checksum" } },
    ]);
    await store.close();
  });

  it("whose sidecar is damaged opens, and the sidecar is written anew", async () => {
    const heads = readFileSync(`${file}.heads`);
    heads[256 + 20]! ^= 1;
    writeFileSync(`${file}.heads`, heads);
    for (let i = 0; i < 2; i++) {
      const store = await openSqliteStore(file);
      expect([store.readOnly, (await store.verify()).damage]).toEqual([undefined, []]);
      await store.close();
    }
    change("UPDATE ledgers SET head = 9 WHERE n = 1");
    const store = await openSqliteStore(file);
    expect(store.readOnly?.code).toEqual("damaged");
    await store.close();
  });

  it("that came without its sidecar opens, and gets a new one", async () => {
    rmSync(`${file}.heads`);
    const store = await openSqliteStore(file);
    expect([store.readOnly, (await store.verify()).damage, existsSync(`${file}.heads`)]).toEqual([undefined, [], true]);
    await store.close();
    change("DELETE FROM ledgers WHERE n = 1");
    const again = await openSqliteStore(file);
    expect(again.readOnly?.code).toEqual("damaged");
    await again.close();
  });
});
