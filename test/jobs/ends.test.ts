// How a command ends: its shell says so itself where it can, and nobody believes more than that.
import { mkdirSync, readdirSync } from "node:fs";
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
  ["with its descriptors closed", "exec 246>&- 247>&-; echo a; (exit 5)", "a\n[exit code 5]"],
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
const FORGED = 'd=$(basename $(dirname $(readlink /proc/$$/fd/247))); { trap -p EXIT; pwd; } >&247; echo "0 $d" >&246';

test("a command that says its end too early does not outlive the start of the next one", async () => {
  const { root, run } = setUp();
  expect(await run(`${FORGED}; (sleep 1.5; echo late > late) & sleep 1.5; echo late > late`)).toBe("(no output)");
  expect(await run("echo next")).toBe("next");
  await sleep(1_700);
  expect(readdirSync(root)).toEqual([]);
});

test("nonsense where shells say their end is ignored, and commands end as before", async () => {
  const { run } = setUp();
  expect(await run("echo nonsense >&246; printf %5000d 1 >&246; echo a; (exit 5)")).toBe("a\n[exit code 5]");
  for (let i = 0; i < 3; i++) expect(await run(`echo ${i}`)).toBe(`${i}`);
});

test("nobody but the shell that ran it says what a command's end was", async () => {
  const { base, run, turn } = setUp();
  const slow = turn.call("bash", { command: "sleep 0.5; echo slow; exit 7" });
  await sleep(150);
  const other = readdirSync(join(base, "jobs")).find((name) => name.startsWith("job_"))!;
  await run(`echo "0 ${other}" >&246`);
  expect((await slow).content).toBe("slow\n[exit code 7]");
});
