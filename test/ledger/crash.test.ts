// Killed at any instant: what was acknowledged is there, and what was not is there whole or not at all.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { blobHash } from "../../src/ledger/checksum.ts";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import { all, collect, event } from "../../src/testing/store-conformance-steps.ts";
import { startChild } from "./children/spawn.ts";

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-crash-"));
  file = join(folder, "p.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("kill -9", () => {
  it("in the middle of appending loses no acknowledged event, twelve times over", async () => {
    const acknowledged: string[] = [];
    for (let round = 0; round < 12; round++) {
      const children = ["a", "b"].map((ledger) => startChild("appender.ts", [file, ledger]));
      await Promise.all(children.map((child) => child.printed(5)));
      await sleep((round * 7) % 40);
      for (const child of children) child.process.kill("SIGKILL");
      await Promise.all(children.map((child) => child.ended));
      acknowledged.push(...children.flatMap((child) => child.lines));
      const store = await openSqliteStore(file);
      const found = [...(await all(store, "a")), ...(await all(store, "b"))].map((one) => one.id);
      expect(acknowledged.filter((id) => !found.includes(id))).toEqual([]);
      expect([store.readOnly, found.length - acknowledged.length <= 2 * (round + 1), new Set(found).size]).toEqual([
        undefined,
        true,
        found.length,
      ]);
      const first = acknowledged.at(-1)!.replace(/\d+$/, "0");
      expect((await store.blob(blobHash(Buffer.from(first.repeat(1000)))))?.length).toEqual(first.length * 1000);
      expect((await store.verify()).damage).toEqual([]);
      await store.close();
    }
    console.log(`kill -9: ${acknowledged.length} acknowledged, 0 lost`);
  }, 120_000);

  for (const [point, survives] of [
    ["append.before-commit", 4],
    ["append.committed", 5],
    ["append.before-bell", 5],
  ] as const) {
    it(`at ${point} leaves ${survives} events and no damage`, async () => {
      const child = startChild("appender.ts", [file, "a"], { HOLDFAST_CRASH_AT: `${point}:5` });
      await child.ended;
      const store = await openSqliteStore(file);
      expect([child.process.signalCode, child.lines.length, (await all(store, "a")).length]).toEqual([
        "SIGKILL",
        4,
        survives,
      ]);
      expect([store.readOnly, (await store.verify()).damage]).toEqual([undefined, []]);
      await store.close();
    });
  }

  it("before the bell: a watcher learns of the commit within two seconds", async () => {
    const store = await openSqliteStore(file);
    await store.append([{ ledger: "other", events: [event(1)] }]);
    const seen = collect(store.watchAll(AbortSignal.timeout(2_500)));
    await startChild("appender.ts", [file, "a"], { HOLDFAST_CRASH_AT: "append.before-bell:1" }).ended;
    expect(await seen).toEqual([{ ledger: "a", seq: 1 }]);
    await store.close();
  });
});
