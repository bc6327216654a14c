// What the command line does when nobody reads any more: a closed pipe, a full disk, a lost terminal.
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { scratch } from "../turn.ts";
import { type RunningCli, runCli, runProgram, startCli } from "./cli.ts";

const bin = path.join(import.meta.dirname, "../../bin/holdfast.js");

function setUp() {
  const opts = { cwd: scratch(onTestFinished), state: scratch(onTestFinished) };
  const script = path.join(opts.state, "script.yaml");
  const write = (name: string) =>
    `  - calls:\n      - { name: write_file, input: { path: ${name}, content: "done" } }\n    delay_ms: 400\n`;
  fs.writeFileSync(script, `rounds:\n${write("a.txt")}${write("b.txt")}  - text: both are there\n`);
  const args = ["-p", "make two", "--model", `rehearsal:${script}`, "--permission-mode", "acceptEdits"];
  const contexts = async () => JSON.parse((await runCli(["contexts", "ls", "--json"], opts)).stdout);
  const made = () => fs.readdirSync(opts.cwd).sort();
  return { opts, args, contexts, made };
}

const firstLine = async ({ child }: RunningCli) => once(child.stdout!, "data");

test("a reader that leaves after the first line does not end the turn", async () => {
  const { opts, args, contexts, made } = setUp();
  const running = startCli([...args, "--output-format", "stream-json"], opts);
  await firstLine(running);
  running.child.stdout!.destroy();
  const { code, stderr } = await running.exited;
  expect([code, stderr]).toEqual([0, expect.not.stringContaining("    at ")]);
  expect([made(), (await contexts())[0].status]).toEqual([["a.txt", "b.txt"], "completed"]);
});

test("a log that is closed at both ends does not end the turn", async () => {
  const { opts, args, contexts, made } = setUp();
  const running = startCli([...args, "--output-format", "stream-json"], opts);
  await firstLine(running);
  running.child.stdout!.destroy();
  running.child.stderr!.destroy();
  expect((await running.exited).code).toEqual(0);
  expect([made(), (await contexts())[0].status]).toEqual([["a.txt", "b.txt"], "completed"]);
});

test("a full disk under the output is one line and exit code 1; the work is done and kept", async () => {
  const { opts, args, contexts, made } = setUp();
  const full = fs.openSync("/dev/full", "w");
  onTestFinished(() => fs.closeSync(full));
  const env = { PATH: process.env.PATH, HOME: opts.state, XDG_STATE_HOME: opts.state };
  const child = spawn(process.execPath, [bin, ...args, "--quiet", "--output-format", "stream-json"], {
    cwd: opts.cwd,
    env,
    stdio: ["ignore", full, "pipe"],
  });
  let stderr = "";
  child.stderr!.on("data", (text) => {
    stderr += text;
  });
  const [code] = await once(child, "close");
  expect([code, stderr.match(/the output cannot be written: the disk is full \(ENOSPC\)/g)?.length, stderr]).toEqual([
    1,
    1,
    expect.not.stringContaining("    at "),
  ]);
  expect([made(), (await contexts())[0].status]).toEqual([["a.txt", "b.txt"], "completed"]);
});

test("a lost terminal interrupts the turn cleanly, and it can be taken up", async () => {
  const { opts, args, contexts, made } = setUp();
  const running = startCli([...args, "--output-format", "stream-json"], opts);
  await firstLine(running);
  running.child.kill("SIGHUP");
  running.child.kill("SIGHUP");
  const { code, signal, stderr } = await running.exited;
  expect([code, signal, stderr]).toEqual([130, null, expect.stringContaining("Take it up again with: ")]);
  expect((await contexts())[0].status).toEqual("paused");
  const again = await runCli(["-p", "-c", ...args.slice(2)], opts);
  expect([again.code, made()]).toEqual([0, ["a.txt", "b.txt"]]);
});

test("a command other than -p whose output is lost to a full disk says so too", async () => {
  const opts = { cwd: scratch(onTestFinished), state: scratch(onTestFinished) };
  const command = `${process.execPath} ${bin} contexts ls --json > /dev/full; echo "exit $?" >&2`;
  const listed = await runProgram("sh", ["-c", command], opts);
  expect(listed.stderr).toMatch(/the output cannot be written[\s\S]*exit 1/);
});
