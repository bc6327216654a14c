// Kills from outside: in the middle of a stream, at random moments, and in the middle of a resume.
import { expect, test } from "vitest";
import { chunksOf } from "../../src/testing/model-server-wire.ts";
import { quickestMs, runCell, runCells } from "./cell.ts";
import { addCounts, emptyCounts, LONG, LONG_MS, NO_FAULTS, publish } from "./counts.ts";
import { random, sleep, type Way } from "./driver.ts";
import { at, crashPoints, everyPassing } from "./points.ts";
import { type Scenario, scenario, scenarios } from "./scenarios.ts";

const atPause: Way = {
  async meanwhile({ child }, { server }) {
    await server.paused();
    child.kill("SIGKILL");
  },
};

/** The same scenario with one reply that stops after so many chunks, the first time it is asked for. */
function pausedAt(one: Scenario, round: number, chunk: number): Scenario {
  const rounds = one.rounds.map((r, i) => (i === round ? { ...r, faults: [{ pauseAt: chunk }] } : r));
  return { ...one, rounds };
}

const chunkCount = (one: Scenario, round: number): number =>
  chunksOf({ api: "openai", model: "mock", round, attempt: 1, arrival: 1, body: {} }, one.rounds[round]!).length;

test("a kill in the middle of a stream repeats only the call that was in flight", { timeout: LONG_MS }, async () => {
  const total = emptyCounts();
  // Where recovery asks again, a repeated request is no sign of a kill.
  for (const one of LONG ? scenarios.filter((s) => !s.asksAgain) : [scenario("text"), scenario("bash")]) {
    const plans = one.rounds.flatMap((_, round) => {
      const chunks = chunkCount(one, round);
      const where = LONG ? Array.from({ length: chunks }, (_, i) => i) : [1, chunks - 1];
      return where.map((chunk) => ({ round, chunk }));
    });
    const counts = await runCells(plans, ({ round, chunk }) =>
      runCell(pausedAt(one, round, chunk), [atPause], `${one.name} round ${round + 1} chunk ${chunk}`),
    );
    publish(`mid-stream, before each chunk · ${one.name}`, counts);
    addCounts(total, counts);
  }
  expect({ ...total, cells: 0 }).toEqual({ ...emptyCounts(), kills: total.cells, repeatedInFlight: total.cells });
});

test("a kill at a random moment loses nothing and repeats nothing", { timeout: LONG_MS }, async () => {
  const total = emptyCounts();
  for (const one of LONG ? scenarios : [scenario("three calls")]) {
    const wholeMs = await quickestMs(one);
    const seeds = Array.from({ length: LONG ? 40 : 3 }, (_, i) => i + 1);
    const counts = await runCells(seeds, (seed) => {
      const rnd = random(seed);
      // Two out of three are killed again while they resume. Before a third of the time the process has done nothing yet.
      const ways = Array.from({ length: 1 + Math.floor(rnd() * 3) }, () => afterMs((0.3 + rnd() * 0.8) * wholeMs));
      return runCell(one, ways, `${one.name} seed ${seed}`);
    });
    publish(`random moments · ${one.name}`, counts);
    addCounts(total, counts);
  }
  expect({ faults: total.faults, notes: total.notes }).toEqual({ faults: NO_FAULTS, notes: [] });
  expect(total.kills).toBeGreaterThan(0);
});

const afterMs = (ms: number): Way => ({
  async meanwhile({ child }) {
    await sleep(ms);
    child.kill("SIGKILL");
  },
});

const FIRST: [string, string, number][] = [
  ["text", "reply.arrived", 1],
  ["read_file", "reply.taken", 1],
  ["write_file", "intent.durable", 1],
  ["write_file", "effect.done", 1],
  ["edit_file", "effect.done", 1],
  ["bash", "intent.durable", 1],
  ["bash", "effect.done", 1],
  ["todo_write", "reply.taken", 1],
  ["three calls", "effect.done", 1],
  ["three calls", "intent.durable", 2],
  ["background job", "results.durable", 1],
  ["external", "effect.done", 1],
];

test("a resume that is killed itself, at each of its points, is taken up again", { timeout: LONG_MS }, async () => {
  const total = emptyCounts();
  const points = crashPoints();
  for (const [name, point, n] of LONG ? FIRST : FIRST.slice(6, 7)) {
    const second = LONG ? points : ["lease.taken", "append.before-commit", "results.before", "model.before"];
    const counts = await runCells(second, (again) =>
      everyPassing(scenario(name), again, { before: [at(point, n)], most: LONG ? 100 : 1 }),
    );
    publish(`killed at ${point}:${n}, then its resume at every point · ${name}`, counts);
    addCounts(total, counts);
  }
  expect({ faults: total.faults, notes: total.notes }).toEqual({ faults: NO_FAULTS, notes: [] });
  expect(total.kills).toBe(total.cells * 2);
});
