// One recording of each scenario, of the version that made it: this build decides the same, but for what is listed beside it.
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { expectedBeside } from "../../src/replay/expected.ts";
import { replays } from "../../src/testing/index.ts";

const recordings = path.join(import.meta.dirname, "recordings");
const names = fs.globSync("*.jsonl", { cwd: recordings }).sort();

test("there is a recording of each kind of run, and a list of expected differences beside it", () => {
  expect(names.map((name) => path.basename(name, ".jsonl"))).toEqual([
    "command-killed",
    "commands",
    "compaction",
    "edits-and-denials",
    "job-killed",
    "reminder-killed",
    "subagent-killed",
    "team",
    "todo-killed",
    "workflow",
  ]);
  expect(names.filter((name) => !fs.existsSync(expectedBeside(path.join(recordings, name))))).toEqual([]);
});

for (const name of names)
  test(`${path.basename(name, ".jsonl")} replays`, async () => {
    const { events, compared } = await replays(path.join(recordings, name));
    expect(compared).toBeGreaterThan(events / 3);
  });
