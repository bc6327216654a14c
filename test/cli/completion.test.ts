// Completion: the script of bash really completes; those of other shells are read by them where they are installed.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { scratch } from "../turn.ts";
import { bin, runCli, runProgram } from "./cli.ts";
import { here } from "./here.ts";

const isInstalled = (shell: string): boolean => spawnSync(shell, ["-c", "true"]).status === 0;

test("bash completes commands, verbs, flags, values, files and the ids of contexts", async () => {
  const opts = { cwd: scratch(onTestFinished), state: scratch(onTestFinished) };
  fs.writeFileSync(path.join(opts.cwd, "plan.yaml"), "");
  fs.mkdirSync(path.join(opts.cwd, "plans"));
  const { session_id: id } = JSON.parse((await runCli(["-p", "--json", "list Markdown files"], opts)).stdout);
  await here(["tasks", "add", "One thing"], opts);
  const [checkpoint] = JSON.parse((await here(["contexts", "checkpoints", id, "--json"], opts)).stdout);
  fs.writeFileSync(path.join(opts.state, "completion"), (await here(["completion", "bash"], opts)).stdout);
  const asked: [string[], string][] = [
    [["con"], "contexts"],
    [["contexts", "re"], "resume resumable restore"],
    [["contexts", "restore", "--o"], "--only"],
    [["contexts", "restore", "--only", ""], "conversation data files"],
    [["contexts", "show", ""], id],
    [["-p", "-r", "ctx_"], id],
    [["-p", "--permission-mode", "a"], "acceptEdits auto"],
    [["--cwd", "/", "contexts", "verif"], "verify"],
    [["contexts", "--js"], "--json"],
    [["team", "reject", "--"], "--resume --json --cwd --state --debug --help"],
    [["workflow", "run", "plan."], "plan.yaml"],
    [["-p", "x", "--add-dir", "pla"], "plans"],
    [["help", "wo"], "worktrees worker workflow"],
    [["approve", "apr_1", ""], "allow remember rule deny"],
    [["-p", "words", ""], ""],
    [["-p", "see @pl"], ""],
    [["-p", "@plan."], "@plan.yaml"],
    [["-p", "--output-format", "=", "j"], "json"],
    [["-p", "--output-format", "="], "text json stream-json"],
    [["-p", "--agent", "exp"], "explorer"],
    [["agents", "show", "gen"], "general-purpose"],
    [["contexts", "restore", id, ""], String(checkpoint.seq)],
    [["tasks", "show", ""], "task_1"],
    [["jobs", "kill", ""], ""],
    [["jobs", "ls", "--output-f"], ""],
  ];
  const typed = asked.map(([words]) => `c ${words.map((word) => `'${word}'`).join(" ")}`).join("\n");
  const script = `holdfast() { '${process.execPath}' '${bin}' "$@"; }
source "$HOME/completion"
c() { COMP_WORDS=(holdfast "$@"); COMP_CWORD=$#; _holdfast; echo "\${COMPREPLY[*]}"; }
${typed}`;
  const { stdout, stderr } = await runProgram("bash", ["-c", script], opts);
  expect(stderr).toBe("");
  expect(stdout.replace(/\n$/, "").split("\n")).toEqual(asked.map(([, reply]) => reply));
});

test("asking for ids makes nothing and says nothing where there is nothing", async () => {
  const opts = { cwd: scratch(onTestFinished), state: scratch(onTestFinished) };
  expect(await here(["completion", "contexts"], opts)).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(fs.readdirSync(opts.state)).toEqual([]);
});

/** As each shell is asked without a terminal. */
const ASK = {
  zsh: [
    "-f",
    "-c",
    `compdef() { : }; compadd() { shift; print -r -- $* }; source $0; words=(holdfast contexts res); CURRENT=3; _holdfast`,
  ],
  fish: ["--no-config", "-c", `source $argv[1]; complete -C "holdfast contexts res"`],
};

for (const shell of ["zsh", "fish"] as const)
  test.skipIf(!isInstalled(shell))(`${shell} takes its script, and completes by it`, async () => {
    const opts = { cwd: scratch(onTestFinished), state: scratch(onTestFinished) };
    const file = path.join(opts.state, "completion");
    fs.writeFileSync(file, (await here(["completion", shell], opts)).stdout);
    const { stdout, stderr } = spawnSync(shell, [...ASK[shell], file], { encoding: "utf8" });
    expect([stdout, stderr]).toEqual([expect.stringMatching(/\bresumable\b/), ""]);
  });
