// What a second copy proves, and what it does not: lines that were changed, are of another ledger, or of a time that was taken back.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { blobHash } from "../../src/ledger/checksum.ts";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import { repairSqliteStore } from "../../src/ledger/sqlite/repair.ts";
import type { Store } from "../../src/ledger/store.ts";
import { all, code, collect, event, seqs } from "../../src/testing/store-conformance-steps.ts";
import { startChild } from "./children/spawn.ts";

let folder: string;
let file: string;
const copy = (n: number) => join(`${file}.copies`, `${n}.jsonl`);
const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1);

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-proof-"));
  file = join(folder, "p.db");
  await fill(1, 10);
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

const fill = (from: number, to: number, more = {}) =>
  using(async (store) => {
    for (let i = from; i <= to; i++) await store.append([{ ledger: "l", events: [event(i, more)] }]);
  });
const read = () => using((store) => all(store, "l"));

function change(sql: string): void {
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
}

function lose(...parts: string[]): void {
  for (const part of parts) rmSync(file + part, { force: true });
}
const loseDatabase = () => lose("", "-wal", "-shm", ".heads");

/** Puts the store back to what `body` found; the copies stay. */
async function takeBack(body: () => Promise<unknown>, parts: string[]): Promise<void> {
  for (const part of parts) cpSync(file + part, join(folder, `old${part}`));
  await body();
  lose("", "-wal", "-shm");
  for (const part of parts) cpSync(join(folder, `old${part}`), file + part);
}

describe("lines that nobody wrote", () => {
  const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
  const row = (fields: string, data = "1") => `{"seq":11,${fields},"data":${data}}`;
  for (const [what, line] of [
    ["an id that is no text", row('"id":{"toString":1,"valueOf":1},"sum":"00"')],
    ["a name that is no text", '{"seq":1,"name":{"toString":1,"valueOf":1},"sum":"00","data":1}'],
    ["a name that is a number", '{"seq":1,"name":7,"sum":"00","data":1}'],
    ["touches of great depth", row(`"id":"x","sum":"00","touches":${deep}`)],
    ["data of great depth", row('"id":"x","at":1,"type":"t","v":1,"actor":"a","sum":"00","touches":null', deep)],
    ["a summary of no text", '{"of":{"toString":1,"valueOf":1},"name":"l","check":"00","summary":1}'],
    ["other prototypes", row('"__proto__":{"seq":3},"id":"x","sum":"00"')],
    ["numbers beyond numbers", '{"seq":1e400,"id":"x","at":-0,"sum":"00","data":1}'],
    ["bytes that are no text", Buffer.from([0xff, 0xfe, 0x00, 0xc0, 0x80])],
    ["a line of 40 MB", Buffer.alloc(40 << 20, 0)],
  ] as const) {
    it(`${what}: salvage and repair take the others`, async () => {
      writeFileSync(copy(1), Buffer.concat([Buffer.from(line), Buffer.from("\n"), readFileSync(copy(1))]));
      loseDatabase();
      expect(seqs(await read())).toEqual(upTo(10));
      expect(await repairSqliteStore(file)).toMatchObject({ ledgers: 1, events: 10, lost: 0 });
      expect(seqs(await read())).toEqual(upTo(10));
    });
  }

  it("in another order, twice, and with halves between them prove as much", async () => {
    const lines = readFileSync(copy(1), "utf8").trimEnd().split("\n");
    writeFileSync(copy(1), [...lines.toReversed(), lines[3]!.slice(0, 50), ...lines].join("\n"));
    loseDatabase();
    expect(seqs(await read())).toEqual(upTo(10));
  });

  it("a copy longer than any text can be is read all the same", async () => {
    truncateSync(copy(1), 600 << 20);
    await using((store) => store.append([{ ledger: "l", events: [event(11)] }]));
    loseDatabase();
    expect(seqs(await read())).toEqual(upTo(11));
  }, 120_000);

  it("texts that UTF-8 cannot hold are one row, not two: no time is lost on them", async () => {
    await fill(11, 50, { actor: "\ud800" });
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0, 0, 4096));
    expect(seqs(await read())).toEqual(upTo(50));
  });
});

describe("the copy of another ledger with the same number", () => {
  beforeEach(async () => {
    const other = join(folder, "other.db");
    const store = await openSqliteStore(other);
    for (let i = 1; i <= 30; i++) await store.append([{ ledger: "foreign", events: [event(i)] }]);
    await store.close();
    writeFileSync(copy(1), Buffer.concat([readFileSync(join(`${other}.copies`, "1.jsonl")), readFileSync(copy(1))]));
  });
  const names = () => using(async (store) => (await collect(store.list())).map((one) => one.ledger));

  it("does not stand in the way of what the pages prove", async () => {
    change("UPDATE events SET data = '0' WHERE key = (1 << 32) + 6");
    rmSync(copy(1));
    cpSync(join(folder, "other.db.copies", "1.jsonl"), copy(1));
    expect(await repairSqliteStore(file)).toMatchObject({ events: 5, lost: 5 });
    expect(seqs(await read())).toEqual(upTo(5));
  });

  it("is not taken for it when only copies are left", async () => {
    loseDatabase();
    expect([await names(), seqs(await read())]).toEqual([["l"], upTo(10)]);
  });
});

it("a bad row, and then its entry in the list of ledgers: still read to the end", async () => {
  change("UPDATE events SET data = '0' WHERE key = (1 << 32) + 6");
  await using(async (store) => {
    expect(seqs(await all(store, "l"))).toEqual(upTo(10));
    change("UPDATE ledgers SET summary = '{}'");
    expect(seqs(await all(store, "l"))).toEqual(upTo(10));
  });
});

describe("a store that was taken back to an older one", () => {
  it("without its heads gets everything back by a repair", async () => {
    await takeBack(() => fill(11, 20), [""]);
    expect(seqs(await read())).toEqual(upTo(20));
    expect(await repairSqliteStore(file)).toMatchObject({ events: 20, lost: 0 });
    expect(seqs(await read())).toEqual(upTo(20));
  });

  it("with its heads goes on from there, and one bad row brings no event of the other time", async () => {
    await takeBack(() => fill(11, 20), ["", ".heads"]);
    change("UPDATE events SET data = '0' WHERE key = (1 << 32) + 6");
    for (const _ of ["at first", "after a restart"]) expect(seqs(await read())).toEqual(upTo(10));
  });

  it("reads what came then, with one bad row and with no page left", async () => {
    await takeBack(() => fill(11, 20), ["", ".heads"]);
    await fill(11, 13, { actor: "then" });
    const before = await read();
    change("UPDATE events SET data = '0' WHERE key = (1 << 32) + 6");
    for (const _ of ["at first", "after a restart"]) expect(await read()).toEqual(before);
    lose("", "-wal", "-shm");
    expect(await read()).toEqual(before);
  });

  it("does not end without a word where only the other time is left", async () => {
    await takeBack(() => fill(11, 20), ["", ".heads"]);
    const other = readFileSync(copy(1));
    await fill(11, 13, { actor: "then" });
    writeFileSync(copy(1), other);
    lose("", "-wal", "-shm");
    expect(await code(read())).toEqual("damaged");
    expect((await repairSqliteStore(file)).lost > 0).toEqual(true);
  });
});

describe("after a repair", () => {
  it("the copies are whole again, and those of before are kept", async () => {
    const lines = readFileSync(copy(1), "utf8").split("\n");
    writeFileSync(copy(1), lines.filter((_, i) => i !== 2).join("\n"));
    change("UPDATE events SET data = '0' WHERE key = (1 << 32) + 6");
    expect(await repairSqliteStore(file)).toMatchObject({ events: 10, lost: 0 });
    await fill(11, 12);
    expect(statSync(`${file}.copies`).mode & 0o777).toEqual(0o700);
    const kept = readdirSync(folder).find((name) => name.includes(".damaged-"))!;
    expect(readdirSync(join(folder, kept)).some((name) => name.endsWith(".copies"))).toEqual(true);
    loseDatabase();
    expect(seqs(await read())).toEqual(upTo(12));
  });

  for (const point of ["repair.rebuilt", "repair.half-way", "repair.no-copies"]) {
    it(`that was cut off at ${point} the next one ends it, copies and all`, async () => {
      change("UPDATE events SET data = '0' WHERE key = (1 << 32) + 6");
      await startChild("repairer.ts", [file], { HOLDFAST_CRASH_AT: point }).ended;
      await repairSqliteStore(file);
      await fill(11, 12);
      expect((await using((store) => store.verify())).damage).toEqual([]);
      loseDatabase();
      expect(seqs(await read())).toEqual(upTo(12));
    });
  }

  it("a second one finds nothing to do", async () => {
    loseDatabase();
    await repairSqliteStore(file);
    expect(await repairSqliteStore(file)).toEqual({ damage: [], ledgers: 1, events: 10, lost: 0 });
  });

  it("what it could not put back is named: a blob has no second copy", async () => {
    const bytes = Buffer.from("bytes ".repeat(100));
    await using((store) => store.append([{ ledger: "l", events: [event(11)] }], { blobs: [bytes] }));
    change("UPDATE blobs SET data = zeroblob(length(data))");
    writeFileSync(file, readFileSync(file).fill(0, 0, 4096));
    const { damage, lost } = await repairSqliteStore(file);
    expect([lost, damage.filter((one) => one.what.includes(blobHash(bytes))).length]).toEqual([0, 1]);
  });

  it("while another process has the store open is refused", async () => {
    change("UPDATE events SET data = '0' WHERE key = (1 << 32) + 6");
    const other = await openSqliteStore(file);
    expect(await code(repairSqliteStore(file))).toEqual("busy");
    const kept = readdirSync(folder).find((name) => name.includes(".damaged-"))!;
    expect(readdirSync(join(folder, kept)).filter((name) => name.startsWith("rebuilt"))).toEqual([]);
    await other.append([{ ledger: "m", events: [event(1)] }]);
    await other.close();
    expect(await repairSqliteStore(file)).toMatchObject({ ledgers: 2, events: 11, lost: 0 });
  });
});
