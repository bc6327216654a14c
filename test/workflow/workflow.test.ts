import { describe, expect, it } from "vitest";
import * as z from "zod";
import { RESULTS } from "../../src/contexts/index.ts";
import { runWorkflow } from "../../src/workflow/run.ts";
import type { WorkflowProgress as Progress } from "../../src/workflow/session.ts";
import { flow, openDesk, phase, states, text } from "./desk.ts";

describe("a workflow", () => {
  it("passes data through the context: templates, reads marked as data, exports with provenance, results in order", async () => {
    const { context, fake } = await openDesk();
    const workflow = flow(
      [
        phase("collect", { prompt: "About {{ topic }}.", exports: { facts: { type: "array" } } }),
        phase("write", {
          needs: ["collect"],
          prompt: "First fact: {{ facts[0] }}. All: {{ data.facts }}",
          reads: ["facts", "topic"],
          exports: { essay: z.string().min(3) },
        }),
      ],
      { inputs: { topic: text } },
    );
    const agents = fake(({ type, agent }) =>
      agent === "collect.1" ? { exports: { facts: ["a", "b"], extra: 1 }, text: type } : { exports: { essay: "long" } },
    );
    const told: string[] = [];
    const onProgress = (one: Progress) => told.push(one.kind === "phase" ? `${one.phase} ${one.state}` : one.kind);
    const run = await runWorkflow({ workflow, context, runner: agents.runner, inputs: { topic: "tides" }, onProgress });
    expect(run.state).toBe("done");
    expect(told).toEqual(["workflow", "collect running", "collect done", "write running", "write done", "workflow"]);
    expect(agents.tasks.map(({ agent, type, exports }) => ({ agent, type, exports }))).toEqual([
      { agent: "collect.1", type: "general-purpose", exports: { facts: { type: "array" } } },
      { agent: "write.1", type: "general-purpose", exports: { essay: { type: "string", minLength: 3 } } },
    ]);
    expect(agents.tasks[0]!.prompt).toBe("About tides.");
    expect(agents.tasks[1]!.prompt).toContain("First fact: a. All: Data from");
    expect(agents.tasks[1]!.prompt).toMatch(
      /# Shared context\n\n## facts\n\nData from "shared data facts, by collect\.1, /,
    );
    expect(await context.read("extra")).toBeUndefined();
    expect(await context.read(RESULTS)).toMatchObject([
      {
        phase: "collect",
        agent: "collect.1",
        type: "general-purpose",
        exports: { facts: ["a", "b"] },
        text: "general-purpose",
      },
      { phase: "write", agent: "write.1", exports: { essay: "long" } },
    ]);
    const [info] = (await context.list()).filter((one) => one.key === "essay");
    expect(info).toMatchObject({ author: "write.1", call: "workflow:write.1" });
    expect((await context.checkpoints()).map(({ name, auto }) => [name, auto])).toEqual([
      ["collect", true],
      ["write", true],
    ]);
  });

  it("puts large values into prompts by reference, and into the results too", async () => {
    const { context, fake } = await openDesk();
    const big = "x".repeat(300_000);
    const workflow = flow([
      phase("make", { exports: { big: text, small: text } }),
      phase("use", { needs: ["make"], reads: ["big", "small"] }),
    ]);
    const agents = fake(({ agent }) => (agent === "make.1" ? { exports: { big, small: "y" } } : {}));
    await runWorkflow({ workflow, context, runner: agents.runner });
    const { prompt } = agents.tasks[1]!;
    expect(Buffer.byteLength(prompt)).toBeLessThan(9_000);
    expect(prompt).toContain("context_read");
    expect(prompt).toContain('"y"');
    const results = (await context.read(RESULTS)) as { exports: Record<string, unknown> }[];
    expect(results[0]!.exports).toEqual({
      big: { ref: "big", bytes: 300_002 },
      small: "y",
    });
  });

  it("runs what is ready at one time, bounded, and each after what it needs", async () => {
    const { context, fake } = await openDesk();
    const ids = ["a", "b", "c", "d", "e"];
    const workflow = flow([...ids.map((id) => phase(id)), phase("last", { needs: ids })], { concurrency: 2 });
    const agents = fake(() => ({ delayMs: 20 }));
    await runWorkflow({ workflow, context, runner: agents.runner });
    expect(agents.most()).toBe(2);
    expect(agents.tasks.at(-1)!.agent).toBe("last.1");
  });

  it("leaves siblings of a failed phase alone, logs the error, and a retry repeats only what failed and what waits for it", async () => {
    const { context, contexts, fake } = await openDesk();
    const workflow = flow([
      phase("a", { exports: { a: text } }),
      phase("bad", { needs: ["a"] }),
      phase("good", { needs: ["a"] }),
      phase("after", { needs: ["bad", "good"] }),
    ]);
    let broken = true;
    const agents = fake(({ agent }) =>
      agent.startsWith("bad") && broken ? { fails: "no luck" } : { exports: { a: "1" } },
    );
    const first = await runWorkflow({ workflow, context, runner: agents.runner });
    expect([first.state, ...states(first)]).toEqual(["failed", "a done", "bad failed", "good done", "after blocked"]);
    expect(first.phases[1]!.error).toBe("no luck");
    expect(await context.errors()).toMatchObject([{ agent: "bad.1", message: "bad: no luck" }]);
    expect((await contexts.list())[0]!.status).toBe("failed");
    broken = false;
    const second = await runWorkflow({ workflow, context, runner: agents.runner });
    expect([second.state, ...states(second)]).toEqual(["done", "a done", "bad done", "good done", "after done"]);
    expect(agents.requests()).toEqual(["a.1/0", "bad.1/0", "good.1/0", "bad.2/0", "after.1/0"]);
  });

  it("tries a phase again as often as it says, each time under a new name, and no other phase", async () => {
    const { context, fake } = await openDesk();
    const workflow = flow([phase("a"), phase("b", { needs: ["a"], retry: 2 })]);
    const agents = fake(({ agent }) => (agent === "b.3" || agent === "a.1" ? {} : { fails: "not yet" }));
    const run = await runWorkflow({ workflow, context, runner: agents.runner });
    expect(run.state).toBe("done");
    expect(agents.requests()).toEqual(["a.1/0", "b.1/0", "b.2/0", "b.3/0"]);
  });

  it("refuses exports that are missing or do not fit, and changes nothing by them", async () => {
    const { context, fake } = await openDesk();
    const workflow = flow([phase("a", { exports: { n: { type: "number" }, m: text } })]);
    const agents = fake(() => ({ exports: { n: "one", m: "fine" } }));
    const run = await runWorkflow({ workflow, context, runner: agents.runner });
    expect(run.phases[0]!.error).toMatch(/^a\.1 did not export n as a asks for: .*expected number/);
    expect(await context.read("m")).toBeUndefined();
    expect(await context.read(RESULTS)).toBeUndefined();
  });

  it("skips a phase whose condition does not hold; what needs it runs", async () => {
    const { context, fake } = await openDesk();
    const workflow = flow(
      [
        phase("check", { exports: { kind: text } }),
        phase("fix", { needs: ["check"], when: "kind == 'bug'", exports: { patch: text } }),
        phase("tell", { needs: ["fix"], prompt: 'Patch: {{ patch | default: "none" }}' }),
      ],
      {},
    );
    const agents = fake(() => ({ exports: { kind: "feature" } }));
    const run = await runWorkflow({ workflow, context, runner: agents.runner });
    expect(states(run)).toEqual(["check done", "fix skipped", "tell done"]);
    expect(agents.tasks.map((one) => one.prompt)).toEqual(["Do check.", "Patch: none"]);
  });

  it("fans out over a list, bounded, in order; a retry repeats only the items that failed", async () => {
    const { context, fake } = await openDesk();
    const workflow = flow(
      [
        phase("each", {
          foreach: "files",
          concurrency: 2,
          prompt: "{{ index }}: {{ item.name }}",
          exports: { size: { type: "number" } },
          budget: { tokens: 100, rounds: 7 },
        }),
        phase("sum", { needs: ["each"], prompt: "{{ size | json }}" }),
      ],
      { inputs: { files: { type: "array" } } },
    );
    let broken = true;
    const agents = fake(({ agent, prompt }) =>
      agent.startsWith("each.1.2") && broken ? { fails: "no" } : { delayMs: 10, exports: { size: prompt.length } },
    );
    const files = ["a", "bb", "ccc", "dddd"].map((name) => ({ name }));
    const first = await runWorkflow({ workflow, context, runner: agents.runner, inputs: { files } });
    expect(states(first)).toEqual(["each failed", "sum blocked"]);
    expect(first.phases[0]).toMatchObject({
      error: "1 of 4 items failed, the first is item 2: no",
      items: { total: 4, done: 3, failed: 1 },
    });
    expect(agents.most()).toBe(2);
    expect(agents.tasks[0]).toMatchObject({ budgetTokens: 25, maxRounds: 7 });
    broken = false;
    const before = agents.requests().length;
    const second = await runWorkflow({ workflow, context, runner: agents.runner });
    expect(second.state).toBe("done");
    expect(agents.requests().slice(before)).toEqual(["each.1.2.2/0", "sum.1/0"]);
    expect(await context.read("size")).toEqual([4, 5, 6, 7]);
  });

  it("gives an empty list for an empty list, without an agent", async () => {
    const { context, fake } = await openDesk();
    const workflow = flow([phase("each", { foreach: "files", exports: { size: text } })], {
      inputs: { files: { type: "array", default: [] } },
    });
    const agents = fake(() => ({}));
    const run = await runWorkflow({ workflow, context, runner: agents.runner });
    expect([run.state, await context.read("size"), agents.tasks.length]).toEqual(["done", [], 0]);
  });
});
