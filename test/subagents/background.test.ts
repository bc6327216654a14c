// Subagents that run beside their caller: told once when they end, gone on with after a restart.
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { openContexts } from "../../src/contexts/index.ts";
import type { Harness } from "../../src/harness.ts";
import type { Taken } from "../../src/loop/host.ts";
import { type House, openHouse } from "../house.ts";
import { byPrompt, promptOf, saidTo, task } from "./script.ts";

let house: House;
afterEach(() => house?.close());

const lead = byPrompt(
  ["Side work", [{ text: "side done", faults: [{ pauseAt: 1 }] }]],
  ["Go", [{ calls: [task("Side work", { background: true })] }, (r) => ({ text: `heard: ${saidTo(r)}` })]],
);

const typesOf = async (context: string, type: string) => (await house.events(context)).filter((e) => e.type === type);

/** Runs whatever wakes the agent until it was told. */
async function untilTold(harness: Harness, context: string): Promise<string> {
  const { agent, release } = await harness.host.take(context);
  try {
    while ((await agent.oneTurn()) === undefined) await agent.untilWoken(AbortSignal.timeout(5_000));
    return agent.turn.state.lastTurn!.text;
  } finally {
    await release();
  }
}

const unfinished = ({ ledger, agent }: Taken): number =>
  house.harness.host.outstanding(ledger, agent.turn.agent).find(({ what }) => what === "background subtask")?.count ??
  0;

describe("a background subtask", () => {
  it("lets its caller go on at once, and wakes the idle caller once when it has ended", async () => {
    house = await openHouse(lead);
    const run = await house.harness.run("Go");
    const first = await run.result;
    expect(first.text).toBe("heard: [Background subtask lead.c1 started] You are told when it has ended.");
    expect(unfinished(run.taken)).toBe(1);
    await house.server.paused();
    house.server.release();
    await run.taken.agent.untilWoken(AbortSignal.timeout(5_000));
    expect(await run.taken.agent.oneTurn()).toBe("done");
    const { text } = run.taken.agent.turn.state.lastTurn!;
    expect(text).toContain("Background subtask lead.c1 (Side work) has ended.\n\nside done");
    expect(unfinished(run.taken)).toBe(0);
    expect(await run.taken.agent.oneTurn()).toBeUndefined();
    expect((await typesOf(run.context, "subagent.reported")).length).toBe(1);
  });

  it("goes on in the next process where it was interrupted, and is told there once", async () => {
    house = await openHouse(lead);
    const run = await house.harness.run("Go");
    await run.result;
    await house.server.paused();
    await house.harness.close();
    const second = await house.again();
    expect(await untilTold(second, run.context)).toContain("side done");
    await second.close();
    const third = await house.again();
    const { agent, release } = await third.host.take(run.context);
    expect(await agent.oneTurn()).toBeUndefined();
    await release();
    expect((await typesOf(run.context, "subagent.ended")).length).toBe(1);
    expect((await typesOf(run.context, "agent.created")).length).toBe(2);
    expect(house.server.log().invalid).toEqual([]);
  });

  it("reports a failure likewise", async () => {
    house = await openHouse(
      byPrompt(
        ["Side work", [{ faults: Array(5).fill({ status: 400, message: "bad luck" }) }]],
        ["Go", [{ calls: [task("Side work", { background: true })] }, (r) => ({ text: `heard: ${saidTo(r)}` })]],
      ),
    );
    const run = await house.harness.run("Go");
    await run.result;
    const { agent } = run.taken;
    if ((await agent.oneTurn()) === undefined) {
      await agent.untilWoken(AbortSignal.timeout(5_000));
      await agent.oneTurn();
    }
    expect(agent.turn.state.lastTurn!.text).toMatch(/The subtask lead\.c1 failed: .*bad luck/);
  });

  it("is waited for when a subagent starts it: a subtask leaves no work behind", async () => {
    house = await openHouse(
      byPrompt(
        ["Leaf", [{ text: "leaf" }]],
        ["Middle", [{ calls: [task("Leaf", { background: true })] }, (r) => ({ text: saidTo(r) })]],
        ["Go", [{ calls: [task("Middle")] }, (r) => ({ text: saidTo(r) })]],
      ),
    );
    const { text } = await (await house.harness.run("Go")).result;
    expect(text).toBe("leaf\n\n(It was waited for: a subtask leaves no work behind.)");
  });

  it("is told to a caller that is busy at the next round", async () => {
    house = await openHouse(async (request) => {
      if (promptOf(request).includes("Side work")) return { text: "side done" };
      if (request.round === 0) return { calls: [task("Side work", { background: true })] };
      if (request.round === 1) {
        await sleep(300);
        return { calls: [{ name: "list_jobs", input: {} }] };
      }
      return { text: saidTo(request) };
    });
    const { text, rounds } = await (await house.harness.run("Go")).result;
    expect(rounds).toBe(3);
    expect(text).toContain("has ended.\n\nside done");
  });
});

describe("a fork", () => {
  it("leaves background subtasks to the timeline that began them", async () => {
    house = await openHouse(lead);
    const run = await house.harness.run("Go");
    await run.result;
    await house.server.paused();
    const contexts = await openContexts({ store: house.store });
    const forked = await (await contexts.get(run.context)).fork();
    const taken = await house.harness.host.take(forked.id);
    const { agent, release } = taken;
    expect(unfinished(taken)).toBe(0);
    expect(await agent.oneTurn()).toBeUndefined();
    await release();
    expect(unfinished(run.taken)).toBe(1);
  });
});
