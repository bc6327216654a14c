// Killed at any instant, writers and the server too: what was acknowledged is there, and what was not is there whole or not at all.
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { openRedisStore } from "../../src/ledger/redis/index.ts";
import { all } from "../../src/testing/store-conformance-steps.ts";
import { startChild } from "./children/spawn.ts";
import { hasRedis, startRedis } from "./redis-server.ts";

describe.runIf(hasRedis())("kill -9 around a Redis store", () => {
  it("in the middle of appending loses no acknowledged event, of the writers or of the server", async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    const url = server.url("p");
    const acknowledged: string[] = [];
    for (let round = 0; round < 6; round++) {
      const children = ["a", "b"].map((ledger) => startChild("appender.ts", [url, ledger]));
      await Promise.all(children.map((child) => child.printed(15)));
      await sleep((round * 7) % 40);
      if (round % 2 === 0) {
        await server.kill();
        await server.start();
        const more = children.map((child) => child.printed(child.lines.length + 5));
        await Promise.all(more); // they go on by themselves
      }
      for (const child of children) child.process.kill("SIGKILL");
      await Promise.all(children.map((child) => child.ended));
      acknowledged.push(...children.flatMap((child) => child.lines));
      const store = await openRedisStore(url);
      const found = [...(await all(store, "a")), ...(await all(store, "b"))].map((one) => one.id);
      expect(acknowledged.filter((id) => !found.includes(id))).toEqual([]);
      expect([found.length - acknowledged.length <= 2 * (round + 1), new Set(found).size]).toEqual([
        true,
        found.length,
      ]);
      expect((await store.verify()).damage).toEqual([]);
      await store.close();
    }
  }, 120_000);

  it.each([
    ["append.before-commit", 4],
    ["append.committed", 5],
  ])("at %s leaves %i events and no damage", async (point, survives) => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    const url = server.url("p");
    const child = startChild("appender.ts", [url, "a"], { HOLDFAST_CRASH_AT: `${point}:5` });
    await child.ended;
    const store = await openRedisStore(url);
    onTestFinished(() => store.close());
    expect([child.process.signalCode, child.lines.length, (await all(store, "a")).length]).toEqual([
      "SIGKILL",
      4,
      survives,
    ]);
    expect((await store.verify()).damage).toEqual([]);
  });
});
