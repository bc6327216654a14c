// How a command ends: its shell says so itself where it can, and nobody believes more than that.
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createJobs } from "../../src/mechanisms/jobs/index.ts";
import { scratch, testTurn } from "../tools/turn.ts";

function setUp() {
  const base = scratch(onTestFinished);
  const root = join(base, "project");
  mkdirSync(root);
  const turn = testTurn([createJobs({ dir: join(base, "jobs") })], { root });
  const run = async (command: string) => (await turn.call("bash", { command })).content as string;
  return { base, root, turn, run };
}

test.each([
  ["by itself", "echo a; (exit 5)", "a\n[exit code 5]"],
  ["by exit", "echo a; exit 5", "a\n[exit code 5]"],
  ["by set -e", "set -e; echo a; (exit 5); echo b", "a\n[exit code 5]"],
  ["by exec", "exec sh -c 'echo a; exit 5'", "a\n[exit code 5]"],
  ["by a signal", "true; kill $$; sleep 5", "[exit code 143 (SIGTERM)]"],
  ["by an error of the shell", "set -u; echo $none", "bash: line 1: none: unbound variable\n[exit code 127]"],
  ["with a trap of its own", "trap 'sleep 0.05; echo last; exit 4' EXIT; echo a", "a\nlast\n[exit code 4]"],
  ["with its descriptors closed", "exec 56>&- 57>&-; echo a; (exit 5)", "a\n[exit code 5]"],
  [
    "with names of its own",
    "echo() { :; }; exit() { :; }; pwd() { :; }; trap() { :; }; printf a; (false)",
    "a\n[exit code 1]",
  ],
  ["with its steps shown", "set -x; : a", "+++ : a"],
  [
    "in a text that is not whole",
    "cat <<X\na",
    expect.stringMatching(/^bash: (line \d: )?warning: here-document .*\na$/),
  ],
])("a command that ends %s has its own output and exit code", async (_, command, expected) => {
  const { run, turn } = setUp();
  expect(await run(command)).toEqual(expected);
  expect(await run("cd ..; mkdir -p x; cd project; echo again")).toBe("again");
  expect((await turn.call("bash", { command: "mkdir -p d && cd d" })).isError).toBe(false);
  expect(await run("basename $PWD")).toBe("d");
});

/** What the shell would say of this command's end, said by the command. */
const FORGED =
  'd=$(basename $(dirname $(readlink /proc/$$/fd/57))); { trap -p EXIT; echo 0; pwd; } >&57; echo "$d" >&56';

test("a command that says its end too early does not outlive the start of the next one", async () => {
  const { root, run } = setUp();
  expect(await run(`${FORGED}; (sleep 1.5; echo late > late) & sleep 1.5; echo late > late`)).toBe("(no output)");
  expect(await run("echo next")).toBe("next");
  await sleep(1_700);
  expect(readdirSync(root)).toEqual([]);
});

test("nonsense where shells say their end is ignored, and commands end as before", async () => {
  const { run } = setUp();
  expect(await run("echo nonsense >&56; printf %5000d 1 >&56; echo a; (exit 5)")).toBe("a\n[exit code 5]");
  for (let i = 0; i < 3; i++) expect(await run(`echo ${i}`)).toBe(`${i}`);
});

test("a pipe full of nonsense keeps no command from ending", async () => {
  const { run } = setUp();
  await run("timeout 0.3 cat /dev/zero >&56");
  for (let i = 0; i < 3; i++) expect(await run(`echo ${i}; (exit 3)`)).toBe(`${i}\n[exit code 3]`);
});

test("a supervisor that is killed loses no result, and the next command has another one", async () => {
  const { base, run, turn } = setUp();
  const slow = turn.call("bash", { command: "sleep 0.7; echo slow; exit 7" });
  await sleep(300);
  const tag = readdirSync(join(base, "jobs"))
    .find((name) => name.startsWith(".done"))!
    .slice(5);
  for (const pid of readdirSync("/proc")) {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      if (!words.includes("holdfast-jobs") || !words.includes(tag)) continue;
      const parent = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1];
      if (parent === String(process.pid)) process.kill(Number(pid), "SIGKILL");
    } catch {} // it ended
  }
  expect((await slow).content).toBe("slow\n[exit code 7]");
  for (let i = 0; i < 3; i++) expect(await run(`echo ${i}`)).toBe(`${i}`);
});

test("a directory that a command removed or made up is not where the next one runs", async () => {
  const { root, run } = setUp();
  await run("mkdir d && cd d && rmdir ../d");
  expect(await run("pwd")).toBe(root);
  await run("ln -s /etc lnk; cd lnk");
  expect(await run("pwd")).toBe(root);
  await run("truncate -s 300M /proc/$$/fd/57; exit 1");
  expect(await run("pwd")).toBe(root);
});

test("nobody but the shell that ran it says what a command's end was", async () => {
  const { base, run, turn } = setUp();
  const slow = turn.call("bash", { command: "sleep 0.5; echo slow; exit 7" });
  await sleep(150);
  const other = readdirSync(join(base, "jobs")).find((name) => name.startsWith("job_"))!;
  await run(`echo ${other} >&56`);
  expect((await slow).content).toBe("slow\n[exit code 7]");
});
