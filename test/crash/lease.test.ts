// Leases: a stopped harness is killed and replaced after its lease, a zombie is fenced, two resumes never both work, a dead one is not waited for.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { openWorld, type Running, until, type World } from "./driver.ts";

const LEASE_MS = 1_500;
const env = { HOLDFAST_LEASE_MS: String(LEASE_MS) };
const paused = [{ text: "An answer in several pieces.", faults: [{ pauseAt: 1 }] }];

const canUnshare = (() => {
  try {
    execFileSync("unshare", ["--pid", "--fork", "--mount-proc", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

async function inWorld(rounds: Parameters<typeof openWorld>[0], body: (world: World) => Promise<void>): Promise<void> {
  const world = await openWorld(rounds);
  try {
    await body(world);
  } finally {
    await world.close();
  }
}

const contextOf = async (world: World): Promise<string> => (await world.look()).contexts[0]!.id;

const types = async (world: World): Promise<string[]> =>
  (await world.look()).contexts[0]!.events.map((e) => e.type).filter(
    (type) => type !== "checkpoint.kept" && type !== "hook.ran",
  ); // beside the model call; of the house

/** Begun by one process, ended by another. */
const ONE_TURN = [
  ...["context.created", "agent.created", "context.started", "input.received", "turn.started"],
  ...["context.checkpointed", "surroundings.said", "input.taken", "request.changed"],
  ...["agent.taken", "reply.received", "turn.ended"],
];

function measured(what: string, ms: number): void {
  const file = process.env.HOLDFAST_CRASH_REPORT;
  if (file) fs.appendFileSync(`${file}.times`, `${what}: ${Math.round(ms)} ms\n`);
}

test("a harness stopped past its lease is killed and replaced, and writes nothing more", () =>
  inWorld(paused, async (world) => {
    const first = world.start(["-p", "Answer"], { env });
    await world.server.paused();
    first.child.kill("SIGSTOP");
    const stoppedAt = Date.now();
    const second = await world.run(["-p", "-r", await contextOf(world)], { env });
    const { requests, invalid } = world.server.log();
    measured("SIGSTOP to the new holder's request, with a lease of 1500 ms", requests.at(-1)!.at - stoppedAt);
    const events = await types(world);
    first.child.kill("SIGCONT");
    world.server.release();
    expect({
      first: (await first.ended).signal,
      second: second.code,
      requests: requests.length,
      invalid,
      events,
      later: await types(world),
    }).toEqual({ first: "SIGKILL", second: 0, requests: 2, invalid: [], events: ONE_TURN, later: ONE_TURN });
  }));

test.runIf(canUnshare || process.env.CI)(
  "a zombie that cannot be killed from here is fenced: it wakes up and writes nothing",
  () =>
    inWorld(paused, async (world) => {
      const first = world.start(["-p", "Answer"], {
        env,
        wrap: ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"],
      });
      await world.server.paused();
      const zombie = harnessOf(world, first);
      process.kill(zombie, "SIGSTOP");
      const second = await world.run(["-p", "-r", await contextOf(world)], { env });
      const events = await types(world);
      process.kill(zombie, "SIGCONT");
      world.server.release();
      const thawed = await first.ended;
      expect({
        second: second.code,
        events,
        thawed: thawed.code,
        answer: thawed.stdout,
        why: /another (?:host took over|process has it)/.test(thawed.stderr),
        later: await types(world),
        requests: world.server.log().requests.length,
      }).toEqual({ second: 0, events: ONE_TURN, thawed: 1, answer: "", why: true, later: ONE_TURN, requests: 2 });
    }),
);

/** The process inside the namespace, by its number outside. */
function harnessOf(world: World, { child }: Running): number {
  return world.processes().find((pid) => {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")")).split(" ")[2] === String(child.pid);
  })!;
}

test("of two processes that resume one context at the same time one works, the other says who holds it", () =>
  inWorld([{ text: "An answer.", faults: [{ pauseAt: 1 }, { pauseAt: 1 }] }], async (world) => {
    const first = world.start(["-p", "Answer"]);
    await world.server.paused();
    first.child.kill("SIGKILL");
    await first.ended;
    await until(() => world.server.log().paused.length === 0);
    const context = await contextOf(world);
    const both = [world.start(["-p", "-r", context]), world.start(["-p", "-r", context])];
    const loser = await Promise.race(both.map(async (r) => ({ r, exit: await r.ended })));
    const winner = both.find((r) => r !== loser.r)!;
    await world.server.paused();
    world.server.release();
    const won = await winner.ended;
    expect({
      loser: loser.exit.code,
      says: loser.exit.stderr.includes(`process ${winner.child.pid} works in context ${context}`),
      winner: won.code,
      answer: won.stdout,
      requests: world.server.log().requests.length,
      events: await types(world),
    }).toEqual({ loser: 2, says: true, winner: 0, answer: "An answer.\n", requests: 2, events: ONE_TURN });
  }));

test("a resume right after kill -9 does not wait for the lease", () =>
  inWorld(paused, async (world) => {
    const hour = { HOLDFAST_LEASE_MS: "3600000" };
    const first = world.start(["-p", "Answer"], { env: hour });
    await world.server.paused();
    first.child.kill("SIGKILL");
    await first.ended;
    const context = await contextOf(world);
    const startedAt = Date.now();
    const second = await world.run(["-p", "-r", context], { env: hour });
    measured("resume after kill -9 to its first request", world.server.log().requests.at(-1)!.at - startedAt);
    expect({ code: second.code, events: await types(world) }).toEqual({ code: 0, events: ONE_TURN });
  }));

test.each([
  ["workflow", "retry"],
  ["-p", "-r"],
])("%s %s of a workflow whose runner is stopped waits for its lease, and goes on with it", (...words) =>
  inWorld([{ text: "phase done", faults: [{ pauseAt: 1 }] }], async (world) => {
    // Long enough that the second one comes while it still holds.
    const longer = { HOLDFAST_LEASE_MS: "4000" };
    fs.writeFileSync(path.join(world.project, "w.yaml"), "name: one\nphases:\n  - { id: a, prompt: First. }\n");
    const flags = ["--model", "openai-compatible/mock"];
    const first = world.start(["workflow", "run", "w.yaml", ...flags], { env: longer });
    await world.server.paused();
    first.child.kill("SIGSTOP");
    const second = await world.run([...words, await contextOf(world)], { env: longer });
    const listed = JSON.parse((await world.run(["workflow", "ls", "--json"])).stdout) as { state: string }[];
    expect({
      first: (await first.ended).signal,
      second: [second.code, second.stderr.includes("end it first")],
      states: listed.map(({ state }) => state),
    }).toEqual({ first: "SIGKILL", second: [0, false], states: ["done"] });
  }),
);
