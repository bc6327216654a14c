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
/** Most of the suite's time, little of what a change usually breaks. */
const SLOW = [
  "test/crash/**",
  "test/**/*crash*.test.ts",
  "test/**/*processes.test.ts",
  "test/**/cli.test.ts",
  "test/approvals/**",
  "test/file-snapshots/{ignored,property,repositories,restore}.test.ts",
  "test/cli/{contexts,contexts-time,safety,stay}.test.ts",
  "test/contexts/{foreign-changes,lifetime,properties}.test.ts",
  "test/cron/{dst,house,worker}.test.ts",
  "test/docs/**",
  "test/hooks/scripts.test.ts",
  "test/templates/templates.test.ts",
  "test/workflow/{course,example}.test.ts",
  "test/jobs/{adoption,ends,escapes,sandbox}.test.ts",
  "test/ledger/{contention,copies,copies-proof,copies-writing,damage,disk,repair}.test.ts",
  "test/models/event-reader.test.ts",
  "test/package/**",
  "test/scenarios/**",
  "test/security/**",
  "test/settings/trust.test.ts",
  "test/subagents/{background,limits}.test.ts",
  "test/tasks/{command,tools}.test.ts",
  "test/team/{fleet,hooks,hosting,idle,stay,stopped,team}.test.ts",
  "test/worktrees/**",
];
const run = (command, args, env = {}) =>
  spawnSync(command, args, { cwd: root, stdio: "inherit", env: { ...process.env, ...env } }).status === 0;

let failed = 0;
if (!run(process.execPath, ["scripts/services.mjs"])) process.exit(1);
if (!run(process.execPath, ["scripts/build.mjs", fast ? "--if-stale" : "--types"])) process.exit(1);
if (only.length === 0 && !fast && !run(process.execPath, ["scripts/check.mjs"])) failed++;

const out = path.join(os.tmpdir(), `holdfast-test-${process.pid}.json`);
const skipped = fast ? SLOW.map((pattern) => `--exclude=${pattern}`) : [];
const env = { HOLDFAST_LONG: long ? "1" : "" };
run(
  path.join(root, "node_modules/.bin/vitest"),
  ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${out}`, ...skipped, ...only],
  env,
);
const report = fs.existsSync(out)
  ? JSON.parse(fs.readFileSync(out, "utf8"))
  : { numPassedTests: 0, numFailedTests: 1, numFailedTestSuites: 0 };
fs.rmSync(out, { force: true });
failed += report.numFailedTests;
if (report.numFailedTests === 0 && !report.success) failed++; // a suite that did not even load
console.log(`${report.numPassedTests} passed, ${failed} failed`);
process.exit(failed === 0 && report.numPassedTests > 0 ? 0 : 1);
