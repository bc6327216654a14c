// Kills and disk faults at system calls: every sync and every write of the store, in the run and in the resume.
import { expect, test } from "vitest";
import { runCell, runCells } from "./cell.ts";
import { addCounts, type Counts, emptyCounts, LONG, LONG_MS, NO_FAULTS, publish } from "./counts.ts";
import type { Way } from "./driver.ts";
import { at } from "./points.ts";
import { type Scenario, scenario, scenarios } from "./scenarios.ts";
import { CALLS, type Call, countCalls, failAtCall, hasStrace, killAtCall, NOT_DELIVERED } from "./strace.ts";

type Keep = (call: Call, n: number, of: number) => boolean;

const steps = (count: Record<Call, number>, calls: readonly Call[], keep: Keep): { call: Call; n: number }[] =>
  calls.flatMap((call) =>
    Array.from({ length: count[call] }, (_, i) => ({ call, n: i + 1 })).filter(({ n }) => keep(call, n, count[call])),
  );

/** A few of each kind, spread over the run. */
const few =
  (most: number): Keep =>
  (_, n, of) =>
    n % Math.ceil(of / most) === 1 % Math.ceil(of / most);
/** Writes of the store are alike in all scenarios: they are enumerated where most of them happen. */
const WRITES_OF = ["text", "three calls"];

async function killEverywhere(one: Scenario, before: Way[], keep: Keep): Promise<Counts> {
  const plans = steps(await countCalls(one, before), CALLS, keep);
  return runCells(plans, ({ call, n }) =>
    runCell(one, [...before, killAtCall(call, n)], `${one.name} killed at ${call} ${n} of run ${before.length + 1}`),
  );
}

test.runIf(hasStrace && !LONG)(
  "a kill at a sync or a write of the store loses nothing and repeats nothing",
  async () => {
    const total = await killEverywhere(scenario("write_file"), [], few(3));
    expect(total.kills).toBeGreaterThan(5);
    expect({ kills: total.kills, faults: total.faults, notes: total.notes }).toEqual({
      kills: total.cells,
      faults: NO_FAULTS,
      notes: [],
    });
  },
);

test.runIf(hasStrace && LONG)(
  "a kill at every sync and every write of the store loses nothing and repeats nothing",
  { timeout: LONG_MS },
  async () => {
    const all = emptyCounts();
    for (const one of scenarios) {
      const writes = WRITES_OF.includes(one.name);
      const total = await killEverywhere(one, [], (call) => call !== "pwrite64" || writes);
      publish(`each fsync, rename, link${writes ? ", pwrite64" : ""} · ${one.name}`, total);
      addCounts(all, total);
    }
    expect({ faults: all.faults, notes: all.notes }).toEqual({ faults: NO_FAULTS, notes: [] });
    // The files of a checkpoint are kept beside the model call: a few calls come in one run and not in the other.
    expect(all.kills).toBeGreaterThan(all.cells * 0.9);
  },
);

test.runIf(hasStrace && LONG)(
  "a resume killed at each of its own syncs and writes can be taken up again",
  { timeout: LONG_MS },
  async () => {
    const all = emptyCounts();
    for (const [name, point] of [
      ["three calls", "intent.durable"],
      ["bash", "effect.done"],
      ["text", "reply.arrived"],
    ] as const) {
      const total = await killEverywhere(scenario(name), [at(point)], () => true);
      publish(`killed at ${point}, then its resume at each sync and write · ${name}`, total);
      addCounts(all, total);
    }
    expect({ faults: all.faults, notes: all.notes }).toEqual({ faults: NO_FAULTS, notes: [] });
  },
);

const FAULTS = [
  ["fdatasync", "EIO", false],
  ["fdatasync", "EIO", true],
  ["fsync", "EIO", false],
  ["fsync", "EIO", true],
  ["pwrite64", "EIO", false],
  ["pwrite64", "ENOSPC", false],
  ["pwrite64", "ENOSPC", true],
] as const;

async function failEverywhere(one: Scenario, keep: Keep): Promise<Counts> {
  const count = await countCalls(one);
  const plans = FAULTS.flatMap(([call, error, lasting]) =>
    steps(count, [call], keep).map((plan) => ({ ...plan, error, lasting })),
  );
  return runCells(plans, async ({ call, n, error, lasting }) => {
    const label = `${one.name}: ${error} at ${call} ${n}${lasting ? "+" : ""}`;
    for (let tries = 1; ; tries++) {
      const counts = await runCell(one, [failAtCall(call, n, error, lasting)], label);
      // On a busy machine the last syncs of a run may be one: then this one did not come.
      if (tries === 3 || !counts.notes.some((note) => note.includes(NOT_DELIVERED))) return counts;
    }
  });
}

test.runIf(hasStrace)(
  "a disk that fails or is full is named at once in one line, and what was acknowledged is there afterwards",
  { timeout: LONG ? LONG_MS : 60_000 },
  async () => {
    const total = emptyCounts();
    for (const name of LONG ? ["text", "write_file", "bash", "three calls"] : ["bash"]) {
      const writes = WRITES_OF.includes(name);
      const one = await failEverywhere(scenario(name), LONG ? (call) => call !== "pwrite64" || writes : few(2));
      publish(`EIO${writes ? " and ENOSPC" : ""} at each sync${writes ? " and write" : ""} · ${name}`, one);
      addCounts(total, one);
    }
    expect({ faults: total.faults, notes: total.notes }).toEqual({ faults: NO_FAULTS, notes: [] });
  },
);
