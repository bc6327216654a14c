// npm run bench:contexts: 363 keys, 9.2 MB, 100 checkpoints that change 1 % each, one full restore and read of all values, beside the
// seed's deep copy to a file and LangGraph's SqliteSaver, in one run; the checkpoint alone by size; 8 × 500 read-modify-writes.
//   node bench/contexts.mjs [--reps 3] [--only holdfast,seed,langgraph,sizes,contention] [--langgraph DIR] [--json FILE]
// LangGraph is installed into a temporary folder (not a dependency). The machine may be noisy: trust no ratio under 1.5.
import { execFile, spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

const self = fileURLToPath(import.meta.url);
const root = path.dirname(path.dirname(self));
const arg = (name, fallback) =>
  process.argv.includes(`--${name}`) ? process.argv[process.argv.indexOf(`--${name}`) + 1] : fallback;
const KEYS = 363;
const BYTES = 9_200_000;
const CHECKPOINTS = 100;
const CHANGED = Math.round(KEYS / 100);
const LANGGRAPH = "@langchain/langgraph-checkpoint-sqlite@1.0.4";
const run = promisify(execFile);
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];

/** What agents share: records with texts and numbers; a third of it does not compress. */
function value(key, version, bytes) {
  const rows = [];
  for (let i = 0, size = 0; size < bytes; i++) {
    const id = hash("sha256", `${key}/${version}/${i}`, "base64url");
    const row = {
      id,
      path: `src/module-${key}/file-${i}.ts`,
      line: (i * 7919) % 997,
      finding: `the call in step ${i % 23} returns before its result is checked (${id.slice(0, 6)})`,
    };
    rows.push(row);
    size += JSON.stringify(row).length + 1;
  }
  return { key, version, rows };
}

function* changes() {
  for (let n = 1; n <= CHECKPOINTS; n++) {
    const changed = {};
    for (let k = 0; k < CHANGED; k++) {
      const key = (n * CHANGED + k) % KEYS;
      changed[`key_${key}`] = value(key, n, BYTES / KEYS);
    }
    yield [n, changed];
  }
}

const initial = () =>
  Object.fromEntries(Array.from({ length: KEYS }, (_, k) => [`key_${k}`, value(k, 0, BYTES / KEYS)]));
const hashOf = (data) => hash("sha256", JSON.stringify(Object.entries(data).toSorted()));

function disk(folder) {
  let bytes = 0;
  for (const one of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (one.isFile()) bytes += fs.statSync(path.join(one.parentPath, one.name)).size;
  }
  return bytes;
}

/** Each returns what is timed: begin with everything, change and checkpoint, go back to the first and read it all. */
const peers = {
  async holdfast(folder) {
    const { openContexts } = await import("holdfast/contexts");
    const file = path.join(folder, "ledger.db");
    let contexts = await openContexts({ file });
    let context = await contexts.create({ task: "bench" });
    return {
      async begin(data) {
        await context.shareAll(data, { checkpoint: "0" });
      },
      async step(n, changed) {
        await context.shareAll(changed, { checkpoint: String(n) });
      },
      async restoreFirst() {
        await contexts.close();
        contexts = await openContexts({ file });
        context = await contexts.get(context.id);
        await context.restore("0");
        const data = {};
        for (const { key } of await context.list()) data[key] = await context.read(key);
        return data;
      },
      close: () => contexts.close(),
    };
  },
  async seed(folder) {
    let context = { task_id: "bench", shared_data: {} };
    const save = (n) => {
      const checkpoint = { name: String(n), timestamp: Date.now(), snapshot: structuredClone(context) };
      fs.writeFileSync(path.join(folder, `checkpoint-${n}.json`), JSON.stringify(checkpoint));
    };
    return {
      async begin(data) {
        Object.assign(context.shared_data, data);
        save(0);
      },
      async step(n, changed) {
        Object.assign(context.shared_data, changed);
        save(n);
      },
      async restoreFirst() {
        context = JSON.parse(fs.readFileSync(path.join(folder, "checkpoint-0.json"), "utf8")).snapshot;
        return context.shared_data;
      },
      close: async () => {},
    };
  },
  async langgraph(folder) {
    const from = createRequire(path.join(arg("langgraph"), "package.json"));
    const load = (name) => import(pathToFileURL(from.resolve(name)).href);
    const { SqliteSaver } = await load("@langchain/langgraph-checkpoint-sqlite");
    const { emptyCheckpoint, uuid6 } = await load("@langchain/langgraph-checkpoint");
    const open = () => SqliteSaver.fromConnString(path.join(folder, "langgraph.db"));
    let saver = open();
    const data = {};
    const versions = {};
    let config = { configurable: { thread_id: "bench", checkpoint_ns: "" } };
    let first;
    const put = async (n, changed) => {
      Object.assign(data, changed);
      for (const key of Object.keys(changed)) versions[key] = n + 1;
      const checkpoint = {
        ...emptyCheckpoint(),
        id: uuid6(n),
        ts: new Date().toISOString(),
        channel_values: { ...data },
        channel_versions: { ...versions },
      };
      config = await saver.put(config, checkpoint, { source: "loop", step: n, parents: {} });
      first ??= config;
    };
    return {
      begin: (all) => put(0, all),
      step: (n, changed) => put(n, changed),
      async restoreFirst() {
        saver.db.close();
        saver = open();
        return (await saver.getTuple(first)).checkpoint.channel_values;
      },
      close: async () => saver.db.close(),
    };
  },
};

async function child(name) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), `holdfast-bench-${name}-`));
  try {
    const peer = await peers[name](folder);
    const took = { write: 0, restore: 0 };
    const timed = async (what, work) => {
      const from = performance.now();
      const result = await work();
      took[what] += performance.now() - from;
      return result;
    };
    const data = initial();
    const expected = hashOf(data);
    await timed("write", () => peer.begin(data));
    for (const [n, changed] of changes()) await timed("write", () => peer.step(n, changed));
    const back = await timed("restore", () => peer.restoreFirst());
    if (hashOf(back) !== expected) throw new Error(`${name}: what came back is not what was there`);
    await peer.close();
    const peakKib = Number(/VmHWM:\s+(\d+)/.exec(fs.readFileSync("/proc/self/status", "utf8"))?.[1] ?? 0);
    const node = process.versions.node;
    console.log(JSON.stringify({ ms: took.write + took.restore, ...took, bytes: disk(folder), peakKib, node }));
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** The checkpoint alone, in contexts from 1 kB to 90 MB; taken in turns, so that noise meets all alike. */
async function sizes() {
  const { openContexts } = await import("holdfast/contexts");
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-bench-sizes-"));
  const contexts = await openContexts({ file: path.join(folder, "ledger.db") });
  const all = [];
  for (const bytes of [1_000, 100_000, 1_000_000, 9_200_000, 90_000_000]) {
    const context = await contexts.create({ task: String(bytes) });
    const keys = bytes < 10_000 ? 1 : KEYS;
    for (let k = 0; k < keys; k++) await context.share(`key_${k}`, value(k, 0, bytes / keys));
    all.push({ bytes: (await context.details()).bytes, context, took: [] });
  }
  for (let i = 0; i < 120; i++) {
    for (const one of all) {
      const from = performance.now();
      await one.context.checkpoint(`c${i}`);
      if (i >= 20) one.took.push(performance.now() - from);
    }
  }
  await contexts.close();
  fs.rmSync(folder, { recursive: true, force: true });
  console.log(JSON.stringify(all.map(({ bytes, took }) => ({ bytes, medianMs: median(took) }))));
}

async function contention(keys) {
  const { openContexts } = await import("holdfast/contexts");
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-bench-contention-"));
  const file = path.join(folder, "ledger.db");
  const contexts = await openContexts({ file });
  const context = await contexts.create({ task: "count" });
  const merger = path.join(root, "test/contexts/children/merger.ts");
  const children = Array.from({ length: 8 }, () =>
    run(process.execPath, [merger, file, context.id, "500", String(keys)]),
  );
  await Promise.all(children.map((one) => once(one.child.stdout, "data")));
  const from = performance.now();
  for (const one of children) one.child.stdin.end();
  const outs = await Promise.all(children);
  const seconds = (performance.now() - from) / 1000;
  const waits = outs.flatMap(({ stdout }) => JSON.parse(stdout.split("\n")[1])).toSorted((a, b) => a - b);
  let sum = 0;
  for (const { key } of await context.list()) sum += await context.read(key);
  await contexts.close();
  fs.rmSync(folder, { recursive: true, force: true });
  const at = (share) => waits[Math.floor(waits.length * share)];
  return { keys, lost: 4000 - sum, seconds, medianMs: at(0.5), p99Ms: at(0.99), worstMs: waits.at(-1) };
}

/** Its folder and a Node that its native part loads in; undefined, and said, when there is none. */
function installLanggraph() {
  const folder = arg("langgraph", path.join(os.tmpdir(), "holdfast-bench-langgraph"));
  const nodes = [process.execPath, ...process.env.PATH.split(":").map((one) => path.join(one, "node"))];
  const probe = [
    "-e",
    "new (require('better-sqlite3'))(':memory:'); require('@langchain/langgraph-checkpoint-sqlite')",
  ];
  const found = () => {
    const node = nodes.find((one) => fs.existsSync(one) && spawnSync(one, probe, { cwd: folder }).status === 0);
    return node && { folder, node };
  };
  if (fs.existsSync(path.join(folder, "node_modules")) && found()) return found();
  console.log(`installing ${LANGGRAPH} into ${folder} …`);
  fs.mkdirSync(folder, { recursive: true });
  const own = { private: true, allowScripts: { "better-sqlite3": true } };
  fs.writeFileSync(path.join(folder, "package.json"), JSON.stringify(own));
  const env = { ...process.env, PATH: `${path.dirname(process.execPath)}:${process.env.PATH}` };
  const install = [
    "install",
    "--no-audit",
    "--no-fund",
    LANGGRAPH,
    "@langchain/langgraph-checkpoint",
    "@langchain/core",
  ];
  const done = spawnSync("npm", install, { cwd: folder, env, encoding: "utf8", timeout: 600_000 });
  if (done.status === 0 && found()) return found();
  const why = (done.stderr || done.error?.message || "").trim().split("\n").at(-1) || "it loads in no Node here";
  console.log(`LangGraph could not be installed here: ${why}`);
  return undefined;
}

async function main() {
  const only = arg("only", "holdfast,seed,langgraph,sizes,contention").split(",");
  const reps = Number(arg("reps", 3));
  const langgraph = only.includes("langgraph") ? installLanggraph() : undefined;
  const names = ["holdfast", "seed", "langgraph"].filter(
    (name) => only.includes(name) && (name !== "langgraph" || langgraph),
  );
  const load = os.loadavg()[0].toFixed(1);
  console.log(
    `node ${process.versions.node}, ${os.cpus().length} cores, load ${load}; ${KEYS} keys, ${BYTES / 1e6} MB, ${CHECKPOINTS} checkpoints × ${CHANGED} keys changed`,
  );
  const results = Object.fromEntries(names.map((name) => [name, []]));
  for (let rep = 0; rep < reps; rep++) {
    for (const name of names) {
      const node = name === "langgraph" ? langgraph.node : process.execPath;
      const args = [self, "--child", name, ...(langgraph ? ["--langgraph", langgraph.folder] : [])];
      results[name].push(JSON.parse((await run(node, args, { maxBuffer: 1 << 24 })).stdout));
    }
  }
  const of = (name, field) => median(results[name].map((one) => one[field]));
  for (const name of names) {
    const ratio = (field) =>
      name === "holdfast" || !names.includes("holdfast")
        ? ""
        : ` (${(of(name, field) / of("holdfast", field)).toFixed(1)} ×)`;
    console.log(
      `${name.padEnd(10)} ${of(name, "ms").toFixed(0)} ms${ratio("ms")}: writes and checkpoints ${of(name, "write").toFixed(0)}, restore and read ${of(name, "restore").toFixed(0)}; ` +
        `disk ${(of(name, "bytes") / 1e6).toFixed(1)} MB${ratio("bytes")}; peak ${(of(name, "peakKib") / 1024).toFixed(0)} MiB; node ${results[name][0].node}`,
    );
  }
  if (only.includes("sizes")) {
    const out = JSON.parse((await run(process.execPath, [self, "--child", "sizes"])).stdout);
    results.sizes = out;
    for (const { bytes, medianMs } of out)
      console.log(`checkpoint at ${(bytes / 1e6).toFixed(3)} MB: ${medianMs.toFixed(3)} ms`);
  }
  if (only.includes("contention")) {
    results.contention = [await contention(1), await contention(4)];
    for (const one of results.contention)
      console.log(
        `8 × 500 merges of ${one.keys} keys: ${one.lost} lost, median ${one.medianMs.toFixed(1)} ms, p99 ${one.p99Ms.toFixed(1)}, worst ${one.worstMs.toFixed(1)}; ${one.seconds.toFixed(1)} s in all`,
      );
  }
  if (arg("json")) fs.writeFileSync(arg("json"), JSON.stringify(results, null, 2));
}

const mode = arg("child");
if (mode === "sizes") await sizes();
else if (mode) await child(mode);
else await main();
