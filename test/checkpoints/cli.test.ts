// The files of a prompt's checkpoint: of the context's own tree, and kept also when the process was killed in the first moments.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runCli } from "../cli/cli.ts";
import { scratch } from "../turn.ts";

function setUp() {
  const base = scratch(onTestFinished);
  const opts = { cwd: path.join(base, "main"), state: scratch(onTestFinished) };
  fs.mkdirSync(opts.cwd);
  const script = path.join(opts.state, "script.yaml");
  const write = (name: string) =>
    `  - calls:\n      - { name: write_file, input: { path: ${name}, content: "by the agent" } }\n`;
  fs.writeFileSync(script, `rounds:\n${write("a.txt")}  - text: one\n${write("b.txt")}  - text: two\n`);
  const model = ["--model", `rehearsal:${script}`, "--permission-mode", "acceptEdits"];
  const cli = async (args: string[], more: { cwd?: string; env?: Record<string, string> } = {}) =>
    runCli(args, { ...opts, ...more });
  const good = async (args: string[], more: { cwd?: string } = {}) => {
    const done = await cli(args, more);
    expect([done.stderr, done.code]).toEqual([done.stderr, 0]);
    return done.stdout;
  };
  const newest = async () => JSON.parse(await good(["contexts", "ls", "--json"]))[0].id as string;
  const files = () =>
    Object.fromEntries(
      fs
        .readdirSync(opts.cwd)
        .filter((name) => name !== ".git")
        .map((name) => [name, fs.readFileSync(path.join(opts.cwd, name), "utf8")]),
    );
  return { base, opts, model, cli, good, newest, files };
}

for (const point of ["model.before", "reply.taken", "intent.before", "intent.durable", "effect.done"]) {
  test(`killed at ${point} and taken up again, a prompt's checkpoint holds the files as they were before its first effect`, async () => {
    const { opts, model, cli, good, newest, files } = setUp();
    fs.writeFileSync(path.join(opts.cwd, "kept.txt"), "as it was");
    const killed = await cli(["-p", "make a", ...model], { env: { HOLDFAST_CRASH_AT: point } });
    expect(killed.signal).toEqual("SIGKILL");
    const id = await newest();
    await good(["-p", "-r", id, ...model]);
    expect(files()).toEqual({ "kept.txt": "as it was", "a.txt": "by the agent" });
    await good(["contexts", "restore", id, "prompt 1", "--only", "files"]);
    expect(files()).toEqual({ "kept.txt": "as it was" });
  });
}

test("a prompt given from another worktree keeps the files of the context's tree", async () => {
  const { base, opts, model, good, newest, files } = setUp();
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd: opts.cwd, stdio: "ignore" });
  const other = path.join(base, "other");
  git("init", "-q");
  fs.writeFileSync(path.join(opts.cwd, "only-main.txt"), "main");
  git("commit", "-q", "--allow-empty", "-m", "first");
  git("worktree", "add", "-q", other);
  fs.writeFileSync(path.join(other, "only-other.txt"), "other");
  await good(["-p", "make a", ...model]);
  const id = await newest();
  await good(["-p", "-r", id, "make b", ...model], { cwd: other });
  expect(files()).toEqual({ "only-main.txt": "main", "a.txt": "by the agent", "b.txt": "by the agent" });
  await good(["contexts", "restore", id, "prompt 2", "--only", "files"]);
  expect(files()).toEqual({ "only-main.txt": "main", "a.txt": "by the agent" });
  expect(fs.readdirSync(other).sort()).toEqual([".git", "only-other.txt"]);
});
