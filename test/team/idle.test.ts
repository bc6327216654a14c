// What an idle team costs: no request, next to no processor time, little memory. A minute long in `npm run test:long`.
import fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { type Fleet, openFleet } from "./fleet.ts";
import { seenIn } from "./world.ts";

const LONG = process.env.HOLDFAST_LONG === "1";
const WATCHED_MS = LONG ? 60_000 : 3_000;
const TICKS_A_SECOND = 100;

const fleets: Fleet[] = [];
afterEach(async () => {
  for (const fleet of fleets.splice(0)) await fleet.close();
});

const cpuMs = (pid: number): number => {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_A_SECOND;
};

const residentKb = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, "utf8"))![1]);

async function idleFleet(count: number): Promise<{ fleet: Fleet; pid: number }> {
  const mates = Array.from({ length: count }, (_, i) => `mate${i}`);
  const fleet = await openFleet({
    mates,
    tasks: [],
    workers: 1,
    script(request) {
      const { agent, last, since } = seenIn(request);
      if (agent !== "lead" || last !== "begin" || since > 0) return { text: "Ready." };
      const input = (name: string) => ({ name, role: "worker", prompt: "Wait for tasks." });
      return { calls: mates.map((name) => ({ name: "spawn_teammate", input: input(name) })) };
    },
  });
  fleets.push(fleet);
  for (let calm = 0, seen = -1; calm < 15; calm++) {
    await sleep(100);
    const { length } = fleet.server.log().requests;
    const turns = (await fleet.events()).filter((e) => e.type === "team.idled").length;
    if (length !== seen || turns < count) calm = 0;
    seen = length;
  }
  return { fleet, pid: fleet.workers[0]!.pid! };
}

/** A host that has only ever seen them idle: what its first turns left on the heap is not theirs. */
async function freshHost({ fleet }: { fleet: Fleet }): Promise<number> {
  const [old] = fleet.workers;
  const ended = new Promise((resolve) => old!.once("exit", resolve));
  old!.kill("SIGTERM");
  await ended;
  fleet.start(0);
  await sleep(2_000);
  return fleet.workers[0]!.pid!;
}

test("fifty idle teammates ask no model and cost next to nothing", { timeout: 180_000 }, async () => {
  const [few, many] = await Promise.all([idleFleet(1), idleFleet(50)]);
  const before = { cpu: cpuMs(many.pid), requests: many.fleet.server.log().requests.length };
  await sleep(WATCHED_MS);
  const cpu = (100 * (cpuMs(many.pid) - before.cpu)) / WATCHED_MS;
  const requests = many.fleet.server.log().requests.length - before.requests;
  const afterWork = (residentKb(many.pid) - residentKb(few.pid)) / 49;
  const [fresh, freshWithFew] = await Promise.all([freshHost(many), freshHost(few)]);
  const perMate = (residentKb(fresh) - residentKb(freshWithFew)) / 49;
  console.log(
    `50 idle teammates for ${WATCHED_MS / 1000} s: ${requests} requests, ${cpu.toFixed(2)} % CPU, ${perMate.toFixed(0)} kB each (${afterWork.toFixed(0)} kB in the host that ran their first turns)`,
  );
  expect(requests).toBe(0);
  expect(perMate).toBeLessThan(1024);
});
