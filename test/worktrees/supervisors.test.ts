// Many agents in many worktrees: each has its own way to run commands, and few enough are kept.
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createJobs } from "../../src/mechanisms/jobs/index.ts";
import { createSandbox } from "../../src/mechanisms/jobs/sandbox.ts";
import { probeSandbox } from "../../src/mechanisms/jobs/sandbox-state.ts";
import { tempDir } from "../house.ts";
import { scratch, testTurn } from "../turn.ts";
import { makeRepository } from "./world.ts";

const state = probeSandbox(tempDir("probe"));
const works = state.works || process.env.CI === "true";

/** Supervisors that live, by their names; each has a few processes. */
function supervisors(jobs: string): number {
  const mine = new Set(readdirSync(jobs).map((name) => /^\.go(.+)\.\d+$/.exec(name)?.[1]));
  const names = readdirSync("/proc").flatMap((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      const at = words.indexOf("holdfast-jobs");
      const name = at > 0 && words[0]!.endsWith("bash") ? words.slice(at).find((word) => mine.has(word)) : undefined;
      return name === undefined ? [] : [name];
    } catch {
      return []; // it ended
    }
  });
  return new Set(names).size;
}

function setUp(most: number | undefined) {
  if (!state.works) throw new Error(state.why);
  const base = scratch(onTestFinished);
  const root = makeRepository(join(base, "main"));
  const sandbox = createSandbox(state.bwrap, { root, home: join(base, "home"), dir: join(base, "private") });
  const jobs = createJobs({ dir: join(base, "jobs"), sandbox, ...(most && { supervisors: most }) });
  return { base, jobs, dir: join(base, "jobs") };
}

test.runIf(works)(
  "twenty agents in twenty trees take turns, and no supervisor is started twice",
  { timeout: 60_000 },
  async () => {
    const { base, jobs, dir } = setUp(undefined);
    const turns = Array.from({ length: 20 }, (_, i) => {
      const root = makeRepository(join(base, `tree-${i}`));
      return testTurn([jobs], { root, agent: `mate-${i}` });
    });
    for (let round = 0; round < 3; round++) {
      const said = await Promise.all(turns.map(async (turn) => (await turn.call("bash", { command: "pwd" })).content));
      expect(said).toEqual(turns.map((turn) => turn.root));
    }
    expect(supervisors(dir)).toBe(20);
  },
);

test.runIf(works)(
  "past the bound the one that was idle for longest goes, and none that still works",
  { timeout: 60_000 },
  async () => {
    const { base, jobs, dir } = setUp(3);
    const turns = Array.from({ length: 6 }, (_, i) =>
      testTurn([jobs], { root: makeRepository(join(base, `tree-${i}`)), agent: `mate-${i}` }),
    );
    const slow = turns[0]!.call("bash", { command: "sleep 1; pwd" });
    for (const turn of turns.slice(1)) expect((await turn.call("bash", { command: "pwd" })).content).toBe(turn.root);
    expect((await slow).content).toBe(turns[0]!.root);
    for (let waited = 0; supervisors(dir) > 3 && waited < 50; waited++) await new Promise((r) => setTimeout(r, 100));
    expect(supervisors(dir)).toBe(3);
  },
);

test.runIf(works)("another directory in the place of a tree is not taken for the old one", async () => {
  const { base, jobs } = setUp(undefined);
  const root = makeRepository(join(base, "tree"), { "a.txt": "first\n" });
  const turn = testTurn([jobs], { root });
  expect((await turn.call("bash", { command: "cat a.txt" })).content).toBe("first");
  rmSync(root, { recursive: true });
  makeRepository(root, { "a.txt": "second\n" });
  expect((await turn.call("bash", { command: "cat a.txt" })).content).toBe("second");
});
