// Faults in the bytes of a store: nothing is lost silently; with its second copies nothing at all, without them nothing more than was hit.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { applyFault, judge, judgeRepair, makeFault, makeState, type Truth } from "./faults.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-damage-"));
const FAULTS = process.env.HOLDFAST_LONG ? 300 : 20;
let truth: Truth;

beforeAll(async () => {
  truth = await makeState(folder);
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true }));

describe.each([
  { copies: true, which: "with" },
  { copies: false, which: "without" },
])("seeded faults $which second copies", ({ copies, which }) => {
  const into = (name: string) => ({ into: join(folder, name), copies });

  it(`${FAULTS} flips, truncations and zeroed blocks: none is silent, and no other ledger suffers`, async () => {
    const counts = { faults: 0, reported: 0, lost: 0 };
    const wrong: unknown[] = [];
    for (let seed = 0; seed < FAULTS; seed++) {
      const fault = makeFault(truth, seed);
      const verdict = await judge(truth, fault, applyFault(truth, fault, into("hit")));
      counts.faults++;
      if (verdict.reported) counts.reported++;
      if (verdict.lost.length > 0) counts.lost++;
      // A single bit belongs to one row at most.
      const tooMany = verdict.lost.length > (copies ? 0 : fault.kind === "flip" ? 1 : Number.POSITIVE_INFINITY);
      if (verdict.silent.length > 0 || verdict.innocent.length > 0 || tooMany) wrong.push({ fault, verdict });
    }
    console.log(`damage, ${which} copies: ${JSON.stringify({ ...counts, wrong: wrong.length })}`);
    expect(wrong).toEqual([]);
  }, 600_000);

  it("after a repair the store is sound, writable, and holds all that could be read before", async () => {
    const wrong: unknown[] = [];
    for (let seed = 0; seed < FAULTS / 4; seed++) {
      const fault = makeFault(truth, seed);
      const problems = await judgeRepair(truth, applyFault(truth, fault, into("mended")));
      if (problems.length > 0) wrong.push({ fault, problems });
    }
    expect(wrong).toEqual([]);
  }, 600_000);

  it("without a fault nothing is reported", async () => {
    const none = { seed: 0, kind: "zero512", part: "", offset: 0, length: 0 } as const;
    const verdict = await judge(truth, none, applyFault(truth, none, into("sound")));
    expect(verdict).toEqual({ silent: [], lost: [], innocent: [], reported: false });
  });
});
