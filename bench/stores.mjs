// npm run bench:stores [-- --seconds 3]: appends of one writer and of eight processes, and how long a wake takes, over SQLite and Redis in one run.
// Each store is fresh, Redis servers are started for it on free ports; compare columns, not machines.
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const arg = (name, fallback) =>
  process.argv.includes(`--${name}`) ? process.argv[process.argv.indexOf(`--${name}`) + 1] : fallback;
const here = fileURLToPath(import.meta.url);
const SECONDS = Number(arg("seconds", 3));
const WRITERS = 8;
const WAKES = 300;
const BYTES = 400;

const { openStore: openPlace } = await import("../src/ledger/open-store.ts");
const openStore = (place) =>
  openPlace(place.startsWith("redis:") ? { server: place, project: "bench" } : { file: place });
const events = () => [{ type: "bench.done", actor: "bench", data: { text: "x".repeat(BYTES) } }];

/** One process: when all are there it appends to a ledger of its own, for so long; what each took. */
async function append(place) {
  const store = await openStore(place);
  const ledger = `w${process.pid}`;
  await store.append([{ ledger, events: events() }]);
  process.send("ready");
  await once(process, "message");
  const took = [];
  for (const until = performance.now() + SECONDS * 1_000; performance.now() < until; ) {
    const from = performance.now();
    await store.append([{ ledger, events: events() }]);
    took.push(performance.now() - from);
  }
  await store.close();
  process.send(took, () => process.disconnect());
}

/** One process that is told of every append. */
async function watch(place) {
  const store = await openStore(place);
  const stop = new AbortController();
  const changes = store.watchAll(stop.signal);
  process.send("ready");
  process.on("disconnect", () => stop.abort());
  for await (const { seq } of changes) process.send({ seq, at: process.hrtime.bigint().toString() });
  await store.close();
}

const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
const ms = (number) => number.toFixed(2);

const child = (what, place) =>
  spawn(process.execPath, [here, "--child", what, "--place", place, "--seconds", String(SECONDS)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });

async function writers(place, count) {
  const all = Array.from({ length: count }, () => child("append", place));
  await Promise.all(all.map((one) => once(one, "message")));
  const done = all.map((one) => once(one, "message"));
  for (const one of all) one.send("go");
  const took = (await Promise.all(done)).flatMap(([times]) => times).sort((a, b) => a - b);
  await Promise.all(all.map((one) => one.exitCode ?? once(one, "exit")));
  return { rate: took.length / SECONDS, p50: at(took, 0.5), p99: at(took, 0.99) };
}

async function wakes(place) {
  const store = await openStore(place);
  const watcher = child("watch", place);
  await once(watcher, "message");
  const took = [];
  for (let n = 0; n < WAKES; n++) {
    const heard = once(watcher, "message");
    const from = process.hrtime.bigint();
    await store.append([{ ledger: "bell", events: events() }]);
    const [{ at: told }] = await heard;
    took.push(Number(BigInt(told) - from) / 1e6);
    await sleep(3);
  }
  watcher.disconnect();
  await once(watcher, "exit");
  await store.close();
  took.sort((a, b) => a - b);
  return { p50: at(took, 0.5), p99: at(took, 0.99) };
}

async function freePort() {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

async function redis(folder, fsync) {
  const port = await freePort();
  const settings = [
    "--port",
    String(port),
    "--dir",
    folder,
    "--save",
    "",
    "--appendonly",
    "yes",
    "--appendfsync",
    fsync,
  ];
  const child = spawn("redis-server", [...settings, "--bind", "127.0.0.1"], { stdio: "ignore" });
  return { place: `redis://127.0.0.1:${port}/0?project=bench`, end: () => child.kill() };
}

async function run() {
  const kinds = {
    SQLite: async (folder) => ({ place: path.join(folder, "p.db"), end: () => {} }),
    "Redis, always": (folder) => redis(folder, "always"),
    "Redis, everysec": (folder) => redis(folder, "everysec"),
  };
  console.log(`appends of ${BYTES} bytes, ${SECONDS} s each; ms as p50 / p99`);
  for (const [name, make] of Object.entries(kinds)) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-stores-"));
    const { place, end } = await make(folder);
    const one = await writers(place, 1);
    const eight = await writers(place, WRITERS);
    const wake = await wakes(place);
    const column = ({ rate, p50, p99 }) => `${rate.toFixed(0)}/s (${ms(p50)} / ${ms(p99)})`;
    console.log(
      `${name}: one writer ${column(one)}, ${WRITERS} processes ${column(eight)}, wake ${ms(wake.p50)} / ${ms(wake.p99)}`,
    );
    end();
    await sleep(200);
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

if (arg("child")) await (arg("child") === "watch" ? watch(arg("place")) : append(arg("place")));
else await run();
