// A failover under a store: Sentinels find the new master, and nothing that was acknowledged is lost.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { openRedisStore } from "../../src/ledger/redis/index.ts";
import { all, event } from "../../src/testing/store-conformance-steps.ts";
import { freePort, hasRedis, startRedis } from "./redis-server.ts";

const DURABLE = ["--appendonly", "yes", "--appendfsync", "always", "--repl-diskless-sync-delay", "0"];

async function startSentinel(master: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-sentinel-"));
  const port = await freePort();
  const lines = [
    `port ${port}`,
    "bind 127.0.0.1",
    `dir ${folder}`,
    `logfile ${join(folder, "log")}`,
    `sentinel monitor main 127.0.0.1 ${master} 2`,
    "sentinel down-after-milliseconds main 600",
    "sentinel failover-timeout main 3000",
  ];
  writeFileSync(join(folder, "conf"), `${lines.join("\n")}\n`);
  const child: ChildProcess = spawn("redis-server", [join(folder, "conf"), "--sentinel"], { stdio: "ignore" });
  onTestFinished(async () => {
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  return port;
}

describe.runIf(hasRedis())("three servers and three Sentinels", () => {
  it.each([
    ["is killed", true],
    ["stands still, and comes back believing that it is the master", false],
  ])(
    "lose nothing that was acknowledged when the master %s, and the store goes on",
    async (_, isKilled) => {
      const master = await startRedis(DURABLE);
      onTestFinished(() => master.stop());
      const follow = [...DURABLE, "--replicaof", "127.0.0.1", String(master.port)];
      const replicas = [await startRedis(follow), await startRedis(follow)];
      for (const replica of replicas) onTestFinished(() => replica.stop());
      for (let i = 0; i < 500 && !master.cli("INFO", "replication").includes("connected_slaves:2"); i++)
        await sleep(20);
      const sentinels = [
        await startSentinel(master.port),
        await startSentinel(master.port),
        await startSentinel(master.port),
      ];
      await sleep(3_000); // they find each other, and the replicas
      const hosts = sentinels.map((port) => `127.0.0.1:${port}`).join(",");
      const store = await openRedisStore(`redis+sentinel://${hosts}/main?project=p&replicas=1`);
      onTestFinished(() => store.close());
      expect(store.durability.class).toEqual("replica-confirmed");
      const acknowledged: number[] = [];
      let going = true;
      const writing = (async () => {
        for (let n = 0; going; n++) {
          await store.append([{ ledger: "l", events: [event(n, { id: `e${n}` })] }]);
          acknowledged.push(n);
        }
      })();
      await sleep(500);
      const before = acknowledged.length;
      if (isKilled) await master.kill();
      else master.freeze();
      for (let i = 0; i < 1_000 && acknowledged.length < before + 50; i++) await sleep(20);
      if (!isKilled) {
        master.thaw();
        const then = acknowledged.length;
        for (let i = 0; i < 1_000 && acknowledged.length < then + 200; i++) await sleep(20);
      }
      going = false;
      await writing;
      const kept = (await all(store, "l")).map(({ id }) => id);
      expect(kept).toEqual(acknowledged.map((n) => `e${n}`));
      expect(acknowledged.length).toBeGreaterThan(before);
      expect((await store.verify()).damage).toEqual([]);
    },
    90_000,
  );
});
