// Schedules without anyone there: set from the command line, fired by a worker, once, also when workers are killed.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openProject } from "../../src/contexts/project.ts";
import { openStore } from "../../src/ledger/open-store.ts";
import type { StoredEvent } from "../../src/ledger/store.ts";
import { startModelServer } from "../../src/testing/model-server.ts";
import { runCli, startCli, stateEnv } from "../cli/cli.ts";
import { KEYS } from "../environment.ts";
import { scratch } from "../turn.ts";

async function setUp() {
  const server = await startModelServer({ script: () => ({ text: "Time for the meeting!", chunkDelayMs: 100 }) });
  onTestFinished(() => server.close());
  const env = { OPENAI_BASE_URL: server.openaiUrl, OPENAI_API_KEY: KEYS.OPENAI_API_KEY };
  const opts = { cwd: scratch(onTestFinished), state: scratch(onTestFinished), env };
  const { ledgers } = openProject({ cwd: opts.cwd, env: stateEnv(opts) });
  const store = await openStore(ledgers);
  onTestFinished(() => store.close());
  const events = async (context: string) => {
    const all: StoredEvent[] = [];
    for await (const event of store.read(context)) all.push(event);
    return all;
  };
  return { server, opts, events };
}

const WORKER = ["worker", "--model", "openai-compatible/mock"];

test("a schedule of a fresh context fires once in a worker; one killed between firing and answer leaves it to the next", {
  timeout: 60_000,
}, async () => {
  const { server, opts, events } = await setUp();
  const added = await runCli(["cron", "add", "in 1 second", "the", "meeting", "--json"], opts);
  expect(added).toMatchObject({ code: 0, stderr: "" });
  const { context } = JSON.parse(added.stdout);
  const first = startCli(WORKER, opts);
  while (server.log().requests.length === 0) await sleep(20);
  first.child.kill("SIGKILL");
  await first.exited;
  const fired = (await events(context)).filter((e) => e.type === "cron.fired");
  expect([fired.length, (await events(context)).some((e) => e.type === "turn.ended")]).toEqual([1, false]);
  const workers = [startCli(WORKER, opts), startCli(WORKER, opts)];
  while (!(await events(context)).some((e) => e.type === "turn.ended")) await sleep(50);
  await sleep(1_500);
  for (const { child } of workers) child.kill("SIGTERM");
  const ended = await Promise.all(workers.map((w) => w.exited));
  expect([ended.map((e) => e.code), ended.map((e) => e.stdout).join("")]).toEqual([[0, 0], "Time for the meeting!\n"]);
  const all = await events(context);
  expect(all.filter((e) => e.type === "cron.fired").length).toBe(1);
  expect(all.filter((e) => e.type === "turn.ended").map((e) => (e.data as { text: string }).text)).toEqual([
    "Time for the meeting!",
  ]);
  expect(server.log().requests.length).toBe(2);
  expect(JSON.parse((await runCli(["cron", "ls", "--json"], opts)).stdout)).toEqual([]);
});

test("what cannot be understood is refused in one line and leaves nothing behind", async () => {
  const { opts } = await setUp();
  const refused = await runCli(["cron", "add", "sometime maybe", "the meeting"], opts);
  expect([refused.code, refused.stderr.trim().split("\n").length]).toEqual([2, 1]);
  expect(JSON.parse((await runCli(["contexts", "ls", "--json"], opts)).stdout)).toEqual([]);
});
