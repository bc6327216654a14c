// Scenario × environment, killed at named points and system calls: a sample with npm test, the whole with npm run test:long.
import { expect, test } from "vitest";
import { runCells } from "./cell.ts";
import { addCounts, type Counts, emptyCounts, LONG, LONG_MS, NO_FAULTS, publishEnvironment } from "./counts.ts";
import type { Way } from "./driver.ts";
import { type Environment, environment, environments } from "./environments.ts";
import type { Format } from "./facts.ts";
import { type Cell, countCallsOf, passingsOf, runMatrixCell } from "./matrix-cell.ts";
import { type MatrixScenario, matrixScenario, matrixScenarios } from "./matrix-scenarios.ts";
import { allPoints, at } from "./points.ts";
import { hasStrace, killAtCall } from "./strace.ts";

const FORMATS: Format[] = ["stream-json", "stream-json", "json", "text"];
const [USUAL] = environments as [Environment, ...Environment[]];

interface Place {
  scenario: MatrixScenario;
  environment: Environment;
  point: string;
  n: number;
  kill?: Way;
}

/** Cells of different number print in different formats: most in the one that says most. */
const cellOf = ({ scenario, environment: where, point, n, kill = at(point, n) }: Place, i = 0): Cell => ({
  ...{ scenario, environment: where, kill },
  label: `${scenario.name} · ${where.name} · ${point}:${n}`,
  format: where.first?.stdout ? "stream-json" : FORMATS[i % FORMATS.length]!,
});

const isOn = ({ scenario, environment: where }: Place): boolean => where.fits?.(scenario) ?? true;

const runPlaces = (places: Place[]): Promise<Counts> =>
  runCells(places.filter(isOn).map(cellOf), (cell) => runMatrixCell(cell));

const SAMPLE: [scenario: string, environment: string, point: string, n?: number][] = [
  ["read", "long secrets", "reply.taken", 2],
  ["write", "long secrets", "intent.durable"],
  ["edit", "long secrets", "effect.done"],
  ["bash", "long secrets", "job.intended"],
  ["worktree", "long secrets", "worktree.added"],
  ["subagent", "long secrets", "results.before"],
  ["workflow", "long secrets", "turn.ended"],
  ["approval", "long secrets", "approval.asked"],
  ["bash", "bare", "intent.durable"],
  ["write", "every kind", "intent.durable"],
  ["bash", "every kind", "job.ended"],
  ["bash", "no git", "effect.done"],
  ["write", "git init", "intent.durable"],
  ["bash", "moved", "intent.durable"],
  ["edit", "moved", "intent.durable"],
  ["edit", "another worktree", "intent.durable"],
  ["subagent", "another folder", "effect.done"],
  ["write", "pid namespace", "effect.done"],
  ["read", "small disk", "reply.taken"],
  ["bash", "small disk", "intent.durable"],
  ["bash", "stdout closed", "turn.ended"],
  ["write", "stdout on a full", "turn.ended"],
  ["bash", "eight days", "job.ended"],
  ["workflow", "eight days", "intent.durable"],
  ["read", "set back", "model.before"],
  ["bash", "few open", "intent.durable"],
];

/** A process whose output nobody takes may end before its kill comes; another version may not know the point. */
const mayEndItself = ({ first }: Environment): boolean => first?.stdout !== undefined || first?.cli !== undefined;

test.skipIf(LONG)(
  "wherever, whenever and in whatever it runs, a kill loses nothing, repeats nothing and unsays nothing",
  { timeout: 300_000 },
  async () => {
    const places = SAMPLE.map(([name, where, point, n = 1]) => ({
      ...{ scenario: matrixScenario(name), environment: environment(where), point, n },
    })).filter(isOn);
    const undelivered: string[] = [];
    const total = await runCells(places.map(cellOf), async (cell) => {
      const counts = await runMatrixCell(cell);
      if (counts.kills === 0 && !mayEndItself(cell.environment)) undelivered.push(cell.label);
      return counts;
    });
    expect({ faults: total.faults, notes: total.notes, undelivered }).toEqual({
      ...{ faults: NO_FAULTS, notes: [], undelivered: [] },
    });
  },
);

async function everyPassingOf(scenario: MatrixScenario, point: string): Promise<Counts> {
  const total = emptyCounts();
  for (let n = 1; n <= 60; n++) {
    const place = { scenario, environment: USUAL, point, n };
    if (!isOn(place)) break;
    const counts = await runMatrixCell(cellOf(place, n));
    if (counts.kills === 0 && counts.notes.length === 0) break;
    addCounts(total, counts);
    if (counts.kills === 0) break;
  }
  return total;
}

test.runIf(LONG)("a kill at every passing of every named point, as users run it", { timeout: LONG_MS }, async () => {
  const all = emptyCounts();
  for (const scenario of matrixScenarios) {
    const total = await runCells(allPoints(), (point) => everyPassingOf(scenario, point));
    publishEnvironment(`${USUAL.name} · ${scenario.name} · every named point`, total);
    addCounts(all, total);
  }
  expect({ faults: all.faults, notes: all.notes }).toEqual({ faults: NO_FAULTS, notes: [] });
  expect(all.kills).toBe(all.cells);
});

const CALLS = ["fdatasync", "fsync", "rename", "link"] as const;

test.runIf(LONG && hasStrace)("a kill at every sync, rename and link", { timeout: LONG_MS }, async () => {
  const all = emptyCounts();
  for (const scenario of matrixScenarios) {
    const count = await countCallsOf(scenario, CALLS);
    const places = CALLS.flatMap((call) =>
      Array.from({ length: count[call]! }, (_, i) => ({
        ...{ scenario, environment: USUAL, point: call, n: i + 1, kill: killAtCall(call, i + 1) },
      })),
    );
    const total = await runPlaces(places);
    publishEnvironment(`${USUAL.name} · ${scenario.name} · every sync, rename, link`, total);
    addCounts(all, total);
  }
  expect({ faults: all.faults, notes: all.notes }).toEqual({ faults: NO_FAULTS, notes: [] });
  expect(all.kills).toBeGreaterThan(all.cells * 0.9); // on a busy machine the last syncs of a run may be one
});

test.runIf(LONG).each(environments.slice(1).map((one) => [one.name, one] as const))(
  "a kill at every named point: %s",
  { timeout: LONG_MS },
  async (name, where) => {
    // Of several passings the first and the last by turns: they differ most.
    const places: Place[] = [];
    for (const scenario of matrixScenarios) {
      const passed = await passingsOf(scenario);
      for (const [i, point] of allPoints().entries()) {
        const last = passed.get(point);
        if (last !== undefined) places.push({ scenario, environment: where, point, n: i % 2 === 0 ? 1 : last });
      }
    }
    const total = await runPlaces(places);
    publishEnvironment(`${name} · all scenarios · every named point`, total);
    expect({ faults: total.faults, notes: total.notes }).toEqual({ faults: NO_FAULTS, notes: [] });
    if (!mayEndItself(where)) expect(total.kills).toBeGreaterThan(total.cells * 0.9);
  },
);
