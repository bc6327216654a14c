// npm run check: types, lint, unused code, package shape, shell programs, file sizes. Import boundaries are a test (test/boundaries.test.ts).
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const MAX_LINES = 400;
const AIM_LINES = 200;
let failed = false;

function step(name, command, args) {
  const started = Date.now();
  const run = spawnSync(command, args, { cwd: root, encoding: "utf8" });
  const ok = run.status === 0;
  console.log(`${ok ? "✓" : "✗"} ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
  if (!ok) {
    failed = true;
    process.stdout.write(`${run.stdout ?? ""}${run.stderr ?? ""}`);
  }
}

function files(dir, kinds = /\.(ts|tsx|css|mjs|js|lua|sh)$/) {
  return fs
    .readdirSync(path.join(root, dir), { withFileTypes: true, recursive: true })
    .filter((e) => e.isFile() && kinds.test(e.name))
    .map((e) => path.relative(root, path.join(e.parentPath, e.name)));
}

function sizes() {
  const lines = (f) => fs.readFileSync(path.join(root, f), "utf8").split("\n").length - 1;
  const all = ["src", "test"].flatMap((dir) => files(dir)).map((f) => [lines(f), f]);
  const over = all.filter(([n]) => n > MAX_LINES);
  const long = all.filter(([n, f]) => n > AIM_LINES && f.startsWith("src")).sort((a, b) => b[0] - a[0]);
  console.log(
    `${over.length ? "✗" : "✓"} file sizes: ${all.length} files, ${long.length} in src over ${AIM_LINES} lines, ${over.length} over ${MAX_LINES}`,
  );
  for (const [n, f] of over) if (!f.startsWith("src")) console.log(`    ${n} ${f}`);
  for (const [n, f] of long) console.log(`    ${n} ${f}`);
  if (over.length) failed = true;
}

/** Files that another one sources are checked with it: only there their variables are known. */
function shellPrograms() {
  const all = files("src", /\.sh$/);
  step("shell syntax", "bash", ["-c", 'for file; do bash -n "$file" || exit; done', "bash", ...all]);
  if (spawnSync("shellcheck", ["--version"]).error) {
    console.log("· shellcheck is not there: node scripts/services.mjs installs it, or says why not");
    return;
  }
  const sourced = all.flatMap((file) => {
    const text = fs.readFileSync(path.join(root, file), "utf8");
    return [...text.matchAll(/^source (\S+)$/gm)].map(([, part]) => path.join(path.dirname(file), part));
  });
  const programs = all.filter((file) => !sourced.includes(file));
  step("shellcheck", "shellcheck", ["--source-path=SCRIPTDIR", "--external-sources", "--check-sourced", ...programs]);
}

const bin = (name) => path.join(root, "node_modules/.bin", name);
step("types", bin("tsc"), ["--noEmit", "-p", "tsconfig.json"]);
step("types of the page", bin("tsc"), ["--noEmit", "-p", "src/front/monitor/page/tsconfig.json"]);
step("lint and format", bin("biome"), ["check", "--error-on-warnings"]);
step("unused code", bin("knip"), ["--no-progress"]);
step("package shape", bin("publint"), ["--strict"]);
shellPrograms();
sizes();
process.exit(failed ? 1 : 0);
