// kill -9 of the process that hosts a team, at every stage of its protocols: taken up again, nothing lost, nothing twice.
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { openProject } from "../../src/contexts/project.ts";
import { openStore } from "../../src/ledger/open-store.ts";
import type { Store, StoredEvent } from "../../src/ledger/store.ts";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import type { ScriptRound } from "../../src/testing/model-server-script.ts";
import { type RunningCli, runCli, startCli, stateEnv } from "../cli/cli.ts";
import { KEYS } from "../environment.ts";
import { tempDir } from "../house.ts";
import { call, type Seen, seenIn } from "./world.ts";

const LONG = process.env.HOLDFAST_LONG === "1";

function play({ agent, last, since }: Seen): ScriptRound {
  if (agent === "lead") {
    if (last !== "begin") return { text: "noted" };
    if (since === 0) return call("create_task", { tasks: [{ subject: "One" }, { subject: "Two" }] });
    const spawn = (name: string) => ({
      name: "spawn_teammate",
      input: { name, role: "writer", prompt: `Hello ${name}.`, require_plan: true },
    });
    return since === 1 ? { calls: [spawn("alice"), spawn("bob")] } : { text: "I wait for their plans." };
  }
  const shutdown = /request (shutdown_\w+)/.exec(last)?.[1];
  if (shutdown)
    return since === 0 ? call("answer_shutdown", { request_id: shutdown, approve: true }) : { text: "Gone." };
  const [, task] = [...last.matchAll(/You have claimed (task_\d+)/g)].at(-1) ?? [];
  if (task) {
    if (since === 0) return call("bash", { command: `sleep 0.2; echo ${agent} >> work-${task}` });
    if (agent === "bob" && since === 1) return call("complete_task", { task_id: task });
    return { text: agent === "bob" ? `${task} is done.` : "I think about it." };
  }
  if (last.includes("Hello") || last.includes("rejected by user: be concrete"))
    return since === 0
      ? call("submit_plan", { plan: last.includes("Hello") ? "First plan" : "Concrete plan" })
      : { text: "I wait." };
  return { text: "Ready." };
}

interface Stage {
  type: string;
  actor?: string;
  nth?: number;
}

const STAGES: Stage[] = [
  { type: "team.joined" },
  { type: "plan.submitted", actor: "alice" },
  { type: "plan.submitted", actor: "bob" },
  { type: "plan.reviewed" },
  { type: "inbox.delivered", actor: "alice" },
  { type: "team.assigned", actor: "alice" },
  { type: "tool.started", actor: "alice", nth: 2 },
  { type: "tool.finished", actor: "alice", nth: 2 },
  { type: "plan.reviewed", nth: 2 },
  { type: "plan.submitted", actor: "bob", nth: 2 },
  { type: "plan.reviewed", nth: 3 },
  { type: "shutdown.requested" },
  { type: "shutdown.answered" },
  { type: "team.assigned", actor: "bob", nth: 1 },
  { type: "team.assigned", actor: "bob", nth: 2 },
  { type: "team.idled", actor: "bob", nth: 2 },
];
const SHORT = new Set([0, 4, 6, 8, 12]);

interface World {
  cwd: string;
  state: string;
  store: Store;
  server: ModelServer;
  env: Record<string, string>;
}

const worlds: World[] = [];
afterEach(async () => {
  for (const { cwd, state, store, server } of worlds.splice(0)) {
    await store.close();
    await server.close();
    for (const dir of [cwd, state]) fs.rmSync(dir, { recursive: true, force: true });
  }
});

async function openWorld(): Promise<World> {
  const cwd = tempDir("project");
  const state = tempDir("state");
  const server = await startModelServer({ script: (request) => play(seenIn(request)) });
  const { ledgers } = openProject({ cwd, env: stateEnv({ state }) });
  const world = {
    cwd,
    state,
    server,
    store: await openStore(ledgers),
    env: { OPENAI_BASE_URL: server.openaiUrl, OPENAI_API_KEY: KEYS.OPENAI_API_KEY },
  };
  worlds.push(world);
  return world;
}

async function contextOf({ store }: World): Promise<string | undefined> {
  for await (const { ledger } of store.list()) if (ledger.startsWith("ctx_")) return ledger;
  return undefined;
}

async function eventsOf(world: World): Promise<StoredEvent[]> {
  const context = await contextOf(world);
  const events: StoredEvent[] = [];
  if (context) for await (const event of world.store.read(context)) events.push(event);
  return events;
}

const FLAGS = ["--stay", "--model", "openai-compatible/mock", "--permission-mode", "bypass"];

/** What a person does from another terminal, each once, when its time has come. */
const ACTIONS: { when: (events: StoredEvent[]) => string | undefined; args: (id: string) => string[] }[] = [
  { when: (e) => nth(e, "plan.submitted", "alice", 1), args: (id) => ["team", "approve", id] },
  { when: (e) => nth(e, "plan.submitted", "bob", 1), args: (id) => ["team", "reject", id, "be concrete"] },
  { when: (e) => nth(e, "team.assigned", "alice", 2) && "alice", args: () => ["team", "shutdown", "alice"] },
  { when: (e) => nth(e, "plan.submitted", "bob", 2), args: (id) => ["team", "approve", id] },
];

function nth(events: StoredEvent[], type: string, actor: string | undefined, n: number): string | undefined {
  const found = events.filter((e) => e.type === type && (actor === undefined || e.actor === actor))[n - 1];
  return found && ((found.data as { requestId?: string }).requestId ?? found.id);
}

/** A team that was quiet before the person came to act has ended: it is taken up again. */
const isOver = (events: StoredEvent[], done: Set<number>): boolean =>
  done.size === ACTIONS.length &&
  nth(events, "shutdown.answered", "alice", 1) !== undefined &&
  nth(events, "team.assigned", "bob", 2) !== undefined;

async function drive(world: World, stage: Stage | undefined): Promise<{ kills: number; code: number | null }> {
  const opts = { cwd: world.cwd, state: world.state, env: world.env };
  const again = async () => startCli(["-p", "-r", (await contextOf(world))!, ...FLAGS], opts);
  let running: RunningCli = startCli(["-p", "begin", ...FLAGS], opts);
  let kills = 0;
  const done = new Set<number>();
  const startedAt = Date.now();
  for (;;) {
    if (Date.now() - startedAt > 80_000) running.child.kill("SIGKILL");
    const events = await eventsOf(world);
    if (stage && kills === 0 && nth(events, stage.type, stage.actor, stage.nth ?? 1)) {
      kills++;
      running.child.kill("SIGKILL");
      await running.exited;
      running = await again();
    }
    for (const [i, action] of ACTIONS.entries()) {
      const id = done.has(i) ? undefined : action.when(events);
      if (id === undefined) continue;
      done.add(i);
      const acted = await runCli(action.args(id), opts);
      expect([acted.code, acted.stderr]).toEqual([0, ""]);
    }
    if (running.child.exitCode !== null || running.child.signalCode !== null) {
      const { code } = await running.exited;
      if (code !== 0 || isOver(await eventsOf(world), done)) return { kills, code };
      running = await again();
    }
    await sleep(5);
  }
}

async function check(world: World): Promise<void> {
  const events = await eventsOf(world);
  const of = (type: string, actor?: string) =>
    events.filter((e) => e.type === type && (actor === undefined || e.actor === actor));
  expect(
    of("plan.submitted")
      .map((e) => [e.actor, (e.data as { plan: string }).plan])
      .toSorted(),
  ).toEqual([
    ["alice", "First plan"],
    ["bob", "Concrete plan"],
    ["bob", "First plan"],
  ]);
  expect(of("plan.reviewed").length).toBe(3);
  const [asked] = of("shutdown.requested");
  expect(of("shutdown.answered").map((e) => (e.data as { requestId: string }).requestId)).toEqual([
    (asked!.data as { requestId: string }).requestId,
  ]);
  // Each entry of an inbox is shown once: no id is delivered twice, and nothing that was put there is left.
  for (const name of ["lead", "alice", "bob"]) {
    const ids = of("inbox.delivered", name).flatMap((e) => (e.data as { ids: string[] }).ids);
    expect(ids.length).toBe(new Set(ids).size);
  }
  expect(of("inbox.delivered", "bob").flatMap((e) => (e.data as { ids: string[] }).ids).length).toBe(2);
  const board: StoredEvent[] = [];
  for await (const event of world.store.read("board")) board.push(event);
  const claims = board.filter((e) => e.type === "task.claimed").map((e) => e.actor.split("/")[1]);
  expect(claims.toSorted()).toEqual(["alice", "bob", "bob"]);
  expect(board.filter((e) => e.type === "task.released").length).toBe(1);
  expect(board.filter((e) => e.type === "task.completed").length).toBe(2);
  const work = [1, 2].map((n) =>
    fs
      .readFileSync(path.join(world.cwd, `work-task_${n}`), "utf8")
      .trim()
      .split("\n"),
  );
  expect(work.map((lines) => lines.toSorted()).toSorted((a, b) => a.length - b.length)).toEqual([
    ["bob"],
    ["alice", "bob"],
  ]);
  // Nobody acted before a plan was approved.
  for (const name of ["alice", "bob"]) {
    const approved = of("plan.reviewed").findLast(
      (e) =>
        (e.data as { requestId: string; approve: boolean }).approve &&
        (e.data as { requestId: string }).requestId.startsWith(`plan_${name}`),
    )!;
    const acted = of("tool.started", name).filter((e) => (e.data as { name: string }).name === "bash");
    expect(acted.every((e) => e.seq > approved.seq)).toBe(true);
  }
  expect(world.server.log().invalid).toEqual([]);
}

describe("a team of two, with plans reviewed and one shut down from another terminal", () => {
  test("comes to its end undisturbed", { timeout: 90_000 }, async () => {
    const world = await openWorld();
    expect(await drive(world, undefined)).toMatchObject({ kills: 0, code: 0 });
    await check(world);
  });

  for (const [i, stage] of STAGES.entries()) {
    test.runIf(LONG || SHORT.has(i))(
      `comes to the same end after kill -9 at ${stage.type} ${stage.nth ?? 1}${stage.actor ? ` of ${stage.actor}` : ""}`,
      { timeout: 90_000 },
      async () => {
        const world = await openWorld();
        expect(await drive(world, stage)).toMatchObject({ kills: 1, code: 0 });
        await check(world);
      },
    );
  }
});
