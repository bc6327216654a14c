// The named crash points: every one of them, every time it is passed, in every scenario (a sample of it in the usual run).
import { expect, test } from "vitest";
import { runCell, runCells } from "./cell.ts";
import { addCounts, emptyCounts, LONG, LONG_MS, NO_FAULTS, publish } from "./counts.ts";
import { at, crashPoints, everyPassing } from "./points.ts";
import { scenario, scenarios } from "./scenarios.ts";

const points = crashPoints();
/** Passed only where a folder was moved: `test/cli/project-found.test.ts` kills there. */
const OF_MOVES = ["place.recorded", "root.moved"];

const SAMPLE: [string, string, number][] = [
  ["text", "context.created", 1],
  ["text", "append.before-commit", 2],
  ["text", "reply.arrived", 1],
  ["text", "turn.ended", 1],
  ["read_file", "reply.taken", 1],
  ["write_file", "intent.durable", 1],
  ["write_file", "effect.done", 1],
  ["edit_file", "effect.done", 1],
  ["bash", "job.planned", 1],
  ["bash", "intent.durable", 1],
  ["bash", "effect.done", 1],
  ["todo_write", "results.before", 1],
  ["three calls", "intent.durable", 2],
  ["three calls", "results.durable", 2],
  ["retried, then another model", "append.committed", 6],
  ["cut off by its limit", "reply.arrived", 2],
  ["too long, then shortened", "append.before-commit", 9],
  ["room is made", "compaction.planned", 1],
  ["room is made", "compaction.recorded", 1],
];

test.skipIf(LONG)("a kill at a named point loses nothing and repeats nothing", async () => {
  const total = await runCells(SAMPLE, ([name, point, n]) =>
    runCell(scenario(name), [at(point, n)], `${name} @ ${point}:${n}`),
  );
  expect({ kills: total.kills, faults: total.faults, notes: total.notes }).toEqual({
    kills: SAMPLE.length,
    faults: NO_FAULTS,
    notes: [],
  });
});

test.skipIf(LONG)("an effect that no one can look up is reported as unknown, never done twice", async () => {
  const total = await runCell(scenario("external"), [at("effect.done")]);
  expect(total).toEqual({
    ...emptyCounts(),
    cells: 1,
    kills: 1,
    unknownOutcomes: 1,
  });
});

test.skipIf(LONG)("a job that was said to have started runs, though its shells were not ready yet", async () => {
  // Killed with the intent durable, then again as soon as the resume has told of the job: nothing had been prepared ahead.
  const total = await runCell(scenario("background job"), [at("results.durable"), at("model.before")]);
  expect({ kills: total.kills, faults: total.faults, notes: total.notes }).toEqual({
    kills: 2,
    faults: NO_FAULTS,
    notes: [],
  });
});

test.runIf(LONG)(
  "a kill at every passing of every named point loses nothing and repeats nothing",
  { timeout: LONG_MS },
  async () => {
    const all = emptyCounts();
    const hit = new Set<string>();
    for (const one of scenarios) {
      const total = await runCells(points, async (point) => {
        const counts = await everyPassing(one, point);
        if (counts.kills > 0) hit.add(point);
        return counts;
      });
      publish(`named points · ${one.name}`, total);
      addCounts(all, total);
    }
    expect({ never: points.filter((p) => !hit.has(p)), undelivered: all.cells - all.kills }).toEqual({
      never: OF_MOVES,
      undelivered: 0,
    });
    expect({ faults: all.faults, notes: all.notes }).toEqual({ faults: NO_FAULTS, notes: [] });
  },
);
