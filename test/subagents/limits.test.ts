// What keeps subagents from multiplying: depth, number, and the size of what every request carries.
import { afterEach, describe, expect, it } from "vitest";
import { contextState } from "../../src/loop/agent.ts";
import type { ScriptRequest } from "../../src/testing/model-server-script.ts";
import { type House, openHouse } from "../house.ts";
import { promptOf, saidTo, task } from "./script.ts";

let house: House;
afterEach(() => house?.close());

const agentsIn = async (context: string) => Object.keys(contextState(await house.harness.host.open(context)).agents);

/** Every agent that may gives work to two more, in its first round; then it repeats what it was told. */
const runaway = (request: ScriptRequest) => {
  const offered = request.body.tools.some((t: { function: { name: string } }) => t.function.name === "task");
  if (request.round === 0 && offered) return { calls: [task("more"), task("and more")] };
  return { text: request.round === 0 ? "leaf" : saidTo(request).slice(0, 200) };
};

describe("an agent whose every child starts two more", () => {
  it("stops at the depth: 1 + 2 + 4 + 8 agents, those at the end without the tool", async () => {
    house = await openHouse(runaway);
    const run = await house.harness.run("go");
    expect(await run.result).toMatchObject({ reason: "done" });
    expect((await agentsIn(run.context)).length).toBe(15);
    // Seven agents ask twice, eight leaves once.
    expect(house.server.log().requests.length).toBe(22);
  });

  it("is refused where it is not offered: one at the depth that calls it all the same", async () => {
    house = await openHouse(
      (request) => (request.round === 0 ? { calls: [task("more")] } : { text: saidTo(request).slice(0, 200) }),
      { subagents: { maxDepth: 1 } },
    );
    const run = await house.harness.run("go");
    expect((await run.result).text).toContain("There is no tool named task.");
    expect((await agentsIn(run.context)).length).toBe(2);
  });

  it("stops at the number, whoever comes first, and says so", async () => {
    house = await openHouse(runaway, { subagents: { maxDepth: 20, maxAgents: 10 } });
    const run = await house.harness.run("go");
    expect(await run.result).toMatchObject({ reason: "done" });
    expect((await agentsIn(run.context)).length).toBe(10);
    const refused = (await house.events(run.context)).filter(
      (e) => e.type === "tool.finished" && JSON.stringify(e.data).includes("Not started: this context has 10 agents"),
    );
    expect(refused.length).toBeGreaterThan(0);
    expect(house.server.log().requests.length).toBeLessThanOrEqual(20);
  });

  it("is counted across parallel calls: seventy in one reply make sixty-three children", async () => {
    house = await openHouse((request) => {
      if (!promptOf(request).includes("All")) return { text: "one" };
      return request.round === 0
        ? { calls: Array.from({ length: 70 }, (_, n) => task(`part ${n}`)) }
        : { text: saidTo(request) };
    });
    const run = await house.harness.run("All of them");
    const { text } = await run.result;
    expect((await agentsIn(run.context)).length).toBe(64);
    expect(text.split("\n").filter((line) => line === "one").length).toBe(63);
    expect(text.match(/Not started: this context has 64 agents, its limit/g)?.length).toBe(7);
  });
});

describe("the tool", () => {
  it("leaves the first request, with all tools, below 8,350 bytes", async () => {
    house = await openHouse([{ text: "ok" }]);
    await (await house.harness.run("Say ok.")).result;
    const [first] = house.server.log().requests;
    expect(first!.body.tools.map((t: { function: { name: string } }) => t.function.name)).toContain("task");
    expect(first!.bytes).toBeLessThanOrEqual(8_350);
  });
});
