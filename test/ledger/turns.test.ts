// Writers that find the store busy: they go in the order in which they came, and one that lost keeps its place.

import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HoldfastError } from "../../src/ledger/error.ts";
import { monotonicMs } from "../../src/ledger/holder.ts";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import type { Queue } from "../../src/ledger/sqlite/queue.ts";
import { createTurns } from "../../src/ledger/sqlite/turns.ts";

const BUSY = 5;

/** One lock and one queue that several writers use as processes do; what happened is told in order. */
function room() {
  const waiting = new Map<string, number>();
  const told: string[] = [];
  let holder: string | undefined;
  const begin = (name: string) => {
    if (holder !== undefined) throw Object.assign(new Error("busy"), { errcode: BUSY });
    holder = name;
  };
  const end = () => {
    holder = undefined;
  };
  const writer = (name: string) => {
    const queue: Queue = {
      ahead: (since) => [...waiting].filter(([other, at]) => other !== name && at < since).length,
      announce: (since) => void waiting.set(name, since),
      withdraw: () => void waiting.delete(name),
      close() {},
    };
    const inTurn = createTurns(queue, () => begin(name));
    return (since?: number, refuse?: () => boolean) =>
      inTurn((pass) => {
        try {
          if (refuse?.()) throw new HoldfastError("conflict", "changed meanwhile");
          pass();
          told.push(name);
        } finally {
          end();
        }
      }, since);
  };
  return { waiting, told, begin, end, writer };
}

describe("writers of several processes", () => {
  it("go in the order in which they came, once one has had to wait", async () => {
    const { told, begin, end, writer, waiting } = room();
    const [a, b, c] = [writer("a"), writer("b"), writer("c")];
    begin("someone else");
    const all = [a()];
    for (const next of [b, c]) {
      await sleep(5);
      all.push(next());
    }
    await sleep(100); // all have waited long enough to be announced
    end();
    await Promise.all(all);
    expect([told, [...waiting]]).toEqual([["a", "b", "c"], []]);
  });

  it("let one that met a conflict come again before those that came later", async () => {
    const { told, writer, waiting } = room();
    const [a, b] = [writer("a"), writer("b")];
    const since = monotonicMs() - 1;
    await expect(a(since, () => true)).rejects.toMatchObject({ code: "conflict" });
    const later = b();
    await sleep(100);
    expect([told, [...waiting.keys()]]).toEqual([[], ["a", "b"]]);
    await a(since);
    await later;
    expect([told, [...waiting]]).toEqual([["a", "b"], []]);
  });

  it("are not held up by one that was refused for good", async () => {
    const { told, writer, waiting } = room();
    const [a, b] = [writer("a"), writer("b")];
    const since = monotonicMs() - 1;
    await expect(a(since, () => true)).rejects.toMatchObject({ code: "conflict" });
    const refused = a(since, () => {
      throw new HoldfastError("invalid", "no");
    });
    await expect(refused).rejects.toMatchObject({ code: "invalid" });
    await b();
    expect([told, [...waiting]]).toEqual([["b"], []]);
  });
});

describe("a store with several writers", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "holdfast-turns-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("keeps room for its log once, not once for each of them", async () => {
    const file = join(folder, "p.db");
    const stores = await Promise.all(Array.from({ length: 4 }, () => openSqliteStore(file)));
    const write = { ledger: "x", events: [{ type: "test.written", actor: "t", data: 1 }] };
    for (let i = 0; i < 40; i++) await stores[i % stores.length]!.append([write]);
    expect(statSync(`${file}-wal`).size).toBeLessThanOrEqual(2 << 20);
    for (const store of stores) await store.close();
  });

  it("leaves the log to those who still write when one closes; the last one moves it into the file", async () => {
    const file = join(folder, "p.db");
    const [first, second] = [await openSqliteStore(file), await openSqliteStore(file)];
    const write = { ledger: "x", events: [{ type: "test.written", actor: "t", data: 1 }] };
    await first.append([write]);
    await first.close();
    expect(existsSync(`${file}-wal`)).toEqual(true);
    await second.append([write]);
    await second.close();
    expect(existsSync(`${file}-wal`)).toEqual(false);
    const third = await openSqliteStore(file);
    expect([await third.head("x"), (await third.verify()).damage]).toEqual([2, []]);
    await third.close();
  });
});
