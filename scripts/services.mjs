// Makes sure that what the tests need is there: strace for the crash tests, bubblewrap for the sandbox, openssl for a certificate. Under CI=true a missing one fails.
import { spawnSync } from "node:child_process";

const has = (name) => spawnSync("sh", ["-c", `command -v ${name}`], { stdio: "ignore" }).status === 0;
const PACKAGES = { bash: "bash", git: "git", strace: "strace", bwrap: "bubblewrap", openssl: "openssl" };
const missing = Object.keys(PACKAGES).filter((name) => !has(name));
if (missing.length > 0 && process.platform === "linux" && process.getuid() === 0 && has("apt-get")) {
  const packages = missing.map((name) => PACKAGES[name]).join(" ");
  console.log(`installing ${packages}`);
  spawnSync("sh", ["-c", `apt-get update -qq && apt-get install -y -qq ${packages}`], { stdio: "inherit" });
}
const still = missing.filter((name) => !has(name));
if (still.length > 0) {
  console.error(
    `missing: ${still.join(", ")} (install them; the tests that need them ${process.env.CI ? "fail" : "are skipped"})`,
  );
  if (process.env.CI) process.exit(1);
}
