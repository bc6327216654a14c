// A project as a user has one, and the command line in it: killed at a point and taken up, its ledger read.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished } from "vitest";
import { openProject } from "../../src/contexts/project.ts";
import { openStore } from "../../src/ledger/open-store.ts";
import type { StoredEvent } from "../../src/ledger/store.ts";
import { runCli, stateEnv } from "../cli/cli.ts";
import { scratch } from "../turn.ts";

export async function openScenario(files: Record<string, string>) {
  const opts = { cwd: scratch(onTestFinished), state: scratch(onTestFinished) };
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(opts.cwd, name)), { recursive: true });
    fs.writeFileSync(path.join(opts.cwd, name), text);
    // Lists are by time, then by name.
    fs.utimesSync(path.join(opts.cwd, name), 1_700_000_000, 1_700_000_000);
  }
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd: opts.cwd, encoding: "utf8" });
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "first");
  const project = openProject({ cwd: opts.cwd, env: stateEnv(opts) });
  const store = await openStore(project.ledgers);
  onTestFinished(() => store.close());
  const run = (args: string[], env: Record<string, string> = {}) => runCli(args, { ...opts, env });
  return {
    opts,
    git,
    worktrees: path.join(project.stateDir, "worktrees"),
    run,
    json: async (...args: string[]) => JSON.parse((await run([...args, "--json"])).stdout),
    /** A request that is killed once at that point, and taken up. */
    async killed(point: string, request: string[], again: { args?: string[]; env?: Record<string, string> } = {}) {
      const first = await run(["-p", ...request], { HOLDFAST_CRASH_AT: point });
      expect(first.signal).toBe("SIGKILL");
      return run(["-p", "-c", ...(again.args ?? [])], again.env);
    },
    /** Of every context, in the order of the contexts. */
    async events(): Promise<StoredEvent[]> {
      const all: StoredEvent[] = [];
      for await (const { ledger } of store.list({ prefix: "ctx_" }))
        for await (const event of store.read(ledger)) all.push(event);
      return all;
    },
    async context(): Promise<string | undefined> {
      for await (const { ledger } of store.list({ prefix: "ctx_" })) return ledger;
      return undefined;
    },
  };
}
