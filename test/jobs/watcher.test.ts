// The little shell that waits for the harness's end, killed alone.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createRunner } from "../../src/mechanisms/jobs/runner.ts";
import { scratch } from "../turn.ts";

interface Shell {
  pid: number;
  parent: number;
  /** Whether it has a child of its own. */
  isLeaf: boolean;
}

/** The supervisor's shells: those whose words name this directory of jobs. */
function shellsOf(dir: string): Shell[] {
  const all = readdirSync("/proc").flatMap((name) => {
    try {
      if (!/^\d+$/.test(name) || !readFileSync(`/proc/${name}/cmdline`, "utf8").includes(dir)) return [];
      const [, state, parent] = /\) (\S) (\d+)/.exec(readFileSync(`/proc/${name}/stat`, "utf8")) ?? [];
      const isShell = readFileSync(`/proc/${name}/cmdline`, "utf8").includes("holdfast-jobs");
      return state === "Z" || !isShell ? [] : [{ pid: Number(name), parent: Number(parent) }];
    } catch {
      return []; // it ended
    }
  });
  return all.map((one) => ({ ...one, isLeaf: !all.some(({ parent }) => parent === one.pid) }));
}

test("a supervisor whose watcher was killed still ends with its harness", { timeout: 60_000 }, async () => {
  const base = scratch(onTestFinished);
  const [dir, root] = [join(base, "jobs"), join(base, "project")];
  mkdirSync(root);
  const spec = { context: "ctx_test", agent: "lead", callId: "c1", command: "true", cwd: root, background: false };
  const plan = createRunner({ dir }).plan(spec);
  const args = [join(import.meta.dirname, "parent.ts"), dir, root, "true", JSON.stringify(plan)];
  const harness = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => void harness.kill("SIGKILL"));
  await once(harness.stdout, "data");
  await sleep(500); // its command has ended, and the next shell is ready
  const supervisor = shellsOf(dir).find(({ parent }) => parent === harness.pid)!.pid;
  // The watcher is the supervisor's child that only waits: a worker has its own child, the shell that is kept ready.
  const watchers = shellsOf(dir).filter(({ parent, isLeaf }) => parent === supervisor && isLeaf);
  for (const { pid } of watchers) process.kill(pid, "SIGKILL");
  expect(watchers.length).toBeGreaterThan(0);
  harness.kill("SIGKILL");
  await once(harness, "exit");
  const deadline = Date.now() + 20_000;
  while (shellsOf(dir).length > 0 && Date.now() < deadline) await sleep(100);
  const left = shellsOf(dir);
  for (const { pid } of left) process.kill(pid, "SIGKILL");
  expect(left).toEqual([]);
});

test("a shell that cannot be made ready ahead is no fault yet: the first command says why", async () => {
  const base = scratch(onTestFinished);
  writeFileSync(join(base, "file"), "");
  const runner = createRunner({ dir: join(base, "file", "jobs") }); // as on a full disk: nothing can be made there
  expect(() => runner.prepare("ctx_test", base)).not.toThrow();
  const spec = { context: "ctx_test", agent: "lead", callId: "c1", command: "true", cwd: base, background: false };
  expect(() => runner.plan(spec)).toThrow(/ENOTDIR|not a directory/);
});
