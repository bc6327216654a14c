// The server is killed by `kill -9` while four processes append: what was acknowledged is there, once, where it was said to be.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { acknowledgedBy, compare } from "./acknowledged.ts";
import { type RunningChild, startChild } from "./machines.ts";
import { keptIn, NOTHING_WRONG, publishPromise } from "./promise.ts";
import { ALWAYS, canServe, type RedisServer, startServer } from "./servers.ts";

const KILLS = process.env.HOLDFAST_LONG ? 20 : 3;

let dir: string;
let server: RedisServer;
const running: RunningChild[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "holdfast-killed-"));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((child) => child.kill()));
  await server?.kill();
  rmSync(dir, { recursive: true, force: true });
});

/** Contract: on a build server Redis must be there, or the tests fail. */
describe.skipIf(!canServe && process.env.CI !== "true")("a Redis server that is killed", () => {
  it.each([
    { sync: "always", class: "power-safe" },
    { sync: "everysec", class: "up-to-a-second" },
  ])("with appendfsync $sync has all that was acknowledged, and stores that were open go on", async (how) => {
    server = await startServer({ dir: join(dir, "data"), settings: { ...ALWAYS, appendfsync: how.sync } });
    const place = `redis://127.0.0.1:${server.port}/0?project=p`;
    for (const name of ["a", "b", "c", "d"])
      running.push(startChild("writer.ts", [place, name < "c" ? "shared" : name, name, "1"]));
    for (let i = 0; i < KILLS; i++) {
      const before = running.map((child) => child.lines.length);
      await Promise.all(running.map((child, n) => child.said((_, at) => at >= before[n]! + 20)));
      await sleep((i * 37) % 100);
      await server.kill();
      await server.startAgain();
    }
    const before = running.map((child) => child.lines.length);
    await Promise.all(running.map((child, n) => child.said((_, at) => at >= before[n]! + 20)));
    await Promise.all(running.map((child) => child.end()));
    const kept = await keptIn(place, ["shared", "c", "d"]);
    const said = acknowledgedBy(running);
    const result = compare(said, kept.events);
    publishPromise(`kill -9 of the server, ${KILLS} times, appendfsync ${how.sync}`, result);
    expect({
      ...result,
      damage: kept.damage,
      durability: running.map((child) => child.lines[0]),
      errors: running.flatMap((child) => child.lines.filter((line) => "error" in line)),
    }).toEqual({
      ...NOTHING_WRONG,
      acknowledged: said.length,
      damage: [],
      durability: running.map(() => ({ durability: { class: how.class, says: expect.any(String) } })),
      errors: [],
    });
    running.length = 0;
  });
});
