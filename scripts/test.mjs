// npm test: check, build, all tests; closes with "N passed, N failed". --long runs the whole crash matrix, soak and fuzz too;
// --fast leaves out what kills, damages or runs many processes, and the checks: for daily work, under a minute.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const long = process.argv.includes("--long");
const fast = process.argv.includes("--fast");
const only = process.argv.slice(2).filter((a) => a !== "--long" && a !== "--fast");
/**
 * Left out of a fast run: what starts processes many times, waits, or tries thousands of cases. Of each kind something stays: a kill
 * (crash/acceptance), a prompt and its formats (cli/headless, front/stream-json), a terminal, a team, worktrees, a job.
 */
const SLOW = [
  "test/crash/{effects,lease,matrix,moments,open-work,points,power,syscalls}.test.ts",
  "test/**/*crash*.test.ts",
  "test/**/*processes.test.ts",
  "test/{agents,checkpoints,hooks,models,subagents,workflow}/cli.test.ts",
  "test/approvals/**",
  "test/backup/{command,continuous,damaged,killed,s3}.test.ts",
  "test/browser/{context,home,inert,live,views}.test.ts",
  "test/budget/budget.test.ts",
  "test/cli/{authority,contexts,contexts-time,doctor-store,messages,monitor,project*,prompt,safety,start,stay,streams,which-context,wrapper-flags}.test.ts",
  "test/contexts/{foreign-changes,lifetime,persons-work,properties,sweep}.test.ts",
  "test/cron/{house,worker}.test.ts",
  "test/docs/**",
  "test/file-snapshots/{ignored,property,repositories,restore}.test.ts",
  "test/front/monitor/{answers,idle,limits,live,takeover}.test.ts",
  "test/front/{sdk-lines,text-output}.test.ts",
  "test/front/terminal/{moments,requests,screen,tmux}.test.ts",
  "test/goal/{goal,killed,replay}.test.ts",
  "test/hooks/{moments,scripts,transcript}.test.ts",
  "test/instructions/layouts.test.ts",
  "test/jobs/{adoption,ends,escapes,output,sandbox,watcher}.test.ts",
  "test/ledger/{contention,copies,copies-proof,damage,disk,repair}.test.ts",
  "test/ledger/redis/**",
  "test/loop/timelines.test.ts",
  "test/mcp/{agents,calls,children,cli,http,pins}.test.ts",
  "test/memory/reading.test.ts",
  "test/models/failures.test.ts",
  "test/package/**",
  "test/plugins/**",
  "test/recovery/long-turn.test.ts",
  "test/scenarios/**",
  "test/security/{brought,credentials,embedded,gate-race,gated,granted,harness-git,hostile-commands}.test.ts",
  "test/security/{hostile-knowledge,hostile-repository,left-behind,marks,own-install,paths,races,unfinished-work}.test.ts",
  "test/settings/trust.test.ts",
  "test/shell-policy/generated.test.ts",
  "test/skills/kept.test.ts",
  "test/subagents/{limits,task}.test.ts",
  "test/tasks/tools.test.ts",
  "test/team/{fleet,host-calls,hosting,idle,messages,stopped,team}.test.ts",
  "test/templates/templates.test.ts",
  "test/workflow/{course,example}.test.ts",
  "test/worktrees/{create,house,persons-work,remove,supervisors,take-over}.test.ts",
];
const run = (command, args, env = {}) =>
  spawnSync(command, args, { cwd: root, stdio: "inherit", env: { ...process.env, ...env } }).status === 0;

let failed = 0;
if (!run(process.execPath, ["scripts/services.mjs"])) process.exit(1);
if (!run(process.execPath, ["scripts/build.mjs", fast ? "--if-stale" : "--types"])) process.exit(1);
if (only.length === 0 && !fast && !run(process.execPath, ["scripts/check.mjs"])) failed++;

const out = path.join(os.tmpdir(), `holdfast-test-${process.pid}.json`);
// By a variable: --exclude does not reach the projects of a run.
const env = { HOLDFAST_LONG: long ? "1" : "", HOLDFAST_TESTS_LEFT_OUT: JSON.stringify(fast ? SLOW : []) };
run(
  path.join(root, "node_modules/.bin/vitest"),
  [
    "run",
    ...(fast ? ["--no-isolate"] : []),
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${out}`,
    ...only,
  ],
  env,
);
const report = fs.existsSync(out)
  ? JSON.parse(fs.readFileSync(out, "utf8"))
  : { numPassedTests: 0, numFailedTests: 1, numFailedTestSuites: 0 };
fs.rmSync(out, { force: true });
failed += report.numFailedTests;
if (report.numFailedTests === 0 && !report.success) failed++; // a suite that did not even load
if (only.length === 0 && !fast && !run(process.execPath, ["scripts/test-redis.mjs"])) failed++; // the same requests, on a server
console.log(`${report.numPassedTests} passed, ${failed} failed`);
process.exit(failed === 0 && report.numPassedTests > 0 ? 0 : 1);
