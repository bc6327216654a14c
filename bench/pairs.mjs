// Two builds side by side, interleaved: is the new one no worse?
//   node bench/pairs.mjs OLD_FOLDER [NEW_FOLDER] [--pairs 10] [--only start,read,shell] [--state redis://…] [--json FILE]
// Processor time (its own and its children's), time from round to round, and peak memory; the median of the ratios of neighbouring runs.
// --state: where the new one keeps its ledgers; with the same folder twice that compares stores.
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startModel } from "./model.mjs";

const here = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const words = process.argv.slice(2);
const flag = (name, fallback) => (words.includes(`--${name}`) ? words[words.indexOf(`--${name}`) + 1] : fallback);
const folders = words.filter((word, at) => !word.startsWith("--") && !words[at - 1]?.startsWith("--"));
const builds = { old: path.resolve(folders[0]), new: path.resolve(folders[1] ?? here) };
const pairs = Number(flag("pairs", 10));
const kinds = [
  { key: "start", rounds: 1, tool: "read_file" },
  { key: "read", rounds: 50, tool: "read_file" },
  { key: "shell", rounds: 20, tool: "bash" },
].filter(({ key }) => flag("only", "start,read,shell").split(",").includes(key));

const work = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-pairs-"));
const project = path.join(work, "project");
fs.mkdirSync(project);
const line = "the quick brown fox jumps over it, line after line\n";
for (let i = 1; i <= 200; i++) {
  fs.writeFileSync(path.join(project, `f${String(i).padStart(3, "0")}.txt`), `${line.repeat(20)}MARK-${i}\n`);
}
const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

async function once(build, { rounds, tool }) {
  const model = await startModel({ rounds, tool, root: project });
  const home = path.join(work, build);
  const report = path.join(work, "report");
  const prompt = ["-p", "Please do the scripted work.", "--model", "openai-compatible/mock"];
  const command = [path.join(builds[build], "bin/holdfast.js"), ...prompt, "--permission-mode", "bypass", "--quiet"];
  const child = spawn(
    "bash",
    ["-c", 'TIMEFORMAT="%U %S"; { time "$@" 2>&3; } 3>&2 2>"$REPORT"', "bash", process.execPath, ...command],
    {
      cwd: project,
      env: {
        PATH: process.env.PATH,
        HOME: home,
        XDG_STATE_HOME: path.join(home, "state"),
        OPENAI_BASE_URL: model.url,
        OPENAI_API_KEY: "sk-proj-0123456789abcdefghijklmnopqrstuvwxyz",
        REPORT: report,
        ...(build === "new" && flag("state") && { HOLDFAST_STATE: flag("state") }),
      },
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  let peak = 0;
  const watch = setInterval(() => {
    try {
      const pid = fs.readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim().split(" ")[0];
      const status = fs.readFileSync(`/proc/${pid}/status`, "utf8");
      peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
    } catch {
      // it has ended
    }
  }, 20);
  const code = await new Promise((resolve) => child.on("exit", resolve));
  clearInterval(watch);
  model.close();
  const { gaps } = model.result();
  if (code !== 0 || gaps.length !== rounds)
    throw new Error(`${build}: exit ${code}, ${gaps.length} of ${rounds} rounds`);
  const [user, system] = fs.readFileSync(report, "utf8").trim().split(" ").map(Number);
  return { cpuMs: (user + system) * 1000, peakMiB: peak / 1024, roundMs: median(gaps) };
}

const results = {};
for (const kind of kinds) {
  for (const build of ["old", "new"]) await once(build, kind); // compile cache, page cache
  const runs = { old: [], new: [] };
  for (let pair = 0; pair < pairs; pair++) {
    for (const build of pair % 2 ? ["new", "old"] : ["old", "new"]) runs[build].push(await once(build, kind));
  }
  const ratio = (field) => median(runs.new.map((run, at) => run[field] / runs.old[at][field]));
  const middle = (build, field) => median(runs[build].map((run) => run[field]));
  results[kind.key] = {
    cpu: ratio("cpuMs"),
    memory: ratio("peakMiB"),
    round: ratio("roundMs"),
    oldMs: middle("old", "cpuMs"),
    newMs: middle("new", "cpuMs"),
    oldMiB: middle("old", "peakMiB"),
    newMiB: middle("new", "peakMiB"),
    oldRoundMs: middle("old", "roundMs"),
    newRoundMs: middle("new", "roundMs"),
  };
  const { cpu, memory, round, oldRoundMs, newRoundMs, oldMs, newMs, oldMiB, newMiB } = results[kind.key];
  console.log(
    `${kind.key.padEnd(6)} cpu ${cpu.toFixed(3)} (${oldMs.toFixed(0)} → ${newMs.toFixed(0)} ms)` +
      `  memory ${memory.toFixed(3)} (${oldMiB.toFixed(0)} → ${newMiB.toFixed(0)} MiB)` +
      `  round ${round.toFixed(3)} (${oldRoundMs.toFixed(1)} → ${newRoundMs.toFixed(1)} ms)  ${pairs} pairs`,
  );
}
if (flag("json")) fs.writeFileSync(flag("json"), `${JSON.stringify(results, null, 2)}\n`);
fs.rmSync(work, { recursive: true, force: true });
