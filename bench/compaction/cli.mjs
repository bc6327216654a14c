// Shared by the benchmarks' command lines: no network but loopback, a folder to work in, a table, a seeded random source.

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

/** Starts this program again where only loopback exists, so that no agent can reach anything else; goes on without if that fails. */
export function withoutNetwork() {
  if (process.env.BENCH_NETNS === "1" || process.argv.includes("--no-netns")) return;
  const flags = process.getuid() === 0 ? ["-n"] : ["-rn"];
  const up = "ip link set lo up 2>/dev/null || ifconfig lo up";
  if (spawnSync("unshare", [...flags, "sh", "-c", up]).status !== 0) {
    console.error("no loopback-only namespace to be had; going on without");
    return;
  }
  const argv = [...flags, "sh", "-c", `${up}; exec "$@"`, "sh", process.execPath, ...process.argv.slice(1)];
  const r = spawnSync("unshare", argv, { stdio: "inherit", env: { ...process.env, BENCH_NETNS: "1" } });
  process.exit(r.status ?? 1);
}

/** The folder given, which stays; else a fresh one in `parent`, removed at the end. */
export function workFolder(given, parent) {
  if (given) return path.resolve(given);
  fs.mkdirSync(parent, { recursive: true });
  const dir = fs.mkdtempSync(path.join(parent, "run-"));
  process.on("exit", () => fs.rmSync(dir, { recursive: true, force: true, maxRetries: 3 }));
  return dir;
}

/** rows: [label, (result) → cell]; results: { name: figures, or { note } when there are none }. */
export function printTable(rows, results) {
  const names = Object.keys(results);
  console.log(`| | ${names.join(" | ")} |\n|---|${names.map(() => "---:").join("|")}|`);
  for (const [label, cell] of rows) {
    const cells = names.map((n) => (results[n].note ? "–" : String(cell(results[n]) ?? "–")));
    console.log(`| ${label} | ${cells.join(" | ")} |`);
  }
  for (const n of names) if (results[n].note) console.log(`\n${n}: ${results[n].note}`);
}

/** mulberry32: the same numbers for the same seed on every machine. */
export function randomFrom(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
