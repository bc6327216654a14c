// kill -9 of a real process at every kind of moment: a half-done child goes on, and no reply that had arrived is asked for again.
import { type ChildProcess, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import type { StoredEvent } from "../../src/ledger/store.ts";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import type { Script } from "../../src/testing/model-server-script.ts";
import { LONG } from "../crash/counts.ts";
import { tempDir } from "../house.ts";
import { byPrompt, promptOf, saidTo, task } from "./script.ts";

const PROCESS = path.join(import.meta.dirname, "task-process.ts");
let state: string;
let root: string;
let server: ModelServer;

beforeEach(() => {
  state = tempDir("state");
  root = tempDir("project");
});
afterEach(async () => {
  await server.close();
  for (const dir of [state, root]) fs.rmSync(dir, { recursive: true, force: true });
});

interface Ended {
  signal: NodeJS.Signals | null;
  result?: { text: string; reason: string };
  stderr: string;
}

function start(context?: string, env: Record<string, string> = {}): { child: ChildProcess; ended: Promise<Ended> } {
  const args = [PROCESS, state, root, server.openaiUrl, ...(context ? [context] : [])];
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout!.on("data", (d) => {
    stdout += d;
  });
  child.stderr!.on("data", (d) => {
    stderr += d;
  });
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (_, signal) => resolve({ signal, stderr, ...(stdout && { result: JSON.parse(stdout) }) }));
  });
  return { child, ended };
}

async function ledger(): Promise<{ context: string; events: StoredEvent[] }> {
  const store = await openSqliteStore(path.join(state, "ledger.db"));
  try {
    for await (const { ledger: context } of store.list({ prefix: "ctx_" })) {
      const events: StoredEvent[] = [];
      for await (const event of store.read(context)) events.push(event);
      return { context, events };
    }
    return { context: "", events: [] };
  } finally {
    await store.close();
  }
}

/** Which agent of `SCRIPT` asks. */
const agentOf = (prompt: string): string =>
  prompt.includes("First part") ? "lead.c1" : prompt.includes("Second part") ? "lead.c2" : "lead";

const SCRIPT = (): Script =>
  byPrompt(
    [
      "First part",
      [
        { calls: [{ name: "bash", input: { command: "echo x >> effects.txt; echo made" } }] },
        { calls: [{ name: "export_to_context", input: { values: { made: true } } }] },
        { text: "first done" },
      ],
    ],
    ["Second part", [{ text: "second done" }]],
    ["Go", [{ calls: [task("First part"), task("Second part")] }, (r) => ({ text: `Both: ${saidTo(r)}` })]],
  );

const EXPECTED = "Both: first done\n\nIt exported to the shared data: made (context_read).\nsecond done";

/** Takes it up until it has ended; says which requests were made for replies that were recorded before. */
async function takeUp(): Promise<{ text?: string; repeated: string[] }> {
  const { context, events } = await ledger();
  const recorded = (agent: string) => events.filter((e) => e.type === "reply.received" && e.actor === agent).length;
  const asked = server.log().requests.length;
  const { result, stderr } = await start(context || undefined).ended;
  const repeated = server
    .log()
    .requests.slice(asked)
    .filter((r) => r.round < recorded(agentOf(promptOf(r))))
    .map((r) => `${agentOf(promptOf(r))} round ${r.round}`);
  if (!result) throw new Error(stderr);
  return { text: result.text, repeated };
}

async function expectWhole(): Promise<void> {
  expect(server.log().invalid).toEqual([]);
  expect(fs.readFileSync(path.join(root, "effects.txt"), "utf8")).toBe("x\n");
  const { events } = await ledger();
  expect(events.flatMap((e) => (e.type === "agent.created" ? [(e.data as { name: string }).name] : []))).toEqual([
    "lead",
    "lead.c1",
    "lead.c2",
  ]);
  expect(events.filter((e) => e.type === "data.shared").length).toBe(1);
}

describe("a process killed with its subagents", () => {
  it("in the middle of a child's model call: only that call is made again", async () => {
    const slow = (round: number) => ({ pauseAt: round });
    server = await startModelServer({
      script: byPrompt(
        [
          "First part",
          [
            { calls: [{ name: "bash", input: { command: "echo x >> effects.txt; echo made" } }] },
            { calls: [{ name: "export_to_context", input: { values: { made: true } } }], faults: [slow(1)] },
            { text: "first done" },
          ],
        ],
        ["Second part", [{ text: "second done" }]],
        ["Go", [{ calls: [task("First part"), task("Second part")] }, (r) => ({ text: `Both: ${saidTo(r)}` })]],
      ),
    });
    const { child, ended } = start();
    await server.paused();
    child.kill("SIGKILL");
    await ended;
    expect(await takeUp()).toEqual({ text: EXPECTED, repeated: [] });
    await expectWhole();
    expect(server.log().requests.filter((r) => agentOf(promptOf(r)) === "lead.c1").length).toBe(4);
  });

  it("in the middle of a child's command: the command is taken up, not run again", async () => {
    server = await startModelServer({
      script: byPrompt(
        [
          "First part",
          [
            { calls: [{ name: "bash", input: { command: "echo x >> effects.txt; sleep 1.5; echo made" } }] },
            { calls: [{ name: "export_to_context", input: { values: { made: true } } }] },
            { text: "first done" },
          ],
        ],
        ["Second part", [{ text: "second done" }]],
        ["Go", [{ calls: [task("First part"), task("Second part")] }, (r) => ({ text: `Both: ${saidTo(r)}` })]],
      ),
    });
    const { child, ended } = start();
    while (!fs.existsSync(path.join(root, "effects.txt"))) await sleep(10);
    child.kill("SIGKILL");
    await ended;
    expect(await takeUp()).toEqual({ text: EXPECTED, repeated: [] });
    await expectWhole();
  });

  it("when a child had finished and its caller's result was not durable: no request for it", async () => {
    server = await startModelServer({
      script: byPrompt(
        ["Second part", [{ text: "second done" }]],
        ["Go", [{ calls: [task("Second part")] }, (r) => ({ text: `One: ${saidTo(r)}` })]],
      ),
    });
    expect((await start(undefined, { HOLDFAST_CRASH_AT: "effect.done:1" }).ended).signal).toBe("SIGKILL");
    const { events } = await ledger();
    expect(events.filter((e) => e.type === "turn.ended").map((e) => e.actor)).toEqual(["lead.c1"]);
    expect(await takeUp()).toEqual({ text: "One: second done", repeated: [] });
    expect(server.log().requests.length).toBe(3);
  });

  const points = ["model.before", "reply.arrived", "reply.taken", "intent.before", "intent.durable", "effect.done"];
  const more = ["results.before", "results.durable", "turn.ended", "lease.taken", "append.before-commit"];
  it("at crash points of its caller and of its children: the same end, nothing twice", {
    timeout: 600_000,
  }, async () => {
    server = await startModelServer({ script: SCRIPT() });
    let kills = 0;
    for (const point of LONG ? [...points, ...more] : points) {
      for (const n of LONG ? Array.from({ length: 40 }, (_, i) => i + 1) : [2, 3]) {
        const { signal, result } = await start(undefined, { HOLDFAST_CRASH_AT: `${point}:${n}` }).ended;
        const killed = signal === "SIGKILL";
        const accepted = (await ledger()).events.some((e) => e.type === "input.received");
        if (killed) kills++;
        else expect(result?.text).toBe(EXPECTED);
        if (killed && accepted) {
          expect([point, n, await takeUp()]).toEqual([point, n, { text: EXPECTED, repeated: [] }]);
        }
        if (accepted) await expectWhole();
        for (const dir of [state, root]) fs.rmSync(dir, { recursive: true, force: true });
        for (const dir of [state, root]) fs.mkdirSync(dir);
        server.reset();
        if (!killed) break;
      }
    }
    console.log(`${kills} kills, 0 repeated requests for recorded replies`);
    expect(kills).toBeGreaterThanOrEqual(points.length);
  });
});
