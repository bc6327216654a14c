// A host of several contexts: turns by context, and the end of a host that lets every round come to its end.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Harness } from "../../src/harness.ts";
import type { ScriptRequest, ScriptRound } from "../../src/testing/model-server-script.ts";
import { openHouse } from "../house.ts";
import { call, seenIn } from "./world.ts";

async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  for (let i = 0; i < 400 && !(await condition()); i++) await sleep(25);
  expect(await condition()).toBe(true);
}

/** Contexts, each with teammates whose first prompt waits for a host. */
async function teams(
  sizes: Record<string, number>,
  play: (request: ScriptRequest) => Promise<ScriptRound> | ScriptRound,
) {
  const house = await openHouse(
    (request) => {
      const { agent, last, since } = seenIn(request);
      const size = sizes[last.trim()];
      if (agent !== "lead") return play(request);
      if (size === undefined || since > 0) return { text: "noted" };
      const names = Array.from({ length: size }, (_, i) => `${last.trim()}${i}`);
      const input = (name: string) => ({ name, role: "worker", prompt: "Begin." });
      return { calls: names.map((name) => ({ name: "spawn_teammate", input: input(name) })) };
    },
    { team: { offer: true } },
  );
  onTestFinished(() => house.close());
  const contexts: string[] = [];
  for (const name of Object.keys(sizes)) {
    const run = await house.harness.run(name);
    await run.result;
    await run.taken.release();
    contexts.push(run.context);
  }
  return { house, contexts };
}

async function hosting(harness: Harness, concurrency: number) {
  const over = new AbortController();
  const drain = new AbortController();
  const one = await harness.hosting({ concurrency });
  const running = one.run(over.signal, drain.signal);
  onTestFinished(async () => {
    over.abort();
    await running;
  });
  return { one, over, drain, running };
}

test("a context with one agent does not wait for all of a big team", async () => {
  const order: string[] = [];
  const { house } = await teams({ big: 12, small: 1 }, async (request) => {
    const { agent, since } = seenIn(request);
    if (since === 0) order.push(agent);
    await sleep(30);
    return { text: "ok" };
  });
  await hosting(await house.again(), 1);
  await until(() => order.length >= 13);
  // The big team came first: one of it may run, another be next; then it is the turn of the other context.
  expect(order.indexOf("small0") <= 2).toBe(true);
});

test("a host that drains takes nobody, lets the round come to its end, and the next host goes on with the open turn", async () => {
  let isSlow = true;
  const { house, contexts } = await teams({ team: 1 }, async (request) => {
    const { since } = seenIn(request);
    if (since === 0) return call("bash", { command: "echo one >> rounds; sleep 0.5" });
    if (since === 1 && isSlow) return call("bash", { command: "echo two >> rounds" });
    return { text: "done" };
  });
  const first = await hosting(await house.again(), 8);
  const facts = async (...types: string[]) =>
    (await house.events(contexts[0]!)).filter((e) => e.actor === "team0" && types.includes(e.type));
  await until(async () => (await facts("tool.started")).length === 1);
  first.drain.abort();
  await first.running;
  expect([(await facts("tool.finished")).length, (await facts("turn.ended")).length]).toEqual([1, 0]);
  expect((await facts("tool.finished"))[0]!.data).toMatchObject({ isError: false });
  isSlow = false;
  await hosting(await house.again(), 8);
  await until(async () => (await facts("turn.ended")).length === 1);
  expect((await facts("turn.ended"))[0]!.data).toMatchObject({ reason: "done" });
  expect((await facts("turn.started")).length).toBe(1);
});

test("what does not come to its end in time is interrupted by the signal, and taken up by the next host", async () => {
  let isSlow = true;
  const { house, contexts } = await teams({ team: 1 }, async () => {
    if (isSlow) await sleep(20_000);
    return { text: "done" };
  });
  const first = await hosting(await house.again(), 8);
  await until(() => first.one.running === 1);
  first.drain.abort();
  await sleep(100);
  expect(first.one.running).toBe(1);
  first.over.abort();
  await first.running;
  isSlow = false;
  await hosting(await house.again(), 8);
  const ends = async () =>
    (await house.events(contexts[0]!))
      .filter((e) => e.actor === "team0" && e.type === "turn.ended")
      .map((e) => (e.data as { reason: string }).reason);
  await until(async () => (await ends()).at(-1) === "done");
  expect(await ends()).toEqual(["interrupted", "done"]);
});
