// What a command loads is what it needs: a budget of source files for each common command. Raise one only for a reason.
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { scratch } from "../turn.ts";
import { bin, runProgram } from "./cli.ts";

const dist = path.join(import.meta.dirname, "../../dist/cli");

/** How many files of src the bundles hold that a run has loaded. */
async function loadedBy(args: string[]): Promise<number> {
  const dir = scratch(onTestFinished);
  const list = path.join(dir, "loaded");
  const hook = path.join(dir, "hook.cjs");
  const write = `require("node:fs").writeFileSync(${JSON.stringify(list)}, Object.keys(require.cache).join("\\n"))`;
  fs.writeFileSync(hook, `process.on("exit", () => ${write});\n`);
  const opts = { cwd: dir, state: path.join(dir, "state") };
  const { code, stderr } = await runProgram(process.execPath, ["-r", hook, bin, ...args], opts);
  expect([code, stderr.includes("holdfast:")]).toEqual([0, false]);
  const chunks = fs.readFileSync(list, "utf8").split("\n");
  return chunks
    .filter((file) => path.dirname(file) === dist)
    .reduce((sum, file) => sum + (fs.readFileSync(file, "utf8").match(/^\/\/ src\//gm)?.length ?? 0), 0);
}

test.each([
  ["--version", 30],
  ["--help", 30],
  ["tasks ls", 196],
  ["contexts ls", 187],
  ["agents ls", 185],
  ["permissions check git-status", 235],
  ["-p hello --model rehearsal", 419], // 18 of them keep files, beside the model's answer: an early end may come before them
])("holdfast %s loads at most %i files", async (command, most) => {
  const loaded = await loadedBy(command.split(" ").map((word) => word.replace("git-status", "git status")));
  expect(loaded).toBeLessThanOrEqual(most);
});
