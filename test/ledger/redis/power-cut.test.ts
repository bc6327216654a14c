// The power is cut under a store at work: the disk as it was at that instant is mounted anew, and what was acknowledged before must be on it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { acknowledgedBy, type Comparison, compare } from "./acknowledged.ts";
import { canMountImages, createDisk, type Disk, mountDisk } from "./disk-image.ts";
import { type RunningChild, startChild } from "./machines.ts";
import { keptIn, NOTHING_WRONG, publishPromise } from "./promise.ts";
import { ALWAYS, canServe, type RedisServer, startServer } from "./servers.ts";

const CUTS = process.env.HOLDFAST_LONG ? 20 : 1;
const LEDGERS = ["a", "b", "c", "d"];

let dir: string;
const disks: Disk[] = [];
const servers: RedisServer[] = [];
const running: RunningChild[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "holdfast-power-"));
});
afterEach(async () => {
  await endAll();
  rmSync(dir, { recursive: true, force: true });
});

async function endAll(): Promise<void> {
  await Promise.all(running.splice(0).map((child) => child.kill()));
  await Promise.all(servers.splice(0).map((server) => server.kill()));
  await Promise.all(disks.splice(0).map((disk) => disk.close()));
}

function putIn(disk: Disk): Disk {
  disks.push(disk);
  return disk;
}

interface RedisHow {
  appendfsync: string;
  /** A replica elsewhere, which keeps its power, confirms each write. */
  replica?: true;
}

type How = RedisHow | "sqlite";

async function serve(disk: Disk, { appendfsync }: RedisHow, port?: number): Promise<RedisServer> {
  const settings = { ...ALWAYS, appendfsync, "repl-diskless-sync-delay": "0" };
  const server = await startServer({
    dir: disk.at,
    settings,
    inside: disk.inside,
    ...(port !== undefined && { port }),
  });
  servers.push(server);
  return server;
}

async function follow(master: RedisServer): Promise<RedisServer> {
  const settings = { replicaof: `127.0.0.1 ${master.port}` };
  const replica = await startServer({ dir: mkdtempSync(join(dir, "replica-")), settings });
  await expect.poll(() => master.ask("INFO", "replication"), { timeout: 30_000 }).toContain("state=online");
  return replica;
}

interface Cut extends Comparison {
  damage: unknown;
  durability: unknown;
}

/** Writes for a while, cuts, and compares what was acknowledged before the cut with what a new start on the copy has. */
async function cutOnce(how: How, afterMs: number): Promise<Cut> {
  const disk = putIn(await createDisk(join(dir, "disk")));
  const master = how === "sqlite" ? undefined : await serve(disk, how);
  const replica = how !== "sqlite" && how.replica && master ? await follow(master) : undefined;
  const place = master ? `redis://127.0.0.1:${master.port}/0?project=p` : join(disk.at, "p.db");
  for (const name of LEDGERS)
    running.push(startChild("writer.ts", [place, name, name, "1"], master ? [] : disk.inside));
  await Promise.all(running.map((child) => child.said((_, at) => at >= 20)));
  await sleep(afterMs);
  const said = acknowledgedBy(running);
  const [first = {}] = running[0]?.lines ?? [];
  const copy = join(dir, "copy");
  await disk.copyAtThisInstant(copy, master ? [master.pid] : running.map((child) => child.pid));
  await endAll();
  const again = putIn(await mountDisk(copy));
  if (replica) servers.push(replica);
  if (how !== "sqlite") await serve(again, how, master?.port);
  if (replica) await expect.poll(() => replica.ask("INFO", "replication"), { timeout: 30_000 }).toContain("status:up");
  const found = await keptIn(master ? place : join(again.at, "p.db"), LEDGERS, master ? [] : again.inside);
  await endAll();
  const durability = "durability" in first ? first.durability : undefined;
  return { ...compare(said, found.events), damage: found.damage, durability };
}

async function cutOften(how: How, leastMs: number): Promise<Comparison & { damage: unknown[]; durability: unknown }> {
  const total = { acknowledged: 0, ...NOTHING_WRONG, damage: [] as unknown[], durability: undefined as unknown };
  for (let i = 0; i < CUTS; i++) {
    const { damage, durability, ...counts } = await cutOnce(how, leastMs + ((i * 337) % 1_500));
    for (const [key, count] of Object.entries(counts) as [keyof Comparison, number][]) total[key] += count;
    if (Array.isArray(damage)) total.damage.push(...damage);
    else total.damage.push(damage);
    total.durability = durability;
  }
  return total;
}

/** Contract: on a build server that runs as root the disks must be there, or the tests fail. */
const canCutPower = canMountImages && canServe;
const mustBeThere = process.env.CI === "true" && process.getuid?.() === 0;

describe.skipIf(!canCutPower && !mustBeThere)("a power cut", { timeout: 60_000 * CUTS }, () => {
  it.each([
    { name: "Redis with appendfsync always", how: { appendfsync: "always" }, class: "power-safe" },
    {
      name: "Redis with appendfsync always and a replica that confirms",
      how: { appendfsync: "always", replica: true as const },
      class: "replica-confirmed",
    },
    { name: "SQLite", how: "sqlite" as const, class: "power-safe" },
  ])("takes nothing acknowledged from $name", async (one) => {
    const result = await cutOften(one.how, 500);
    publishPromise(`power cut, ${CUTS} times, ${one.name}`, result);
    expect(result).toEqual({
      ...NOTHING_WRONG,
      acknowledged: expect.any(Number),
      damage: [],
      durability: { class: one.class, says: expect.any(String) },
    });
  });

  // A master that starts again without its last second is followed by its replicas, which throw away what they had of it.
  it.each([
    { name: "Redis with appendfsync everysec", how: { appendfsync: "everysec" } },
    {
      name: "Redis with appendfsync everysec and a replica that confirms",
      how: { appendfsync: "everysec", replica: true as const },
    },
  ])("takes the last of what was acknowledged from $name, and the store says so beforehand", async ({ name, how }) => {
    const { lost, acknowledged, ...others } = await cutOften(how, 2_500);
    publishPromise(`power cut, ${CUTS} times, ${name}`, { lost, acknowledged, ...others });
    console.log(`power cut, ${name}: ${lost} of ${acknowledged} acknowledged lost`);
    const { lost: _, ...nothingElse } = NOTHING_WRONG;
    const says = expect.stringContaining("appendfsync everysec");
    expect(others).toEqual({ ...nothingElse, damage: [], durability: { class: "up-to-a-second", says } });
  });
});
