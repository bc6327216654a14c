// Agents of another machine: they work in the project's folder here, and one with a worktree there waits while that machine lives.
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { thisMachine } from "../../src/ledger/holder.ts";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import type { EventInput, Store } from "../../src/ledger/store.ts";
import { noUsage } from "../../src/models/model.ts";
import { openHouse } from "../house.ts";
import { scratch } from "../turn.ts";
import { call, seenIn } from "./world.ts";

const networked = (store: Store): Store => ({ ...store, reach: "network" });

async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  for (let i = 0; i < 400 && !(await condition()); i++) await sleep(25);
  expect(await condition()).toBe(true);
}

/** A team of which alice is idle; and its harness as on a store that other machines reach. */
async function setUp() {
  const seen: string[] = [];
  const house = await openHouse(
    (request) => {
      const { agent, last, since } = seenIn(request);
      if (agent === "alice") seen.push(JSON.stringify(request.body.messages));
      if (agent === "lead" && last === "begin" && since === 0)
        return call("spawn_teammate", { name: "alice", role: "writer", prompt: "Hello." });
      return { text: "ok" };
    },
    { team: { offer: true } },
  );
  onTestFinished(() => house.close());
  const run = await house.harness.run("begin");
  await run.result;
  await run.taken.release();
  const { context } = run;
  const harness = await house.again({ store: networked(house.store) });
  onTestFinished(() => harness.close());
  const say = (events: Omit<EventInput, "actor">[]) =>
    house.store.append([{ ledger: context, events: events.map((event) => ({ ...event, actor: "alice" })) }]);
  const facts = async (...types: string[]) =>
    (await house.events(context)).filter((e) => e.actor === "alice" && types.includes(e.type));
  const host = async (opts: { machineGraceMs?: number } = {}) => {
    const over = new AbortController();
    const hosting = await harness.hosting(opts);
    const running = hosting.run(over.signal);
    onTestFinished(async () => {
      over.abort();
      await running;
    });
    return { hosting, over };
  };
  return { house, context, harness, say, facts, host, seen };
}

const TREE = "/elsewhere/state/worktrees/alice";

test("a root that was written into the store and is no folder of the project is none here", async () => {
  const { house, say, facts, context } = await setUp();
  const other = fs.realpathSync(scratch(onTestFinished));
  const isOwnFolder = (folder: string) => fs.realpathSync(folder).startsWith(house.root);
  const harness = await house.again({ store: networked(house.store), isOwnFolder });
  onTestFinished(() => harness.close());
  for (const root of [other, `${house.root}/../${path.basename(other)}`]) {
    await say([{ type: "agent.moved", data: { cwd: root, root, machine: thisMachine() } }]);
    const taken = await harness.host.take(context, { agent: "alice" });
    expect([taken.agent.turn.root, taken.agent.turn.cwd]).toEqual([house.root, house.root]);
    await taken.release();
  }
  expect((await facts("agent.moved")).at(-1)?.data).toMatchObject({ root: null, home: house.root });
});

test("an agent whose folder is on another machine goes on in the project's folder here, and is told so once", async () => {
  const { house, say, facts, host, seen, harness, context } = await setUp();
  await say([
    { type: "agent.moved", data: { cwd: "/elsewhere/project", home: "/elsewhere/project", machine: "other" } },
  ]);
  const { hosting, over } = await host();
  await until(async () => (await facts("turn.ended")).length === 1);
  expect((await facts("agent.moved")).at(-1)!.data).toEqual({
    cwd: house.root,
    root: null,
    home: house.root,
    machine: thisMachine(),
  });
  over.abort();
  await until(() => hosting.running === 0);
  const taken = await harness.host.take(context, { agent: "alice" });
  expect([taken.agent.turn.root, taken.agent.turn.cwd]).toEqual([house.root, house.root]);
  await taken.release();
  expect((await facts("agent.moved")).length).toBe(2);
  expect(seen.at(-1)).not.toContain("/elsewhere/project is not here"); // it had seen nothing there
});

test("one with a worktree stays with its machine while that lives, and is told what is lost when it is gone", async () => {
  const { house, say, facts, host, seen } = await setUp();
  await say([{ type: "agent.moved", data: { cwd: TREE, root: TREE, machine: "other" } }]);
  const there = await openSqliteStore(path.join(house.state, "ledger.db"), { leaseMs: 60_000 });
  onTestFinished(() => there.close());
  const lives = await there.leases.acquire("machine:other");
  if ("held" in lives) throw new Error("held");
  await host({ machineGraceMs: 300 });
  await sleep(1_500);
  expect(await facts("turn.started")).toEqual([]);
  await lives.release();
  await until(async () => (await facts("turn.ended")).length === 1);
  expect(seen.at(-1)).toContain(`The machine of your worktree ${TREE} is gone (other)`);
});

test("a call that ran there has an unknown outcome, whatever is to be seen here", async () => {
  const { house, say, facts, host } = await setUp();
  const file = path.join(house.root, "made-there");
  const input = { file_path: file, content: "x" };
  const request = { type: "call", id: "c1", name: "write_file", input };
  await say([
    { type: "turn.started", data: { turnId: "trn_there", cause: "wake" } },
    { type: "note.added", data: { origin: "test", text: "go on" } },
    { type: "reply.received", data: { model: "m", parts: [request], finish: "calls", usage: noUsage() } },
    {
      type: "tool.started",
      data: { callId: "c1", name: "write_file", input, effect: "reconcile", cwd: "/elsewhere/project", intent: {} },
    },
    { type: "agent.moved", data: { cwd: "/elsewhere/project", root: TREE, machine: "other" } },
  ]);
  await host({ machineGraceMs: 0 });
  await until(async () => (await facts("tool.finished")).length === 1);
  expect((await facts("tool.finished"))[0]!.data).toMatchObject({ resumed: "unknown", isError: true });
});
