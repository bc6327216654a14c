// The second copy of every event: always there, never trusted without proof, gone with its ledger.
import {
  appendFileSync,
  existsSync,
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
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import { repairSqliteStore } from "../../src/ledger/sqlite/repair.ts";
import type { Store } from "../../src/ledger/store.ts";
import { all, code, collect, event, seqs } from "../../src/testing/store-conformance-steps.ts";
import { startChild } from "./children/spawn.ts";

let folder: string;
let file: string;
const copy = (n: number) => join(`${file}.copies`, `${n}.jsonl`);
const lines = (n: number) =>
  readFileSync(copy(n), "utf8")
    .trimEnd()
    .split("\n")
    .filter((line) => !line.startsWith('{"of"'));
const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1);

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-copies-"));
  file = join(folder, "p.db");
  await using(async (store) => {
    for (let i = 1; i <= 10; i++) {
      await store.append([{ ledger: "hurt", events: [event(i, { touches: ["x", 'y",'] })], summary: { i } }]);
      await store.append([{ ledger: "well", events: [event(i)] }]);
    }
  });
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

function change(sql: string): void {
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
}

/** No page is left: whatever is read now comes from the copies. */
function loseDatabase(): void {
  for (const part of ["", "-wal", "-shm", ".heads"]) rmSync(file + part, { force: true });
}

describe("a copy", () => {
  it("holds every event as a line of JSON that only its owner can read", async () => {
    const [events, copied] = [await using((store) => all(store, "hurt")), lines(1).map((line) => JSON.parse(line))];
    expect(copied.map(({ name, ...one }) => one)).toEqual(events.map((one) => ({ ...one })));
    expect([copied[0].name, copied[1].name, copied[0].sum.length]).toEqual(["hurt", undefined, 32]);
    expect([statSync(`${file}.copies`).mode & 0o777, statSync(copy(1)).mode & 0o777]).toEqual([0o700, 0o600]);
  });

  it("brings everything back when the database is gone", async () => {
    const before = await using(async (store) => [await all(store, "hurt"), await all(store, "well")]);
    loseDatabase();
    await using(async (store) => {
      expect([store.readOnly !== undefined, await all(store, "hurt"), await all(store, "well")]).toEqual([
        true,
        ...before,
      ]);
    });
    expect(await repairSqliteStore(file)).toMatchObject({ ledgers: 2, events: 20, lost: 0 });
    await using(async (store) => {
      expect([store.readOnly, await all(store, "hurt"), await all(store, "well")]).toEqual([undefined, ...before]);
      expect((await collect(store.list())).map(({ ledger, head, summary }) => ({ ledger, head, summary }))).toEqual([
        { ledger: "hurt", head: 10, summary: { i: 10 } },
        { ledger: "well", head: 10, summary: null },
      ]);
      expect(await store.version("hurt", "x")).toEqual(10);
      await store.append([{ ledger: "hurt", events: [event(11)] }]);
      expect((await store.verify()).damage).toEqual([]);
    });
    expect(lines(1).length).toEqual(11);
  });

  it("makes up for what a killed process left out, and for a line that was cut off", async () => {
    await startChild("appender.ts", [file, "hurt", "1"], { HOLDFAST_CRASH_AT: "append.before-bell" }).ended;
    expect(lines(1).length).toEqual(10);
    truncateSync(copy(1), statSync(copy(1)).size - 20);
    await using((store) => store.append([{ ledger: "hurt", events: [event(12)] }]));
    loseDatabase();
    expect(await using(async (store) => seqs(await all(store, "hurt")))).toEqual(upTo(12));
  });

  it("of a ledger that several processes append to misses nothing", async () => {
    await Promise.all([1, 2, 3].map(() => startChild("appender.ts", [file, "well", "40"]).ended));
    loseDatabase();
    expect(await using(async (store) => seqs(await all(store, "well")))).toEqual(upTo(130));
  });

  it("goes with its ledger, at the next collection where a killed process left it", async () => {
    await using((store) => store.remove("hurt"));
    expect(existsSync(copy(1))).toEqual(false);
    writeFileSync(copy(1), "left behind\n");
    await using((store) => store.collect());
    expect(readdirSync(`${file}.copies`)).toEqual(["2.jsonl"]);
  });

  it("that cannot be written refuses nothing", async () => {
    rmSync(`${file}.copies`, { recursive: true });
    writeFileSync(`${file}.copies`, "not a folder");
    expect(await using((store) => code(store.append([{ ledger: "hurt", events: [event(11)] }])))).toEqual("ok");
  });
});

describe("one changed row", () => {
  beforeEach(() => change("UPDATE events SET data = replace(data, '6', '7') WHERE key = (1 << 32) + 6"));

  it("costs nothing: its ledger reads to the end, takes no more until it is repaired, and the others go on", async () => {
    for (const _ of ["at first", "after a restart"]) {
      await using(async (store) => {
        for (const _again of [1, 2]) expect(seqs(await all(store, "hurt"))).toEqual(upTo(10));
        expect([store.readOnly, await code(store.append([{ ledger: "hurt", events: [event(11)] }]))]).toEqual([
          undefined,
          "damaged",
        ]);
        expect(await code(store.append([{ ledger: "well", events: [event(99)] }]))).toEqual("ok");
        expect((await store.verify()).damage.map(({ ledger, seq }) => ({ ledger, seq }))).toEqual([
          { ledger: "hurt", seq: 6 },
        ]);
      });
    }
    await repairSqliteStore(file);
    await using(async (store) => {
      expect(await code(store.append([{ ledger: "hurt", events: [event(11)] }]))).toEqual("ok");
      expect([seqs(await all(store, "hurt")), (await store.verify()).damage]).toEqual([upTo(11), []]);
    });
  });

  it("is not replaced by a copy that proves nothing", async () => {
    const text = readFileSync(copy(1), "utf8");
    writeFileSync(copy(1), text.replaceAll("6", "5"));
    appendFileSync(copy(1), '{"seq":6,"data":\n{"data":{}}\n\0\0\0');
    await using(async (store) => expect(await code(all(store, "hurt"))).toEqual("damaged"));
  });
});
