// The master is cut off together with a replica that confirms, and all Sentinels are on the other side: what `replicas=N` is worth then.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { acknowledgedBy, type Comparison, compare } from "./acknowledged.ts";
import { type Cluster, SERVERS, startCluster, until } from "./cluster.ts";
import { asAnotherComputer, type RunningChild, startChild } from "./machines.ts";
import { canCut, mustCut, type Network, openNetwork } from "./network.ts";
import { keptIn, NOTHING_WRONG, publishPromise } from "./promise.ts";

const LONG = Boolean(process.env.HOLDFAST_LONG);
const CUT_MS = 5_000;

let dir: string;
let network: Network;
let end: Cluster["close"] | undefined;
const running: RunningChild[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "holdfast-elsewhere-"));
  network = openNetwork([...SERVERS, "apart", "beyond"]);
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((child) => child.kill()));
  await end?.();
  network.close();
  rmSync(dir, { recursive: true, force: true });
});

async function cutOffTogether(replicas: number): Promise<Comparison> {
  const settings = { "min-replicas-to-write": "1", "min-replicas-max-lag": "2" };
  const cluster = await startCluster({ network, dir, settings, sentinelsAt: ["three", "apart", "beyond"] });
  end = cluster.close;
  const place = cluster.place(replicas);
  // The first one has found its master before the cut, and asks no Sentinel while its connection lives.
  for (const where of ["one", "apart"]) {
    const inside = [...network.machine(where).inside, ...asAnotherComputer(dir)];
    running.push(startChild("writer.ts", [place, "shared", where, "10", "2000"], inside));
  }
  await Promise.all(running.map((child) => child.said((_, at) => at > 20)));
  network.cut("one", "two");
  await until(() => cluster.isMaster("three"));
  await sleep(CUT_MS);
  network.heal("one", "two");
  await cluster.whole("three");
  const before = running.map((child) => child.lines.length);
  await Promise.all(running.map((child, i) => child.said((line, at) => at > before[i]! + 10 && "seq" in line)));
  await Promise.all(running.map((child) => child.end()));
  const { events } = await keptIn(place, ["shared"], network.machine("apart").inside);
  const result = compare(acknowledgedBy(running), events);
  running.length = 0;
  publishPromise(`master and a replica cut off from all Sentinels, replicas=${replicas}`, result);
  console.log(
    `cut off with a replica, replicas=${replicas}: ${result.lost} of ${result.acknowledged} acknowledged lost`,
  );
  return result;
}

describe.skipIf(!LONG || (!canCut && !mustCut))("a master that is cut off with a replica", { timeout: 120_000 }, () => {
  it("loses nothing acknowledged where all replicas confirm", async () => {
    expect(await cutOffTogether(2)).toEqual({ ...NOTHING_WRONG, acknowledged: expect.any(Number) });
  });

  it("loses what only the replica beside it confirmed: Sentinels belong beside the servers", async () => {
    expect((await cutOffTogether(1)).lost).toBeGreaterThan(0);
  });
});
