// The tool task through the whole house: real store, real HTTP to the scripted model server.
import { afterEach, describe, expect, it } from "vitest";
import { openContexts } from "../../src/contexts/index.ts";
import { contextState } from "../../src/loop/agent.ts";
import { type House, openHouse } from "../house.ts";
import { byPrompt, promptOf, saidTo, task } from "./script.ts";

let house: House;
afterEach(() => house?.close());

const requests = () => house.server.log().requests;
const namedIn = ({ data }: { data: unknown }) => (data as { name?: string }).name;
const agentsIn = async (context: string) =>
  Object.keys(contextState(await house.harness.host.open(context)).agents).sort();

describe("task", () => {
  it("runs a child of its own that sees only its prompt, and hands back its last message", async () => {
    house = await openHouse(
      byPrompt(
        [
          "Count the knots",
          [
            { calls: [{ name: "todo_write", input: { todos: [{ content: "own", status: "pending" }] } }] },
            { text: "There are 7 knots." },
          ],
        ],
        ["Secret plan", [{ calls: [task("Count the knots")] }, (r) => ({ text: `Heard: ${saidTo(r)}` })]],
      ),
    );
    const run = await house.harness.run("Secret plan: have the knots counted.");
    const result = await run.result;
    expect(result).toMatchObject({ reason: "done", text: "Heard: There are 7 knots.", rounds: 2 });
    expect(await agentsIn(run.context)).toEqual(["lead", "lead.c1"]);
    const child = requests().filter((r) => promptOf(r).includes("Count the knots"));
    expect(child.length).toBe(2);
    expect(JSON.stringify(child[0]!.body)).not.toContain("Secret plan");
    expect(JSON.stringify(child[0]!.body)).toContain("You do one piece of work for a larger plan");
    const events = await house.events(run.context);
    expect(events.filter((e) => e.type === "todo.written").map((e) => e.actor)).toEqual(["lead.c1"]);
    const created = events.findIndex((e) => e.type === "agent.created" && namedIn(e) === "lead.c1");
    expect(events[created]!.actor).toBe("lead"); // who started it may read its conversation
    expect(events.slice(created, created + 3).map((e) => e.type)).toEqual([
      "agent.created",
      "agent.defined",
      "subagent.started",
    ]);
    expect(house.server.log().invalid).toEqual([]);
  });

  it("runs several of one reply in parallel, results in the order of the calls", async () => {
    let inFlight = 0;
    let most = 0;
    house = await openHouse(async (request) => {
      if (promptOf(request).includes("Go")) {
        if (request.round === 0) return { calls: [1, 2, 3].map((n) => task(`Part ${n}`)) };
        return { text: saidTo(request) };
      }
      inFlight++;
      most = Math.max(most, inFlight);
      await new Promise((resolve) => setTimeout(resolve, 100));
      inFlight--;
      return { text: `done with ${/Part \d/.exec(promptOf(request))![0]}` };
    });
    const { text } = await (await house.harness.run("Go")).result;
    expect(text).toBe("done with Part 1\ndone with Part 2\ndone with Part 3");
    expect(most).toBe(3);
  });

  it("runs at most so many at once, those of a waiting child included, and never stands still", async () => {
    let inFlight = 0;
    let most = 0;
    house = await openHouse(
      async (request) => {
        const prompt = promptOf(request);
        if (prompt.includes("Go"))
          return request.round === 0 ? { calls: [1, 2, 3, 4].map((n) => task(`Middle ${n}`)) } : { text: "all" };
        if (prompt.includes("Middle"))
          return request.round === 0 ? { calls: [1, 2].map((n) => task(`Leaf ${n}`)) } : { text: "both" };
        inFlight++;
        most = Math.max(most, inFlight);
        await new Promise((resolve) => setTimeout(resolve, 20));
        inFlight--;
        return { text: "leaf" };
      },
      { subagents: { concurrency: 2 } },
    );
    const run = await house.harness.run("Go");
    expect((await run.result).text).toBe("all");
    expect(most).toBeLessThanOrEqual(2);
    expect((await agentsIn(run.context)).length).toBe(13);
  });

  it("gives an error result when a child fails, keeps what it exported, and leaves its siblings' results alone", async () => {
    house = await openHouse(
      byPrompt(
        ["Good work", [{ text: "good" }]],
        [
          "Bad work",
          [
            { calls: [{ name: "export_to_context", input: { values: { found: [1, 2] } } }], text: "half way" },
            { faults: Array(20).fill({ status: 400, message: "no such thing" }) },
          ],
        ],
        [
          "Go",
          [{ calls: [task("Good work"), task("Bad work"), task("Good work again")] }, (r) => ({ text: saidTo(r) })],
        ],
      ),
    );
    const run = await house.harness.run("Go");
    const { text } = await run.result;
    expect(text).toMatch(/^good\nThe subtask lead\.c2 failed: lead\.c2: .*no such thing/);
    expect(text).toContain("It exported to the shared data: found (context_read).");
    expect(text.endsWith("good")).toBe(true);
    const context = await (await openContexts({ store: house.store })).get(run.context);
    expect(await context.read("found")).toEqual([1, 2]);
    const last = requests().at(-1)!;
    // biome-ignore lint/suspicious/noExplicitAny: a request as it came
    expect(last.body.tools.map((t: any) => t.function.name)).toContain("context_read");
  });

  it("ends a child that takes too long, with a result that says so", async () => {
    house = await openHouse(
      byPrompt(
        ["Slow", [{ text: "never", faults: [{ pauseAt: 1 }] }]],
        ["Quick", [{ text: "quick" }]],
        ["Go", [{ calls: [task("Slow"), task("Quick")] }, (r) => ({ text: saidTo(r) })]],
      ),
      { subagents: { timeoutMs: 3_000 } },
    );
    const { text } = await (await house.harness.run("Go")).result;
    expect(text).toMatch(/^The subtask lead\.c1 failed: it took longer than its limit of 3000 ms .*\nquick$/);
  });

  it("refuses what a child needs approval for when nobody is there, and does not hang", async () => {
    house = await openHouse(
      byPrompt(
        ["Install", [{ calls: [{ name: "bash", input: { command: "npm install left-pad" } }] }, { text: "could not" }]],
        ["Go", [{ calls: [task("Install")] }, (r) => ({ text: saidTo(r) })]],
      ),
      { permissionMode: "default" },
    );
    const { text } = await (await house.harness.run("Go")).result;
    expect(text).toMatch(
      /^could not\n\nRefused by policy, and another subtask would be refused likewise:\nbash: .*no one is there to ask/,
    );
  });

  it("starts no more when three of a turn were refused, whatever they were asked", async () => {
    let n = 0;
    house = await openHouse(
      (request) => {
        if (promptOf(request).includes("Install"))
          return request.round === 0
            ? { calls: [{ name: "bash", input: { command: `npm install left-pad-${++n}` } }] }
            : { text: "could not" };
        return request.round < 6 ? { calls: [task(`Install, try ${request.round}`)] } : { text: "gave up" };
      },
      { permissionMode: "default" },
    );
    const run = await house.harness.run("Go on");
    expect((await run.result).text).toBe("gave up");
    expect((await agentsIn(run.context)).length).toBe(4);
    const offered = requests().filter((r) => promptOf(r).includes("Go on"));
    // biome-ignore lint/suspicious/noExplicitAny: a request as it came
    const has = (r: any) => r.body.tools.some((t: any) => t.function.name === "task");
    expect(offered.map(has)).toEqual([true, true, true, false, false, false, false]);
  });

  it("passes shared data by its keys", async () => {
    house = await openHouse(
      byPrompt(
        ["Use it", [{ text: "used" }]],
        ["Go", [{ calls: [task("Use it", { reads: ["topic"] })] }, { text: "ok" }]],
      ),
    );
    const contexts = await openContexts({ store: house.store });
    const id = await house.harness.host.create({ root: house.root, title: "t" });
    await (await contexts.get(id)).share("topic", "bowlines", { author: "user" });
    await (await house.harness.run("Go", { context: id })).result;
    const child = requests().find((r) => promptOf(r).includes("Use it"))!;
    expect(JSON.stringify(child.body)).toContain("bowlines");
  });

  it("interrupts its children with the turn, each call with its result", async () => {
    house = await openHouse(
      byPrompt(
        ["Long", [{ text: "never", faults: [{ pauseAt: 1 }] }]],
        ["Go", [{ calls: [task("Long one"), task("Long two")] }, { text: "no" }]],
      ),
    );
    const run = await house.harness.run("Go");
    await house.server.paused();
    run.interrupt();
    expect((await run.result).reason).toBe("interrupted");
    const results = (await house.events(run.context)).filter((e) => e.type === "tool.finished" && e.actor === "lead");
    expect(results.length).toBe(2);
    expect(JSON.stringify(results)).toContain("was interrupted");
  });

  it("goes on with an interrupted child, which knows what it did, when it is named as the agent", async () => {
    house = await openHouse(
      byPrompt(
        [
          "Long work",
          [
            { text: "step one", calls: [{ name: "list_jobs", input: {} }] },
            (r) => ({ text: `finished: ${saidTo(r)}`, faults: [{ pauseAt: 1 }] }),
          ],
        ],
        [
          "Go",
          [
            { calls: [task("Long work")] },
            { calls: [task("Now finish it.", { agent: "lead.c1" })] },
            (r) => ({ text: saidTo(r) }),
          ],
        ],
      ),
    );
    const run = await house.harness.run("Go");
    await house.server.paused();
    run.interrupt();
    expect((await run.result).reason).toBe("interrupted");
    await run.taken.release();
    const again = await house.harness.run(undefined, { context: run.context });
    const { text } = await again.result;
    expect(text).toContain("(it keeps what it did: task with agent lead.c1 goes on with it)");
    expect(text).toMatch(/finished: .*Now finish it\.$/s);
    expect(await agentsIn(run.context)).toEqual(["lead", "lead.c1"]);
    expect(house.server.log().invalid).toEqual([]);
  });
});
