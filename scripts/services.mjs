// Makes sure that what the tests need is there: strace for the crash tests. Under CI=true a missing one fails.
import { spawnSync } from "node:child_process";

const has = (name) => spawnSync("sh", ["-c", `command -v ${name}`], { stdio: "ignore" }).status === 0;
const missing = ["bash", "git", "strace"].filter((name) => !has(name));
if (missing.length > 0 && process.platform === "linux" && process.getuid() === 0 && has("apt-get")) {
  console.log(`installing ${missing.join(", ")}`);
  spawnSync("sh", ["-c", `apt-get update -qq && apt-get install -y -qq ${missing.join(" ")}`], { stdio: "inherit" });
}
const still = missing.filter((name) => !has(name));
if (still.length > 0) {
  console.error(
    `missing: ${still.join(", ")} (install them; the tests that need them ${process.env.CI ? "fail" : "are skipped"})`,
  );
  if (process.env.CI) process.exit(1);
}
