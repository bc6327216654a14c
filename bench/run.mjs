// npm run bench: start-up, time per round, memory and durable appends, as ratios to the plain-Node floor in the same run.
//   node bench/run.mjs [--rounds 200] [--reps 3] [--json FILE]
// The machine may be noisy: runs are interleaved, medians are taken; trust no ratio under 1.5.
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { startModel } from "./model.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const arg = (name, fallback) =>
  process.argv.includes(`--${name}`) ? process.argv[process.argv.indexOf(`--${name}`) + 1] : fallback;
const rounds = Number(arg("rounds", 200));
const reps = Number(arg("reps", 3));
const work = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-bench-"));
const project = path.join(work, "project");
fs.mkdirSync(project);
for (let i = 1; i <= 200; i++) {
  fs.writeFileSync(
    path.join(project, `f${String(i).padStart(3, "0")}.txt`),
    `${"the quick brown fox jumps over it, line after line\n".repeat(20)}MARK-${i}\n`,
  );
}

const commands = {
  floor: (url) => [path.join(root, "bench/floor.mjs"), url, "Please do the scripted work."],
  holdfast: () => [
    path.join(root, "bin/holdfast.js"),
    "-p",
    "Please do the scripted work.",
    "--model",
    "openai-compatible/mock",
    "--permission-mode",
    "bypass",
    "--quiet",
  ],
};
const median = (a) => a.toSorted((x, y) => x - y)[a.length >> 1];
const now = () => performance.timeOrigin + performance.now();

async function once(name, { n, tool }) {
  const model = await startModel({ rounds: n, tool, root: project });
  const env = {
    PATH: process.env.PATH,
    HOME: work,
    XDG_STATE_HOME: path.join(work, "state"),
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: "x",
  };
  const startedAt = now();
  const child = spawn("/usr/bin/env", ["sh", "-c", 'exec "$@"', "sh", process.execPath, ...commands[name](model.url)], {
    cwd: project,
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  let peak = 0;
  const watch = setInterval(() => {
    try {
      peak = Math.max(
        peak,
        Number(/VmHWM:\s+(\d+)/.exec(fs.readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1] ?? 0),
      );
    } catch {
      // it has ended
    }
  }, 10);
  const code = await new Promise((resolve) => child.on("exit", resolve));
  clearInterval(watch);
  model.close();
  const { first, gaps, bytes } = model.result();
  if (code !== 0 || gaps.length !== n) throw new Error(`${name} ${tool}: exit ${code}, ${gaps.length} of ${n} rounds`);
  return {
    startMs: first - startedAt,
    gapMs: median(gaps),
    peakMiB: peak / 1024,
    firstBytes: bytes[0],
    bytesPerRound: (bytes.at(-1) - bytes[0]) / n,
  };
}

async function appends() {
  const { openSqliteStore } = await import(path.join(root, "dist/index.js"));
  const store = await openSqliteStore(path.join(work, "appends.db"));
  const data = { text: "x".repeat(1000) };
  const times = [];
  for (let i = 0; i < 3000; i++) {
    const t = performance.now();
    await store.append([{ ledger: "ctx_bench", events: [{ type: "bench.done", actor: "bench", data }] }]);
    times.push(performance.now() - t);
  }
  await store.close();
  const fd = fs.openSync(path.join(work, "plain"), "w");
  const line = Buffer.from(`${JSON.stringify(data)}\n`);
  const plain = [];
  for (let i = 0; i < 3000; i++) {
    const t = performance.now();
    fs.writeSync(fd, line);
    fs.fdatasyncSync(fd);
    plain.push(performance.now() - t);
  }
  fs.closeSync(fd);
  return { storeMs: median(times), plainMs: median(plain) };
}

const kinds = [
  { key: "start", n: 1, tool: "read_file" },
  { key: "read", n: rounds, tool: "read_file" },
  { key: "shell", n: rounds, tool: "bash" },
];
const samples = {};
for (const name of Object.keys(commands)) await once(name, { n: 1, tool: "read_file" }); // warm: compile cache, page cache
for (let rep = 0; rep < reps; rep++) {
  for (const kind of kinds) {
    for (const name of Object.keys(commands)) {
      samples[kind.key] ??= {};
      samples[kind.key][name] ??= [];
      samples[kind.key][name].push(await once(name, kind));
    }
  }
}
const of = (key, name, field) => median(samples[key][name].map((s) => s[field]));
const durable = await appends();
const row = (what, ours, floor, unit) =>
  console.log(
    `| ${what} | ${ours.toFixed(2)} ${unit} | ${floor.toFixed(2)} ${unit} | ${(ours / floor).toFixed(2)} × |`,
  );
console.log(
  `Node ${process.version}, ${os.cpus().length} × ${os.cpus()[0]?.model}, ${rounds} rounds, ${reps} repetitions, durability on\n`,
);
console.log("| | holdfast | floor | ratio |\n| --- | ---: | ---: | ---: |");
row("start → first request", of("start", "holdfast", "startMs"), of("start", "floor", "startMs"), "ms");
row("read round, gap", of("read", "holdfast", "gapMs"), of("read", "floor", "gapMs"), "ms");
row("shell round, gap", of("shell", "holdfast", "gapMs"), of("shell", "floor", "gapMs"), "ms");
row("peak memory, read", of("read", "holdfast", "peakMiB"), of("read", "floor", "peakMiB"), "MiB");
row("peak memory, shell", of("shell", "holdfast", "peakMiB"), of("shell", "floor", "peakMiB"), "MiB");
row("first request", of("start", "holdfast", "firstBytes") / 1024, of("start", "floor", "firstBytes") / 1024, "KiB");
row("added per read round", of("read", "holdfast", "bytesPerRound"), of("read", "floor", "bytesPerRound"), "B");
row("durable append (floor: write + fdatasync)", durable.storeMs, durable.plainMs, "ms");
if (arg("json")) fs.writeFileSync(arg("json"), JSON.stringify({ samples, durable }));
spawnSync("rm", ["-rf", work]);
