// node bench/checkpoints.mjs [--files 20000] [--reps 5]: what the files of a checkpoint cost, in a repository with packed objects, with loose ones, and outside git.
// Each repetition is a process of its own; minima and medians, because the machine may be noisy.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const arg = (name, fallback) =>
  process.argv.includes(`--${name}`) ? process.argv[process.argv.indexOf(`--${name}`) + 1] : fallback;
const here = fileURLToPath(import.meta.url);
const child = arg("child");
if (child) await measure(child, arg("state"));
else await run(Number(arg("files", 20_000)), Number(arg("reps", 5)));

/** One process: the first save, ten that follow, one of a later process, a restore of a hundred files. */
async function measure(root, state) {
  const { openFileKeeper } = await import("../src/file-snapshots/index.ts");
  const timed = async (work) => {
    const started = performance.now();
    const result = await work();
    return [performance.now() - started, result];
  };
  let longest = 0;
  let last = performance.now();
  const beat = setInterval(() => {
    longest = Math.max(longest, performance.now() - last - 1);
    last = performance.now();
  }, 1);
  const again = fs.existsSync(state);
  const keeper = openFileKeeper({ root, dir: state });
  const [first, mark] = await timed(() => keeper.save());
  clearInterval(beat);
  const [settled] = await timed(() => keeper.settled());
  const next = [];
  for (let i = 0; i < 10; i++) {
    fs.writeFileSync(path.join(root, "p1/m1/changing.ts"), `${i} ${Date.now()}`);
    next.push((await timed(() => keeper.save()))[0]);
    await sleep(20);
  }
  for (let i = 0; i < 100; i++) fs.writeFileSync(path.join(root, `p2/m2/new${i}.ts`), "new");
  const [restore] = await timed(() => keeper.restore(mark));
  await keeper.settled();
  const memory = process.memoryUsage().rss / 1e6;
  console.log(
    JSON.stringify({ again, first, settled, next, restore, longest, memory, files: mark.files, partial: mark.partial }),
  );
}

async function run(files, reps) {
  const work = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-bench-"));
  const roots = { packed: "packed", loose: "loose", "outside git": "plain" };
  for (const [kind, name] of Object.entries(roots)) make(path.join(work, name), files, kind);
  await sleep(2_500); // files that changed a moment ago are read twice
  const results = Object.fromEntries(Object.keys(roots).map((kind) => [kind, []]));
  for (let rep = 0; rep < reps; rep++)
    for (const [kind, name] of Object.entries(roots)) {
      const state = path.join(work, `state-${name}-${rep}`);
      const args = [here, "--child", path.join(work, name), "--state", state];
      const once = () => JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
      const cold = once();
      results[kind].push({ ...cold, later: once().first, disk: bytesIn(state) / 1e6 });
    }
  console.log(
    `${files} files, ${reps} processes each, milliseconds as min / median; load ${os.loadavg()[0].toFixed(1)} on ${os.cpus().length} cores`,
  );
  for (const [kind, list] of Object.entries(results)) {
    const show = (pick) => {
      const all = list.flatMap(pick).sort((a, b) => a - b);
      return `${all[0].toFixed(0)} / ${all[all.length >> 1].toFixed(0)}`;
    };
    console.log(
      `${kind.padEnd(12)} first ${show((r) => r.first)} · next ${show((r) => r.next)} · first of a later process ${show((r) => r.later)} · longest wait of others ${show((r) => r.longest)} · settled behind ${show((r) => r.settled)} · restore of 100 ${show((r) => r.restore)} · disk MB ${show((r) => r.disk)} · rss MB ${show((r) => r.memory)}${list.some((r) => r.partial) ? " · PARTIAL" : ""}`,
    );
  }
  fs.rmSync(work, { recursive: true });
}

function make(root, files, kind) {
  let seed = 7;
  const random = () => {
    seed = (seed * 1103515245 + 12345) & 0x7fffffff;
    return seed / 0x7fffffff;
  };
  const words = Array.from({ length: 1000 }, () => Math.floor(random() * 1e9).toString(36));
  for (let i = 0; i < files; i++) {
    const dir = path.join(root, `p${i % 20}`, `m${Math.floor(i / 20) % 70}`);
    fs.mkdirSync(dir, { recursive: true });
    const length = 200 + random() * random() * 12_000;
    let text = `// file ${i}\n`;
    while (text.length < length) text += words[Math.floor(random() * 1000)] + (random() < 0.15 ? "\n" : " ");
    fs.writeFileSync(path.join(dir, `f${i}.ts`), text);
  }
  if (kind === "outside git") return;
  const env = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  const git = (...args) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "gc.auto=0", ...args], { cwd: root, env });
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "x");
  if (kind === "packed") git("gc", "-q");
}

function bytesIn(dir) {
  return fs
    .readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((e) => e.isFile())
    .reduce((sum, e) => sum + fs.statSync(path.join(e.parentPath, e.name)).size, 0);
}
