// Makes sure that what the tests need is there: strace for the crash tests, bubblewrap for the sandbox, openssl for a certificate, tmux for the interactive terminal, redis-server for the store of that name, a browser for the monitor's page, promtool for its metrics,
// ip and mkfs.ext4 for machines that are cut off and disks without power.
// Under CI=true a missing one fails. shellcheck is for the checks alone (scripts/check.mjs): where it cannot be installed, they go without.
import { spawnSync } from "node:child_process";

const has = (name) => spawnSync("sh", ["-c", `command -v ${name}`], { stdio: "ignore" }).status === 0;
const PACKAGES = {
  bash: "bash",
  git: "git",
  strace: "strace",
  bwrap: "bubblewrap",
  openssl: "openssl",
  tmux: "tmux",
  "redis-server": "redis-server",
  faketime: "faketime",
  "chromium-headless-shell": "chromium-headless-shell",
  promtool: "prometheus",
  // What only root can do.
  ...(process.getuid?.() === 0 && { ip: "iproute2", "mkfs.ext4": "e2fsprogs" }),
};
const FOR_CHECKS = { shellcheck: "shellcheck" };
const canInstall = process.platform === "linux" && process.getuid() === 0 && has("apt-get");

/** Gives the names that are missing afterwards, and whether they were said to be installed. */
function provide(wanted) {
  const missing = Object.keys(wanted).filter((name) => !has(name));
  if (missing.length === 0 || !canInstall) return { missing, installed: false };
  const packages = missing.map((name) => wanted[name]).join(" ");
  console.log(`installing ${packages}`);
  const run = ["-c", `apt-get update -qq && apt-get install -y -qq --no-install-recommends ${packages}`];
  // Tests start servers of their own: packages that would start one on its usual port are told not to.
  const env = { ...process.env, RUNLEVEL: "1" };
  const installed = spawnSync("sh", run, { stdio: "inherit", env }).status === 0;
  return { missing: missing.filter((name) => !has(name)), installed };
}

const needed = provide(PACKAGES);
const forChecks = provide(FOR_CHECKS);
if (needed.missing.length > 0) {
  const then = process.env.CI ? "fail" : "are skipped";
  console.error(`missing: ${needed.missing.join(", ")} (install them; the tests that need them ${then})`);
}
if (forChecks.missing.length > 0)
  console.error(`missing: ${forChecks.missing.join(", ")} (install it; what it checks is not checked)`);
if (process.env.CI && (needed.missing.length > 0 || (forChecks.missing.length > 0 && forChecks.installed)))
  process.exit(1);
