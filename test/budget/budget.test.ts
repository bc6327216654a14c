// One counter for all agents of a context: reserved before a call, settled by its reply, across processes.
import { afterEach, describe, expect, it } from "vitest";
import { openContexts } from "../../src/contexts/index.ts";
import { createHub } from "../../src/hub/hub.ts";
import { contextState } from "../../src/loop/agent.ts";
import { openModel } from "../../src/models/open-model.ts";
import type { ScriptRequest } from "../../src/testing/model-server-script.ts";
import { KEYS } from "../environment.ts";
import { type House, openHouse } from "../house.ts";
import { promptOf, saidTo, task } from "../subagents/script.ts";

let house: House;
afterEach(() => house?.close());

const USAGE = { input: 900, output: 100 };
const requests = () => house.server.log().requests;
const agentsIn = async (context: string) => Object.values(contextState(await house.harness.host.open(context)).agents);
const tokensIn = async (context: string) =>
  (await agentsIn(context)).reduce((sum, { usage }) => sum + usage.input + usage.output, 0);

/** Ten children at once, each of which would ask for ever. */
const tenHungry = async (request: ScriptRequest) => {
  if (promptOf(request).includes("All")) {
    if (request.round > 0) return { text: saidTo(request), usage: USAGE };
    return { calls: Array.from({ length: 10 }, (_, n) => task(`part ${n}`)), usage: USAGE };
  }
  await new Promise((resolve) => setTimeout(resolve, 20));
  return {
    text: `round ${request.round}`,
    calls: [{ name: "todo_write", input: { todos: [{ content: `${request.round}`, status: "pending" }] } }],
    usage: USAGE,
  };
};

describe("a budget of tokens", () => {
  it("is not overspent by ten parallel children by more than the calls in flight", async () => {
    house = await openHouse(tenHungry, { budget: { tokens: 30_000 }, subagents: { concurrency: 10 } });
    const run = await house.harness.run("All of it");
    const result = await run.result;
    expect(result).toMatchObject({ reason: "limit", budget: "tokens" });
    expect(result.error).toMatch(/the budget of this context is spent, by all its agents: \d+ of 30000 tokens/);
    const spent = await tokensIn(run.context);
    expect(spent).toBeGreaterThanOrEqual(30_000);
    // Near the limit calls wait for those before them: one call too many at most, where ten were possible.
    expect(spent).toBeLessThan(31_000 + 1);
    expect(requests().length).toBe(spent / 1_000);
    const children = (await agentsIn(run.context)).filter(({ name }) => name !== "lead");
    expect(children.map(({ lastTurn }) => lastTurn?.reason)).toEqual(Array(10).fill("limit"));
  });

  it("holds over the processes that work on one context", async () => {
    house = await openHouse([{ text: "one", usage: USAGE }], { budget: { tokens: 2_500 } });
    const first = await house.harness.run("one");
    await first.result;
    await house.harness.close();
    house.server.setScript([
      { text: "x", usage: USAGE },
      { text: "y", usage: USAGE },
      { text: "z", usage: USAGE },
      { text: "!" },
    ]);
    const second = await house.again({ budget: undefined });
    const say = async () => {
      const run = await second.run("more", { context: first.context });
      const result = await run.result;
      await run.taken.release();
      return result.reason;
    };
    expect([await say(), await say(), await say()]).toEqual(["done", "done", "limit"]);
    await second.close();
    const third = await house.again({ budget: { tokens: 10_000 } });
    const run = await third.run("with more", { context: first.context });
    expect((await run.result).reason).toBe("done");
    await third.close();
  });

  it("holds for agents that two hosts run at the same time", async () => {
    house = await openHouse(tenHungry, { budget: { tokens: 15_000 } });
    const other = await house.again();
    const contexts = await openContexts({ store: house.store });
    const { id } = await contexts.create({ task: "both", root: house.root });
    const working = [house.harness, other].flatMap(({ host }, h) => {
      const hub = createHub({ host, contexts });
      return [1, 2, 3, 4].map((n) => hub.run({ context: id, agent: `a${h}${n}`, type: "x", prompt: `part ${h}${n}` }));
    });
    const ends = await Promise.allSettled(working);
    expect(ends.map(({ status }) => status)).toEqual(Array(8).fill("rejected"));
    expect(await tokensIn(id)).toBeGreaterThanOrEqual(15_000);
    expect(await tokensIn(id)).toBeLessThanOrEqual(16_000);
    await other.close();
  });

  it("is what contexts.create says", async () => {
    house = await openHouse([{ calls: [{ name: "list_jobs", input: {} }], usage: USAGE }, { text: "never" }]);
    const contexts = await openContexts({ store: house.store });
    const { id } = await contexts.create({ task: "t", root: house.root, budget: { tokens: 500 } });
    const result = await (await house.harness.run("go", { context: id })).result;
    expect(result).toMatchObject({ reason: "limit", rounds: 1 });
    expect(requests().length).toBe(1);
  });
});

describe("other budgets", () => {
  it("of rounds count the calls of all agents", async () => {
    house = await openHouse(
      (request) => {
        if (promptOf(request).includes("part")) return { text: "ok" };
        return { calls: [task("part one"), task("part two")] };
      },
      { budget: { rounds: 7 } },
    );
    const result = await (await house.harness.run("All")).result;
    expect(result).toMatchObject({ reason: "limit", budget: "rounds" });
    expect(requests().length).toBe(7);
  });

  it("of money go by the price of each model", async () => {
    house = await openHouse((r) => ({
      text: "a",
      calls: [{ name: "todo_write", input: { todos: [{ content: `${r.round}`, status: "pending" }] } }],
      usage: { input: 100_000, output: 10_000 },
    }));
    const env = { ANTHROPIC_BASE_URL: house.server.anthropicUrl, ANTHROPIC_API_KEY: KEYS.ANTHROPIC_API_KEY };
    const model = await openModel("anthropic/claude-sonnet-5-5", { env });
    const harness = await house.again({ model, budget: { usd: 0.75 } });
    const result = await (await harness.run("go")).result;
    // $2 and $10 for a million: $0.30 a call; the third passes the limit.
    expect(result).toMatchObject({ reason: "limit", budget: "usd", rounds: 3 });
    expect(result.error).toContain("$0.9000 of $0.75");
    expect(result.costUsd).toBeCloseTo(0.9);
    await harness.close();
  });

  it("of money are refused for a model whose price is not known, before anything is asked", async () => {
    house = await openHouse([{ text: "never" }], { budget: { usd: 1 } });
    const result = await (await house.harness.run("go")).result;
    expect(result.reason).toBe("blocked");
    expect(result.error).toContain("the price of openai-compatible/mock is not known");
    expect(requests().length).toBe(0);
  });

  it("count a reply that was cut off and asked for again", async () => {
    house = await openHouse(
      (request) => {
        if (request.attempt === 1 && request.round === 0) return { text: "cut", finish: "length", usage: USAGE };
        return { text: "whole", usage: USAGE };
      },
      { budget: { tokens: 1_000 } },
    );
    const result = await (await house.harness.run("go")).result;
    expect(result.reason).toBe("limit");
    expect(requests().length).toBe(1);
  });

  it("cost nothing where none is set: no fact of it is recorded", async () => {
    house = await openHouse([{ text: "ok" }]);
    const run = await house.harness.run("go");
    await run.result;
    expect((await house.events(run.context)).filter((e) => e.type.startsWith("budget."))).toEqual([]);
  });
});

describe("an agent whose every child starts two more", () => {
  it("stops at the budget with a clear result when no other limit does", async () => {
    house = await openHouse(
      (request) =>
        request.round === 0
          ? { calls: [task("more"), task("and more")], usage: USAGE }
          : { text: saidTo(request).slice(0, 300), usage: USAGE },
      { budget: { tokens: 20_000 }, subagents: { maxDepth: 100, maxAgents: 1_000 } },
    );
    const run = await house.harness.run("go");
    const result = await run.result;
    expect(result).toMatchObject({ reason: "limit", budget: "tokens" });
    expect(requests().length).toBeLessThanOrEqual(21);
    expect((await agentsIn(run.context)).length).toBeLessThanOrEqual(43);
  });
});
