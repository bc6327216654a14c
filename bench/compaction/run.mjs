#!/usr/bin/env node
import { spawn } from "node:child_process";
// What is left of a long conversation after compaction, and what it costs: several agents, one scripted model, offline.
//   node run.mjs [--only pi,codex,gemini,holdfast] [--rounds 40] [--limit-bytes 190000] [--summary lazy|empty|refuse|toolcall|long]
//                [--seed 1] [--timeout 150] [--no-recall] [--no-netns] [--work DIR] [--out results.json]
// Two turns (the second resumes the first) read one 8 kB file a round. Every agent is told a window that makes it compact at
// --limit-bytes (Holdfast by the server's refusal). Peers come from $BENCH_DIR/inst, the product from $HOLDFAST (a project root).
import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { printTable, withoutNetwork, workFolder } from "./cli.mjs";
import { measure } from "./measure.mjs";
import { scriptedModel, summaries } from "./model.mjs";
import { BENCH_DIR, peerNames, preparePeer } from "./peers.mjs";
import { serve } from "./wire.mjs";
import { makeWorld, writeWorld } from "./world.mjs";

const { values: opt } = parseArgs({
  options: {
    only: { type: "string", default: peerNames.join(",") },
    rounds: { type: "string", default: "40" },
    "limit-bytes": { type: "string", default: "190000" },
    summary: { type: "string", default: "lazy" },
    seed: { type: "string", default: "1" },
    timeout: { type: "string", default: "150" },
    "no-recall": { type: "boolean", default: false },
    "no-netns": { type: "boolean", default: false },
    work: { type: "string" },
    out: { type: "string" },
  },
});
const limitBytes = +opt["limit-bytes"];
const names = opt.only.split(",");
const unknown = names.filter((n) => !peerNames.includes(n));
if (unknown.length || !summaries[opt.summary]) {
  console.error(unknown.length ? `unknown agent: ${unknown}` : `unknown kind of summary: ${opt.summary}`);
  process.exit(2);
}
withoutNetwork();
const folder = workFolder(opt.work, BENCH_DIR);

/** One turn of an agent; resolves to { code, ms, tail }. */
function turn([command, ...args], { cwd, env }) {
  return new Promise((done) => {
    const t0 = Date.now();
    let out = "";
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    const killer = setTimeout(() => {
      out += "\n[time limit]";
      process.kill(-child.pid, "SIGKILL");
    }, +opt.timeout * 1000);
    for (const s of [child.stdout, child.stderr])
      s.on("data", (d) => {
        out = (out + d).slice(-4000);
      });
    child.on("error", (e) => {
      out += e.message;
    });
    child.on("close", (code) => {
      clearTimeout(killer);
      done({ code, ms: Date.now() - t0, tail: out.trim() });
    });
  });
}

async function runPeer(name) {
  const world = makeWorld(+opt.seed, +opt.rounds);
  const model = scriptedModel({ world, summary: opt.summary, limitBytes, withRecall: !opt["no-recall"] });
  const server = await serve(model.reply);
  try {
    const peer = preparePeer(name, { dir: path.join(folder, name), base: server.base, limitBytes });
    if (!peer) return { note: "not installed" };
    writeWorld(world, peer.work);
    model.windowBytes = peer.windowBytes;
    const turns = [];
    for (const [i, request] of world.requests.entries())
      turns.push(await turn(peer.print(request, i > 0), { cwd: peer.work, env: peer.env }));
    if (!model.log.some((r) => r.kind === "main")) return { note: `no request came: ${turns[0].tail.slice(-300)}` };
    return {
      ...measure(model, world),
      ms: turns.map((t) => t.ms),
      codes: turns.map((t) => t.code),
      tail: turns.at(-1).tail,
    };
  } finally {
    server.stop();
  }
}

/** The line of an agent's last output that says why it stopped. */
function reasonIn(tail) {
  const lines = tail.split("\n").filter(Boolean);
  return (lines.find((l) => /error|exceed|not fit|time limit/i.test(l)) ?? lines.at(-1) ?? "no word")
    .trim()
    .slice(0, 300);
}

const percent = (x) => (x == null ? "–" : `${Math.round(100 * x)} %`);
/** A run that stopped early shows its last view only: in brackets. */
const ifFinished = (r, cell) => (r.finished ? cell : `(${cell})`);
const rows = (facts) => [
  ["steps done", (r) => (r.finished ? `${r.steps} of ${r.steps}` : `**stopped at ${r.stepsDone} of ${r.steps}**`)],
  ...Object.keys(makeWorld(1, 4).probes).map((probe) => [
    probe,
    (r) => ifFinished(r, r.probes[probe] ? "kept" : "**lost**"),
  ]),
  ["probes kept", (r) => ifFinished(r, `${r.probesKept} of 7`)],
  ["views that lacked one of them after it was known", (r) => `${r.viewsMissingOne} of ${r.views}`],
  [`${facts} facts in results: in view`, (r) => ifFinished(r, r.factsInView)],
  [
    "… in view or by one recall (by reference + by query)",
    (r) => (r.reachable == null ? "–" : `${r.reachable} (${r.recalledByReference} + ${r.recalledByQuery})`),
  ],
  ["lost facts that a summariser was shown", (r) => `${r.lostShownToSummariser} of ${r.lost}`],
  ["results compacted before the model saw them", (r) => r.unseen],
  ["summary calls / their cached share", (r) => `${r.summaryCalls} / ${percent(r.summaryCachedShare)}`],
  ["prefix breaks", (r) => r.prefixBreaks],
  ["requests accepted / refused as too long", (r) => `${r.requests} / ${r.refused}`],
  ["cached share of all bytes", (r) => percent(r.cachedShare)],
  ["cost units (0.1 × cached + 1.25 × fresh, kB)", (r) => ifFinished(r, Math.round(r.cost))],
  ["max view kB", (r) => Math.round(r.maxView / 1000)],
];

const results = {};
for (const name of names) results[name] = await runPeer(name);
console.log(`${opt.rounds} file reads, compaction at ${limitBytes} bytes, summary: ${opt.summary}, seed ${opt.seed}\n`);
printTable(rows(opt.rounds), results);
for (const name of names)
  if (results[name].finished === false)
    console.log(`\n${name} stopped (exit ${results[name].codes}): ${reasonIn(results[name].tail)}`);
if (opt.out)
  fs.writeFileSync(opt.out, JSON.stringify({ at: new Date().toISOString(), options: opt, results }, null, 1));
