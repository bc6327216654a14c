// Between the decision and the effect someone swaps a name for a link, as fast as he can. Whatever the tool says: nothing outside is read or written.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { hashOf, markSeen } from "../../src/file-access/seen-files.ts";
import { createFiles } from "../../src/mechanisms/files/index.ts";
import { scratch, type TestTurn, testTurn } from "../turn.ts";
import { snapshot } from "./world.ts";

/** `HOLDFAST_RACES=50` for a long run that tells its counts. */
const ROUNDS = Number(process.env.HOLDFAST_RACES ?? 1);
const CANARY = "CANARY";

interface World {
  root: string;
  turn: TestTurn;
  outside: () => Record<string, string>;
}

/** The project and a twin outside with the same names; `swapped` is a link to `target` half of the time. */
async function setUp(swapped: string, target: string): Promise<World> {
  const base = scratch(onTestFinished);
  const root = join(base, "proj");
  for (const [dir, text] of [
    ["proj/d", "inside"],
    ["outside/d", CANARY],
    ["proj/.git", CANARY],
  ] as const) {
    mkdirSync(join(base, dir, "sub"), { recursive: true });
    for (const name of ["x.txt", "sub/y.txt", ...(text === CANARY ? [`${CANARY}.txt`] : [])]) {
      writeFileSync(join(base, dir, name), `${text}\n`);
    }
  }
  const turn = testTurn([createFiles()], { root });
  const child = fork(fileURLToPath(new URL("./swap.ts", import.meta.url)), [join(root, swapped), join(base, target)]);
  const gone = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await gone;
  });
  await once(child, "message");
  return { root, turn, outside: () => ({ ...snapshot(join(base, "outside")), ...snapshot(join(root, ".git")) }) };
}

/** How often it worked and how often it was refused; fails when it said something from outside. */
async function hammer(times: number, work: (i: number) => Promise<{ content: unknown; isError?: boolean }>) {
  const counts = { done: 0, refused: 0 };
  for (let i = 0; i < times * ROUNDS; i++) {
    const output = await work(i);
    expect(JSON.stringify(output)).not.toContain(CANARY);
    counts[output.isError ? "refused" : "done"]++;
  }
  if (process.env.HOLDFAST_RACES) console.log(expect.getState().currentTestName, counts);
  return counts;
}

/** As if the agent had read what is there, whichever it is. */
const pretend = (turn: TestTurn, path: string, i: number) =>
  markSeen(turn, path, hashOf(Buffer.from(["inside\n", `${CANARY}\n`, "written\n"][Math.floor(i / 3) % 3]!)));

const places = [
  ["a folder and a link out of the tree", "d", "outside/d", "d/x.txt"],
  ["a folder below and a link out of the tree", "d/sub", "outside/d/sub", "d/sub/y.txt"],
  ["a file and a link out of the tree", "d/x.txt", "outside/d/x.txt", "d/x.txt"],
] as const;

test.each(places)("reading while %s are swapped", async (_, swapped, target, path) => {
  const { turn, outside } = await setUp(swapped, target);
  const before = outside();
  const counts = await hammer(400, () => turn.call("read_file", { path }));
  expect(counts.done).toBeGreaterThan(0);
  expect(outside()).toEqual(before);
});

test.each([...places, ["a folder and a link to git's own", "d", "proj/.git", "d/x.txt"]] as const)(
  "writing while %s are swapped",
  async (_, swapped, target, path) => {
    const { root, turn, outside } = await setUp(swapped, target);
    const before = outside();
    await hammer(100, (i) => {
      pretend(turn, join(root, path), i);
      if (i % 3 === 0) return turn.call("write_file", { path: join(path, `../new-${i}.txt`), content: "written\n" });
      if (i % 3 === 1) return turn.call("write_file", { path, content: "written\n" });
      return turn.call("write_file", { path: join(path, `../deep-${i}/new.txt`), content: "written\n" });
    });
    expect(outside()).toEqual(before);
  },
);

test.each(places)("searching while %s are swapped", async (_, swapped, target, path) => {
  const { turn, outside } = await setUp(swapped, target);
  const before = outside();
  const counts = await hammer(24, (i) => {
    const where = i % 2 === 0 ? "." : join(path, "..");
    return i % 4 < 2
      ? turn.call("glob", { pattern: "*", path: where })
      : turn.call("grep", { pattern: "[A-Z]{6}|inside", path: where });
  });
  expect(counts.done).toBeGreaterThan(0);
  expect(outside()).toEqual(before);
});

test("an intent judged before the swap is not carried out through the link", async () => {
  const base = scratch(onTestFinished);
  const root = join(base, "proj");
  for (const dir of ["proj/d", "outside"]) mkdirSync(join(base, dir), { recursive: true });
  const turn = testTurn([createFiles()], { root });
  const input = { path: "d/x.txt", content: "written\n" };
  const intent = await turn.intend("write_file", input);
  renameSync(join(root, "d"), join(root, "d.real"));
  symlinkSync(join(base, "outside"), join(root, "d"));
  await expect(turn.resume("write_file", input, intent)).rejects.toThrow(
    `${root}/d/x.txt goes through something that is not a directory`,
  );
  expect([readdirSync(join(base, "outside")), readdirSync(join(root, "d.real"))]).toEqual([[], []]);
});
