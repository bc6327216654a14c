// Calls of one reply, one of which changes the directory: what comes after it is judged where it runs.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runCli } from "../cli/cli.ts";
import { works } from "../jobs/sandboxed.ts";
import { scratch } from "../turn.ts";

async function run(calls: { name: string; input: object }[], mode: string) {
  const cwd = scratch(onTestFinished);
  const state = scratch(onTestFinished);
  for (const dir of ["src", ".vscode", "sub/.git/hooks"]) mkdirSync(join(cwd, dir), { recursive: true });
  const script = join(state, "script.yaml");
  writeFileSync(script, JSON.stringify({ rounds: [{ calls }, { text: "finished" }] }));
  const args = ["-p", "go", "--model", `rehearsal:${script}`, "--output-format", "json", "--permission-mode", mode];
  const { code, stderr } = await runCli(args, { cwd, state });
  expect([code, code === 0 ? "" : stderr]).toEqual([0, ""]);
  return (name: string) => existsSync(join(cwd, name));
}

const bash = (command: string) => ({ name: "bash", input: { command } });
const write = (path: string) => ({ name: "write_file", input: { path, content: "x\n" } });

test.runIf(works)("a file is not written where it would not have been allowed", async () => {
  const isThere = await run([bash("cd .vscode"), write("tasks.json")], "acceptEdits");
  expect([isThere(".vscode/tasks.json"), isThere("tasks.json")]).toEqual([false, false]);
});

test.runIf(works)("a command is not run where it would not have been allowed", async () => {
  const isThere = await run([bash("cd sub/.git/hooks"), bash("echo x > post-checkout")], "default");
  expect([isThere("sub/.git/hooks/post-checkout"), isThere("post-checkout")]).toEqual([false, false]);
});

test.runIf(works)("what is allowed there is done there", async () => {
  const isThere = await run([bash("cd src"), write("a.ts"), bash("cp a.ts b.ts")], "acceptEdits");
  expect([isThere("src/a.ts"), isThere("src/b.ts"), isThere("a.ts")]).toEqual([true, true, false]);
});
