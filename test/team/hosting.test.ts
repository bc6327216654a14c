// Hosts that come and go: what one of them left half done, the next one goes on with; what is gone, nobody touches.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openContexts } from "../../src/contexts/index.ts";
import type { Harness } from "../../src/harness.ts";
import type { HarnessOptions } from "../../src/harness-options.ts";
import type { StoredEvent } from "../../src/ledger/store.ts";
import { defineMechanism } from "../../src/loop/seams.ts";
import { openBoard } from "../../src/mechanisms/tasks/index.ts";
import type { ScriptRound } from "../../src/testing/model-server-script.ts";
import { type House, openHouse } from "../house.ts";
import { call, type Seen, seenIn } from "./world.ts";

type Play = (seen: Seen) => ScriptRound | Promise<ScriptRound>;

const spawn = (name: string) => call("spawn_teammate", { name, role: "writer", prompt: `Hello ${name}.` });

/** A team whose lead has said its first word and is held by nobody. */
async function letGo(
  play: Play,
  more: Partial<HarnessOptions> = {},
): Promise<{ house: House; context: string; facts: Facts }> {
  const house = await openHouse((request) => play(seenIn(request)), { team: { offer: true }, ...more });
  onTestFinished(() => house.close());
  const run = await house.harness.run("begin");
  await run.result;
  await run.taken.release();
  const facts: Facts = async (actor, ...types) =>
    (await house.events(run.context)).filter((e) => e.actor === actor && types.includes(e.type));
  return { house, context: run.context, facts };
}

type Facts = (actor: string, ...types: string[]) => Promise<StoredEvent[]>;

/** A host of everything, as `holdfast worker` is one. */
async function host(harness: Harness): Promise<{ settled(): Promise<void>; end(): Promise<void>; problems: string[] }> {
  const over = new AbortController();
  const problems: string[] = [];
  const hosting = await harness.hosting({ onProblem: (text) => problems.push(text) });
  const running = hosting.run(over.signal);
  return {
    problems,
    settled: () => hosting.settled(over.signal),
    async end() {
      over.abort();
      await running;
    },
  };
}

async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  for (let i = 0; i < 400 && !(await condition()); i++) await sleep(25);
  expect(await condition()).toBe(true);
}

test("a turn of the lead that the end of its host cut short goes on with the next host", async () => {
  let slow = true;
  const { house, facts } = await letGo(async ({ agent, last, since }) => {
    if (agent === "lead" && last === "begin" && since === 0) return spawn("alice");
    if (agent === "lead" && last.includes("[idle]") && slow) await sleep(5_000);
    return { text: agent === "lead" && last.includes("[idle]") ? "heard" : "ok" };
  });
  const first = await host(house.harness);
  await until(async () => (await facts("lead", "inbox.delivered")).length === 1);
  await first.end();
  slow = false;
  const second = await host(await house.again());
  await second.settled();
  await second.end();
  expect((await facts("lead", "turn.ended")).map((e) => (e.data as { reason: string }).reason)).toEqual([
    "done",
    "interrupted",
    "done",
  ]);
  expect((await facts("lead", "turn.ended")).at(-1)!.data).toMatchObject({ text: "heard" });
  expect((await facts("lead", "inbox.delivered")).length).toBe(1);
});

test("the lead hears of the last one that left; then hosts look there no more", async () => {
  const { house, facts } = await letGo(({ agent, last, since }) => {
    if (agent === "lead" && last === "begin")
      return since === 0
        ? spawn("alice")
        : since === 1
          ? call("request_shutdown", { name: "alice" })
          : { text: "I wait." };
    const id = /request (shutdown_alice_\w+)/.exec(last)?.[1];
    if (agent === "alice" && since === 0) return call("answer_shutdown", { request_id: id, approve: true });
    return { text: agent === "lead" && last.includes("has shut down") ? "All are gone." : "ok" };
  });
  const one = await host(house.harness);
  await until(async () => (await house.store.due(Date.now())).length === 0);
  await one.end();
  expect((await facts("lead", "turn.ended")).at(-1)!.data).toMatchObject({ reason: "done", text: "All are gone." });
  expect((await facts("lead", "team.over")).length).toBe(1);
});

test("a background subtask of a teammate goes on with the next host", async () => {
  let slow = true;
  const { house, facts } = await letGo(async ({ agent, last, since }) => {
    if (agent === "alice" && last.includes("Hello") && since === 0)
      return call("task", { description: "look", prompt: "Look closely.", background: true });
    if (last.includes("Look closely")) {
      if (slow) await sleep(5_000);
      return { text: "Looked." };
    }
    return agent === "lead" && last === "begin" && since === 0 ? spawn("alice") : { text: "ok" };
  });
  const first = await host(house.harness);
  await until(async () => (await facts("alice", "team.idled")).length === 1);
  await first.end();
  await house.harness.close();
  slow = false;
  const next = await house.again();
  onTestFinished(() => next.close());
  const second = await host(next);
  await until(async () => (await facts("alice", "subagent.reported")).length === 1);
  await second.settled();
  await second.end();
  expect((await facts("alice", "agent.created")).map(({ data }) => data)).toMatchObject([{ name: "alice.c1" }]);
  expect((await facts("alice.c1", "turn.ended")).at(-1)!.data).toMatchObject({ reason: "done", text: "Looked." });
});

test("a host that is told to end while something is taken in asks no model any more", async () => {
  let taking: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    taking = resolve;
  });
  const slow = defineMechanism({
    name: "slow",
    seams: {
      async intake(turn) {
        if (turn.agent !== "alice" || turn.state.turn) return [];
        taking();
        await sleep(300);
        return [{ origin: "slow", text: "something" }];
      },
    },
    wants: () => true,
  });
  const { house, facts } = await letGo(
    ({ agent, last, since }) => (agent === "lead" && last === "begin" && since === 0 ? spawn("alice") : { text: "ok" }),
    { mechanisms: [slow] },
  );
  const one = await host(house.harness);
  await begun;
  const { length } = house.server.log().requests;
  await one.end();
  expect(house.server.log().requests.length).toBe(length);
  expect((await facts("alice", "turn.ended")).at(-1)!.data).toMatchObject({ reason: "interrupted" });
});

test("an approval that waited when its host ended was not refused", async () => {
  const { house, facts } = await letGo(
    ({ agent, last, since }) => {
      if (agent === "lead") return last === "begin" && since === 0 ? spawn("alice") : { text: "ok" };
      return since === 0 ? call("bash", { command: "curl http://example.invalid/" }) : { text: "ok" };
    },
    { permissionMode: "default", approvals: { wait: true } },
  );
  const one = await host(house.harness);
  await until(async () => (await facts("alice", "approval.asked")).length === 1);
  await one.end();
  const [result] = await facts("alice", "tool.finished");
  expect(result!.data).toMatchObject({ content: [{ text: "Not run: the turn was interrupted." }] });
  expect(result!.data).not.toHaveProperty("denied");
});

test("a context that was removed has no wakes, and no host writes there again", async () => {
  const { house, context } = await letGo(({ agent, last, since }) => {
    if (agent === "lead" && last === "begin" && since === 0) return spawn("alice");
    if (agent === "lead" && last === "begin" && since === 1)
      return call("schedule_cron", { when: "in 2 hours", prompt: "later" });
    return { text: "ok" };
  });
  const one = await host(house.harness);
  await one.settled();
  const { store, harness } = house;
  expect((await store.due(Number.MAX_SAFE_INTEGER)).map((wake) => [wake.by, wake.context, wake.agent])).toEqual([
    ["team", context, null],
    ["cron", context, "lead"],
  ]);
  const alice = await harness.host.take(context, { agent: "alice" });
  const contexts = await openContexts({ store });
  await expect(contexts.delete(context)).rejects.toMatchObject({ code: "held" });
  await alice.release();
  const { leave } = await harness.host.follow(context);
  await contexts.delete(context);
  expect(await store.due(Number.MAX_SAFE_INTEGER)).toEqual([]);
  await expect(harness.host.take(context, { agent: "alice" })).rejects.toMatchObject({ code: "not_found" });
  const board = await openBoard(store);
  await board.create([{ subject: "Nobody is there" }], { agent: "user" });
  await one.settled();
  await one.end();
  leave();
  expect(await board.get("task_1")).toMatchObject({ status: "pending", owner: null });
  expect([await house.events(context), one.problems]).toEqual([[], []]);
});

test("what cannot be seen of one agent keeps no other from work, and ends no host", async () => {
  const broken = defineMechanism({
    name: "broken",
    wants({ agent }) {
      if (agent === "alice") throw new Error("out of order");
      return false;
    },
  });
  const { house, facts } = await letGo(
    ({ agent, last, since }) => {
      if (agent !== "lead" || last !== "begin") return { text: "ok" };
      return since === 0 ? spawn("alice") : since === 1 ? spawn("bob") : { text: "ok" };
    },
    { mechanisms: [broken] },
  );
  const one = await host(house.harness);
  await until(async () => (await facts("bob", "team.idled")).length === 1);
  await until(() => one.problems.length > 0);
  await one.end();
  expect(one.problems[0]).toMatch(/alice rests for 10 s: out of order/);
});
