// How the second copy is written: never twice, never on from a cut-off line, never for a ledger that is gone, and it fails nothing.
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openConnection } from "../../src/ledger/sqlite/connection.ts";
import { openCopies } from "../../src/ledger/sqlite/copies.ts";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import { eventRows, ledgerRow } from "../../src/ledger/sqlite/rows.ts";
import type { Store } from "../../src/ledger/store.ts";
import { all, code, collect, event, seqs } from "../../src/testing/store-conformance-steps.ts";
import { startChild } from "./children/spawn.ts";

let folder: string;
let file: string;
const copy = (n: number) => join(`${file}.copies`, `${n}.jsonl`);
const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-copies-"));
  file = join(folder, "p.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

async function using<T>(body: (store: Store) => Promise<T>): Promise<T> {
  const store = await openSqliteStore(file);
  try {
    return await body(store);
  } finally {
    await store.close();
  }
}

/** What the copies alone prove. */
async function proven(ledger: string): Promise<number[]> {
  for (const part of ["", "-wal", "-shm", ".heads"]) rmSync(file + part, { force: true });
  return using(async (store) => seqs(await all(store, ledger)));
}

describe("what is left out", () => {
  it("is made up for once, however long the last line is and whoever appended it", async () => {
    const long = { data: "x".repeat(20_000) };
    const [one, two] = [await openSqliteStore(file), await openSqliteStore(file)];
    for (let i = 1; i <= 20; i++) await (i % 2 ? one : two).append([{ ledger: "l", events: [event(i, long)] }]);
    await one.close();
    await two.close();
    expect(statSync(copy(1)).size < 21 * 20_400).toEqual(true);
    expect(await proven("l")).toEqual(upTo(20));
  });

  it("is made up for when the file is removed or cut off under the hands of a process", async () => {
    await using(async (store) => {
      for (let i = 1; i <= 9; i++) {
        await store.append([{ ledger: "l", events: [event(i)] }]);
        if (i === 3) rmSync(copy(1));
        if (i === 5) truncateSync(copy(1), 0);
        if (i === 7) appendFileSync(copy(1), '{"of":7,"name":"cut o');
      }
    });
    expect(await proven("l")).toEqual(upTo(9));
  });

  it("comes with the summary that was left out too", async () => {
    await using((store) => store.append([{ ledger: "l", events: [event(1)], summary: { i: 1 } }]));
    const text = readFileSync(copy(1));
    await using((store) => store.append([{ ledger: "l", events: [event(2)], summary: { i: 2 } }]));
    writeFileSync(copy(1), text); // as a kill between commit and copy leaves it
    await using((store) => store.append([{ ledger: "l", events: [event(3)] }]));
    expect(await proven("l")).toEqual(upTo(3));
    expect(await using(async (store) => (await collect(store.list()))[0]!.summary)).toEqual({ i: 2 });
  });

  it("of a summary without events the newest counts, whichever of two processes came first to write it", async () => {
    await using(async (store) => {
      await store.append([{ ledger: "l", events: [event(1)], summary: 1 }]);
      await sleep(3);
      await store.append([{ ledger: "l", events: [], summary: 2 }]);
    });
    const lines = readFileSync(copy(1), "utf8").trimEnd().split("\n");
    writeFileSync(copy(1), `${[lines[0], lines[2], lines[1]].join("\n")}\n`);
    await proven("l");
    expect(await using(async (store) => (await collect(store.list()))[0]!.summary)).toEqual(2);
  });

  it("is made up for after the copy of another ledger with that number", async () => {
    mkdirSync(`${file}.copies`);
    const other = join(folder, "other.db");
    const store = await openSqliteStore(other);
    for (let i = 1; i <= 10; i++) await store.append([{ ledger: "old", events: [event(i)] }]);
    await store.close();
    rmSync(`${file}.copies`, { recursive: true });
    await startChild("appender.ts", [file, "l", "1"], { HOLDFAST_CRASH_AT: "append.before-bell" }).ended;
    mkdirSync(`${file}.copies`, { recursive: true });
    writeFileSync(copy(1), readFileSync(join(`${other}.copies`, "1.jsonl")));
    await using((mine) => mine.append([{ ledger: "l", events: [event(2)] }]));
    expect(await proven("l")).toEqual(upTo(2));
  });
});

describe.skipIf(spawnSync("prlimit", ["--version"]).status !== 0)("a disk that takes half a line", () => {
  it("costs no later line", async () => {
    await using((store) => store.append([{ ledger: "l", events: [event(1)] }]));
    // Longer than anything else that is written meanwhile: the limit meets the copy alone.
    truncateSync(copy(1), 40 << 20);
    appendFileSync(copy(1), "\n");
    const limit = (bytes: string) => spawnSync("prlimit", ["--pid", String(process.pid), `--fsize=${bytes}:unlimited`]);
    const ignore = () => {};
    process.on("SIGXFSZ", ignore);
    await using(async (store) => {
      await store.append([{ ledger: "l", events: [event(2)] }]);
      limit(String(statSync(copy(1)).size + 50));
      expect(await code(store.append([{ ledger: "l", events: [event(3)] }]))).toEqual("ok");
      limit("unlimited");
      for (const i of [4, 5]) await store.append([{ ledger: "l", events: [event(i)] }]);
    }).finally(() => limit("unlimited"));
    process.off("SIGXFSZ", ignore);
    expect(await proven("l")).toEqual(upTo(5));
  });
});

describe("the copy of a removed ledger", () => {
  it("goes with the commit, whoever else writes then", async () => {
    await using(async (store) => {
      await store.append([{ ledger: "l", events: [event(1)] }]);
      const other = new DatabaseSync(file);
      const removed = store.remove("l");
      other.exec("BEGIN IMMEDIATE");
      await sleep(50);
      expect(existsSync(copy(1))).toEqual(false);
      other.exec("ROLLBACK");
      other.close();
      await removed;
    });
  });

  it("does not come back by a process that committed before the removal and copies after it", async () => {
    await using((store) => store.append([{ ledger: "l", events: [event(1)] }]));
    const db = openConnection(file);
    const late = openCopies(file, db);
    const row = ledgerRow(db, "l")!;
    const events = eventRows(db, row.n, { from: 1, to: 1, limit: 1 });
    await using((store) => store.remove("l"));
    late.put({ row, events, summarised: true });
    late.close();
    db.close();
    expect(readdirSync(`${file}.copies`)).toEqual([]);
  });
});

describe("a folder of copies", () => {
  for (const [what, make] of [
    ["that is a file", () => writeFileSync(`${file}.copies`, "not a folder")],
    ["with a folder in it", () => mkdirSync(join(`${file}.copies`, "1.jsonl"), { recursive: true })],
    ["with a folder of a person's in it", () => mkdirSync(join(`${file}.copies`, "mine"), { recursive: true })],
  ] as const) {
    it(`${what} keeps nothing from going on: append, remove, collect, salvage`, async () => {
      await using((store) => store.append([{ ledger: "l", events: [event(1)] }]));
      rmSync(`${file}.copies`, { recursive: true });
      make();
      await using(async (store) => {
        expect(await code(store.append([{ ledger: "l", events: [event(2)] }]))).toEqual("ok");
        expect(await code(store.append([{ ledger: "m", events: [event(1)] }]))).toEqual("ok");
        expect(await code(store.remove("m"))).toEqual("ok");
        expect((await store.collect()).ledgers).toEqual([]);
      });
      const bytes = readFileSync(file);
      writeFileSync(file, bytes.fill(0, 0, 4096));
      expect(await using(async (store) => seqs(await all(store, "l")))).toEqual([1, 2]);
    });
  }

  it("that is empty is no store that was lost", async () => {
    mkdirSync(`${file}.copies`);
    expect(
      await using(async (store) => [store.readOnly, await code(store.append([{ ledger: "l", events: [event(1)] }]))]),
    ).toEqual([undefined, "ok"]);
  });

  it("keeps what a person has put there", async () => {
    await using((store) => store.append([{ ledger: "l", events: [event(1)] }]));
    writeFileSync(join(`${file}.copies`, "notes.txt"), "mine");
    await using((store) => store.collect());
    expect(existsSync(join(`${file}.copies`, "notes.txt"))).toEqual(true);
  });
});
