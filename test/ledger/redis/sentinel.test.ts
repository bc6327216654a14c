// The master of a Redis under Sentinels is cut off together with one writer and the holder of a lease, another takes its place, and it comes back.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { acknowledgedBy, compare } from "./acknowledged.ts";
import { type Cluster, SERVERS, type ServerName, startCluster, until } from "./cluster.ts";
import { asAnotherComputer, type RunningChild, startChild } from "./machines.ts";
import { canCut, mustCut, type Network, openNetwork } from "./network.ts";
import { keptIn, NOTHING_WRONG, publishPromise } from "./promise.ts";

const ROUNDS = process.env.HOLDFAST_LONG ? 5 : 1;
const LEDGERS = ["shared", "apart", "held"];
const LEASE_MS = "2000";

let dir: string;
let network: Network;
let end: Cluster["close"] | undefined;
const running: RunningChild[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "holdfast-sentinel-"));
  network = openNetwork([...SERVERS, "apart"]);
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((child) => child.kill()));
  await end?.();
  end = undefined;
  network.close();
  rmSync(dir, { recursive: true, force: true });
});

interface Course {
  place: string;
  durability: unknown;
  /** What the store refused, of writers and of holders. */
  refused: unknown[];
  /** What became of an append under a lease that had been lost. */
  oldLeases: unknown[];
  /** How long the holder that was cut off had stopped by its own clock when another first wrote. */
  stillMs: number[];
}

/** Cuts the master off with a writer and a holder, waits for the failover, lets the others work, and heals; again with the new master. */
async function cutAndHeal(settings: Record<string, string>, replicas: number): Promise<Course> {
  const {
    isMaster,
    whole,
    place: placeWith,
    close,
  } = await startCluster({ network, dir, settings, sentinelsAt: SERVERS });
  end = close;
  const place = placeWith(replicas);
  const start = (script: string, where: string, args: string[]) => {
    const inside = [...network.machine(where).inside, ...asAnotherComputer(dir)];
    const child = startChild(script, [place, ...args, LEASE_MS], inside);
    running.push(child);
    return child;
  };
  const writers = SERVERS.map((name) => start("writer.ts", name, ["shared", `${name}-writer`, "10"]));
  writers.push(start("writer.ts", "apart", ["apart", "apart-writer", "10"]));
  const holders: RunningChild[] = [];
  for (const name of SERVERS) {
    const holder = start("lease-writer.ts", name, ["held", `${name}-holder`]);
    // The first one holds it first: it is beside the first master.
    await holder.said((line) => (name === "one" ? isHeld(line) : "ready" in line));
    holders.push(holder);
  }
  await Promise.all(writers.map((child) => child.said((_, at) => at > 20)));

  const stillMs: number[] = [];
  let master: ServerName = "one";
  for (let round = 0; round < ROUNDS; round++) {
    const others = SERVERS.filter((name) => name !== master);
    const before = new Map(running.map((child) => [child, child.lines.length]));
    const since = (child: RunningChild) => child.lines.slice(before.get(child));
    const heldBy = (name: ServerName) => since(holders[SERVERS.indexOf(name)]!);
    network.cut(master);
    await until(() => others.some(isMaster));
    // The other side goes on: a writer, and a holder that has taken the lease over.
    await until(() => since(writers.at(-1)!).some(isAcknowledged));
    await until(() => others.some((name) => heldBy(name).some(isHeld)));
    const stopped = heldBy(master).find(hasStopped);
    const began = others.flatMap((name) => heldBy(name).filter(isHeld))[0];
    if (stopped && began) stillMs.push(timeOf(began) - timeOf(stopped));
    network.heal(master);
    master = await onlyMaster(isMaster);
    await whole(master);
    const then = new Map(running.map((child) => [child, child.lines.length]));
    await until(() => writers.every((child) => child.lines.slice(then.get(child)).filter(isAcknowledged).length > 10));
  }
  await Promise.all(running.map((child) => child.end()));
  return {
    ...{ place, stillMs, durability: writers[0]!.lines[0] },
    ...{ refused: valuesOf("error"), oldLeases: valuesOf("answer") },
  };
}

/** Resolves when one of them, and no other, says that it is the master. */
async function onlyMaster(isMaster: Cluster["isMaster"]): Promise<ServerName> {
  let found: ServerName[] = [];
  await until(() => {
    found = SERVERS.filter(isMaster);
    return found.length === 1;
  });
  return found[0]!;
}

const isAcknowledged = (line: object): boolean => "seq" in line;
const isHeld = (line: object): boolean => "seq" in line && "term" in line;
/** By its deadline, or because the store refused it or was not heard of before. */
const hasStopped = (line: object): boolean => "stopped" in line || ("error" in line && "term" in line);
const timeOf = (line: object): number => ("at" in line ? Number(line.at) : Number.NaN);

/** What children said under that name, each once. */
const valuesOf = (key: string): unknown[] => {
  const said = running.flatMap((child) => child.lines.flatMap((line) => Object.entries(line)));
  return [...new Set(said.flatMap(([name, value]) => (name === key ? [value] : [])))];
};

const keptAfter = (course: Course) => keptIn(course.place, LEDGERS, network.machine("apart").inside);

describe.skipIf(!canCut && !mustCut)(
  "a master of Redis that is cut off",
  { timeout: 120_000 + 60_000 * ROUNDS },
  () => {
    it("with min-replicas and replicas that confirm: nothing acknowledged is lost, no place and no term is given twice", async () => {
      const course = await cutAndHeal({ "min-replicas-to-write": "1", "min-replicas-max-lag": "2" }, 1);
      const { events, damage } = await keptAfter(course);
      const result = compare(acknowledgedBy(running), events);
      publishPromise(`master cut off, ${ROUNDS} times, min-replicas and WAIT`, result);
      console.log(`cut off with WAIT: ${result.acknowledged} acknowledged, ${result.lost} lost; ${told(course)}`);
      expect({ ...result, damage, durability: course.durability }).toEqual({
        ...NOTHING_WRONG,
        acknowledged: expect.any(Number),
        damage: [],
        durability: {
          durability: { class: "replica-confirmed", says: expect.stringMatching(/^1 of 2 replicas confirms/) },
        },
      });
      expect(course.refused.filter((code) => !MAY_BE_REFUSED.includes(code))).toEqual([]);
      expect(course.oldLeases).toContain("fenced");
      running.length = 0;
    });

    it("with what Redis does by itself: acknowledged work is lost, and the store says so beforehand", async () => {
      const course = await cutAndHeal({}, 0);
      const { events, damage } = await keptAfter(course);
      const result = compare(acknowledgedBy(running), events);
      publishPromise(`master cut off, ${ROUNDS} times, defaults`, result);
      console.log(`cut off with defaults: ${result.lost} of ${result.acknowledged} acknowledged lost; ${told(course)}`);
      expect({ damage, durability: course.durability, doubled: result.doubled, loses: result.lost > 0 }).toEqual({
        damage: [],
        durability: { durability: { class: "failover-may-lose", says: expect.stringContaining("replicas=0") } },
        doubled: 0,
        loses: true,
      });
      expect(course.refused.filter((code) => !MAY_BE_REFUSED.includes(code))).toEqual([]);
      running.length = 0;
    });
  },
);

/** What holders and writers may be told while a master is gone. */
const MAY_BE_REFUSED: unknown[] = ["fenced", "rolled_back", "unreachable"];

const told = ({ refused, oldLeases, stillMs }: Course): string =>
  `refused: ${refused.join(", ")}; under old leases: ${oldLeases.join(", ")}; still for ${stillMs.join(", ")} ms before another began`;
