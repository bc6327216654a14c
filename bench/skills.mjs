// npm run bench:skills: what skills cost a start: processor time of a whole run with and without 50 of them, in pairs.
//   node bench/skills.mjs [--pairs 10] [--skills 50]
// Processor time, since the machine may be busy; each pair takes turns in who goes first.
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startModel } from "./model.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const arg = (name, fallback) =>
  Number(process.argv.includes(`--${name}`) ? process.argv[process.argv.indexOf(`--${name}`) + 1] : fallback);
const pairs = arg("pairs", 10);
const skills = arg("skills", 50);
const work = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-bench-"));

/** A home with so many skills of the user's, of a usual size. */
function homeWith(count) {
  const home = path.join(work, `home-${count}`);
  fs.mkdirSync(home);
  for (let i = 0; i < count; i++) {
    const folder = path.join(home, `.claude/skills/skill-${i}`);
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(
      path.join(folder, "SKILL.md"),
      `---\nname: skill-${i}\ndescription: For work of the kind ${i}, when files of that kind are to be changed or looked at.\n---\n# Skill ${i}\n\n${"Do this first, then that, and look at what came of it.\n".repeat(60)}`,
    );
  }
  return home;
}

const project = path.join(work, "project");
fs.mkdirSync(project);
const homes = { without: homeWith(0), with: homeWith(skills) };

async function once(kind) {
  const model = await startModel({ rounds: 0, root: project });
  const env = {
    PATH: process.env.PATH,
    HOME: homes[kind],
    XDG_STATE_HOME: path.join(work, "state"),
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: "x",
  };
  const times = path.join(work, "times");
  const command = [
    process.execPath,
    path.join(root, "bin/holdfast.js"),
    "-p",
    "Hello.",
    "--model",
    "openai-compatible/mock",
    "-q",
  ];
  // `times` of the shell: user and system time of the children it waited for, and of theirs.
  const child = spawn("/bin/bash", ["-c", '"$@"; code=$?; times > "$TIMES"; exit $code', "bash", ...command], {
    cwd: project,
    env: { ...env, TIMES: times },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const code = await new Promise((resolve) => child.on("exit", resolve));
  model.close();
  if (code !== 0) throw new Error(`${kind}: exit ${code}`);
  const of = fs.readFileSync(times, "utf8").split("\n")[1];
  const ms = [...of.matchAll(/(\d+)m([\d.]+)s/g)].map(([, m, s]) => (Number(m) * 60 + Number(s)) * 1000);
  return { cpuMs: ms[0] + ms[1], bytes: model.result().bytes[0] };
}

const median = (all) => all.toSorted((a, b) => a - b)[all.length >> 1];
const rows = [];
for (const kind of ["without", "with"]) await once(kind); // the state directory, and the compile cache
for (let i = 0; i < pairs; i++) {
  const order = i % 2 === 0 ? ["without", "with"] : ["with", "without"];
  const row = {};
  for (const kind of order) row[kind] = await once(kind);
  rows.push(row);
}
const differences = rows.map((row) => row.with.cpuMs - row.without.cpuMs);
const all = (kind) => rows.map((row) => row[kind].cpuMs);
const shown = {
  pairs,
  skills,
  cpuMs: { without: median(all("without")), with: median(all("with")) },
  // What others on the machine do only adds: the least of each is nearest to what it costs.
  leastMs: { without: Math.min(...all("without")), with: Math.min(...all("with")) },
  moreMs: { median: median(differences), each: differences.map(Math.round) },
  firstRequestBytes: { without: rows[0].without.bytes, with: rows[0].with.bytes },
};
process.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
fs.rmSync(work, { recursive: true, force: true });
