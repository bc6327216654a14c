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

async function serve(disk: Disk, appendfsync: string): Promise<string> {
  const settings = { ...ALWAYS, appendfsync };
  const server = await startServer({ dir: disk.at, settings, inside: disk.inside });
  servers.push(server);
  return `redis://127.0.0.1:${server.port}/0?project=p`;
}

/** Writes for a while, cuts, and compares what was acknowledged before the cut with what a new start on the copy has. */
async function cutOnce(
  store: { appendfsync: string } | "sqlite",
  afterMs: number,
): Promise<Comparison & { damage: unknown }> {
  const disk = putIn(await createDisk(join(dir, "disk")));
  const isSqlite = store === "sqlite";
  const place = isSqlite ? join(disk.at, "p.db") : await serve(disk, store.appendfsync);
  const inside = isSqlite ? disk.inside : [];
  for (const name of LEDGERS) running.push(startChild("writer.ts", [place, name, name, "1"], inside));
  await Promise.all(running.map((child) => child.said((_, at) => at >= 20)));
  await sleep(afterMs);
  const said = acknowledgedBy(running);
  const copy = join(dir, "copy");
  await disk.copyAtThisInstant(
    copy,
    (isSqlite ? running : servers).map((one) => one.pid),
  );
  await endAll();
  const again = putIn(await mountDisk(copy));
  const found = isSqlite
    ? await keptIn(join(again.at, "p.db"), LEDGERS, again.inside)
    : await keptIn(await serve(again, store.appendfsync), LEDGERS);
  await endAll();
  return { ...compare(said, found.events), damage: found.damage };
}

async function cutOften(
  store: { appendfsync: string } | "sqlite",
  leastMs: number,
): Promise<Comparison & { damage: unknown[] }> {
  const total = { acknowledged: 0, ...NOTHING_WRONG, damage: [] as unknown[] };
  for (let i = 0; i < CUTS; i++) {
    const { damage, ...counts } = await cutOnce(store, leastMs + ((i * 337) % 1_500));
    for (const [key, count] of Object.entries(counts) as [keyof Comparison, number][]) total[key] += count;
    if (Array.isArray(damage)) total.damage.push(...damage);
    else total.damage.push(damage);
  }
  return total;
}

/** Contract: on a build server that runs as root the disks must be there, or the tests fail. */
const canCutPower = canMountImages && canServe;
const mustBeThere = process.env.CI === "true" && process.getuid?.() === 0;

describe.skipIf(!canCutPower && !mustBeThere)("a power cut", () => {
  it.each([
    { name: "Redis with appendfsync always", store: { appendfsync: "always" } },
    { name: "SQLite", store: "sqlite" as const },
  ])("takes nothing acknowledged from $name", { timeout: 60_000 * CUTS }, async ({ name, store }) => {
    const result = await cutOften(store, 500);
    publishPromise(`power cut, ${CUTS} times, ${name}`, result);
    expect(result).toEqual({ ...NOTHING_WRONG, acknowledged: expect.any(Number), damage: [] });
  });

  it("takes what Redis with appendfsync everysec had not synced yet", { timeout: 60_000 * CUTS }, async () => {
    const { lost, ...others } = await cutOften({ appendfsync: "everysec" }, 2_500);
    publishPromise(`power cut, ${CUTS} times, Redis with appendfsync everysec`, { lost, ...others });
    console.log(`power cut with appendfsync everysec: ${lost} of ${others.acknowledged} acknowledged lost`);
    const { lost: _, ...nothingElse } = NOTHING_WRONG;
    expect(others).toEqual({ ...nothingElse, acknowledged: expect.any(Number), damage: [] });
  });
});
