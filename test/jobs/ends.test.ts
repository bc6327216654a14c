// How a command ends: what is around its shell says so, and never the command.
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createJobs } from "../../src/mechanisms/jobs/index.ts";
import { scratch, testTurn } from "../turn.ts";
import { setUp as setUpSandbox, works } from "./sandboxed.ts";

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
  ["with descriptors of its own", "exec 10>f {g}>f; echo a; exec 10>&-; (exit 5)", "a\n[exit code 5]"],
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

/** Does something with each descriptor of its shell that is not a program's: `$n` on which the shell says where it is, others besides. */
const forged = (says: string, others: string) =>
  `{ d=$(basename $(dirname $(readlink /proc/$$/fd/1))); for n in $(ls -r /proc/$$/fd); do case $n in 0|1|2|255) ;; *) case $(readlink /proc/$$/fd/$n) in */cwd) ${says} >&$n ;; */job*/out) ;; *) ${others} ;; esac ;; esac; done; } 2>/dev/null`;
const FORGED = [
  forged("{ pwd; echo =0; }", 'eval "exec $n>&-"'), // the last word, and what it is held by let go
  forged("{ trap -p EXIT; echo 0; pwd; }", 'printf "%s\\n" "$d" "0 $d" "0 $d 1" >&$n'), // all that was ever believed
  'for f in /proc/1/fd/* /proc/$PPID/fd/*; do [ /proc/$$/fd/1 -ef $f ] || echo "0 $(basename $(dirname $(readlink /proc/$$/fd/1)))" >$f; done 2>/dev/null',
];

test.runIf(works).each(["in its sandbox", "without one"])("a command %s cannot say its own end", async (where) => {
  const isBare = where === "without one";
  const { run, root } = isBare ? setUp() : setUpSandbox();
  for (const forgery of isBare ? FORGED.slice(0, 2) : FORGED) {
    // What it says of its directory may be nonsense, which is told and leads nowhere.
    const said = await run(`${forgery}; sleep 0.3; echo late > late; (exit 3)`);
    expect(said).toMatch(/\[exit code 3\](?:\n\[directory stays [\s\S]*)?$/);
    expect(readdirSync(root)).toEqual(["late"]);
  }
  // A program sees nothing of ours at all.
  const seen = "ls -l /proc/self/fd | sed -n 's/.* \\([0-9]*\\) -> .*/\\1/p' | sort -n | tr '\\n' ' '";
  expect(await run(seen)).toBe("0 1 2 3 "); // the last one is the directory that ls reads
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
  await run("truncate -s 300M /proc/$$/fd/17; exit 1");
  expect(await run("pwd")).toBe(root);
});
