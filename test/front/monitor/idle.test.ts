// What watching costs: an idle host does the same with a monitor beside it and a page open as without; and a monitor whose page shows nothing new says nothing.
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { hasStrace } from "../../crash/strace.ts";
import { openFleet } from "../../team/fleet.ts";
import { call, seenIn } from "../../team/world.ts";
import { scratch } from "../../turn.ts";
import { startMonitor, until } from "./running-monitor.ts";

const WATCHED_MS = process.env.HOLDFAST_LONG === "1" ? 10_000 : 3_000;
/** What a store does with its files. A process that rests still wakes its own threads: those calls are not asked about. */
const CALLS = "trace=openat,pread64,pwrite64,preadv,pwritev,fdatasync,fsync,ftruncate,unlink,rename,link,fcntl";

/** Calls of the system on files, of all its threads, by name. */
async function callsDuring(pid: number, ms: number): Promise<Record<string, number>> {
  const log = path.join(scratch(onTestFinished), "calls");
  const tracer = spawn("strace", ["-f", "-qq", "-p", String(pid), "-e", CALLS, "-e", "signal=none", "-o", log]);
  const ended = once(tracer, "exit");
  await sleep(ms);
  tracer.kill("SIGINT");
  await ended;
  const counts: Record<string, number> = {};
  for (const [, name = ""] of fs.readFileSync(log, "utf8").matchAll(/^\d+ +(\w+)\(/gm))
    counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

const sum = (counts: Record<string, number>): number => Object.values(counts).reduce((all, one) => all + one, 0);
const writesIn = (counts: Record<string, number>): number =>
  ["pwrite64", "pwritev", "fdatasync", "fsync", "ftruncate", "unlink", "rename", "link"].reduce(
    (all, name) => all + (counts[name] ?? 0),
    0,
  );

/** Everything a store is made of, as it was last written. */
const writtenAt = (dir: string): Record<string, number> =>
  Object.fromEntries(
    fs
      .readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile() && /ledger\.db(?:-wal)?$|\.bell$/.test(one.name))
      .map((one) => [one.name, fs.statSync(path.join(one.parentPath, one.name)).mtimeMs]),
  );

test.runIf(hasStrace || process.env.CI === "true")(
  "a monitor beside it, with a page open, costs an idle host nothing; and nothing new is not told",
  { timeout: 120_000 },
  async () => {
    const fleet = await openFleet({
      ...{ mates: ["alice"], tasks: [], workers: 1 },
      script(request) {
        const { agent, last, since } = seenIn(request);
        const alice = { name: "alice", role: "writer", prompt: "Wait." };
        return agent === "lead" && last === "begin" && since === 0 ? call("spawn_teammate", alice) : { text: "Ready." };
      },
    });
    onTestFinished(() => fleet.close());
    await until(async () => ((await fleet.events()).some(({ type }) => type === "team.idled") ? true : undefined), 50);
    await sleep(2_000);
    const host = fleet.workers[0]!.pid!;
    const alone = await callsDuring(host, WATCHED_MS);
    const monitor = await startMonitor({ cwd: fleet.root, state: fleet.state }, ["--state", fleet.state]);
    await monitor.json("/api/overview");
    await sleep(2_500); // what a start writes down is written
    const files = writtenAt(fleet.state);
    const [beside, unwatched] = await Promise.all([host, monitor.pid].map((pid) => callsDuring(pid, WATCHED_MS)));
    const ends = new AbortController();
    onTestFinished(() => ends.abort());
    let told = 0;
    for (const at of ["/api/live", `/api/p/${await projectOf(monitor)}/c/${fleet.context}/live`]) {
      const { body } = await monitor.get(at, {}, ends.signal);
      (async () => {
        for await (const piece of body!.pipeThrough(new TextDecoderStream()))
          told += piece.split("\n").filter((line) => line.startsWith("data:")).length;
      })().catch(() => undefined);
    }
    await sleep(500);
    const hello = told;
    const [watched, watching] = await Promise.all([host, monitor.pid].map((pid) => callsDuring(pid, WATCHED_MS)));
    const figures = { "an idle host": alone, "beside a monitor": beside, "with a page open": watched };
    const own = { "the monitor without a page": unwatched, "with a page": watching };
    console.log(`calls on files in ${WATCHED_MS / 1000} s: ${JSON.stringify({ ...figures, ...own })}`);
    expect(told - hello).toBe(0);
    // The first tells everything; the other begins at the end.
    expect(hello).toBe(1);
    expect(writtenAt(fleet.state)).toEqual(files);
    for (const one of [beside!, watched!]) {
      expect(writesIn(one)).toBe(writesIn(alone));
      // Timers do not fall into a stretch of time exactly as often.
      expect(sum(one)).toBeLessThanOrEqual(sum(alone) * 1.5 + 10);
    }
    expect([writesIn(unwatched!), writesIn(watching!)]).toEqual([0, 0]);
  },
);

const projectOf = async (monitor: { json<T>(path: string): Promise<T> }): Promise<string> =>
  (await monitor.json<{ projects: { id: string }[] }>("/api/overview")).projects[0]!.id;
