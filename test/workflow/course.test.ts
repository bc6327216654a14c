import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RESULTS } from "../../src/contexts/index.ts";
import type { AgentRunner } from "../../src/hub/port.ts";
import { drawWorkflow } from "../../src/workflow/draw.ts";
import { defineWorkflow } from "../../src/workflow/parse.ts";
import { reportOf } from "../../src/workflow/report.ts";
import { runWorkflow } from "../../src/workflow/run.ts";
import type { AskPerson, WorkflowProgress as Progress } from "../../src/workflow/session.ts";
import { workflowStatus } from "../../src/workflow/status.ts";
import { giveInput } from "../../src/workflow/wait.ts";
import { flow, openDesk, phase, states, text } from "./desk.ts";

describe("the course of a workflow", () => {
  const loop = (max: number, exhausted?: "continue") =>
    flow([
      phase("draft", { prompt: 'Write. {{ verdict.note | default: "" }}', exports: { text } }),
      phase("review", {
        needs: ["draft"],
        exports: { verdict: { type: "object" } },
        until: { when: "verdict.ok", max, repeat: ["draft"], ...(exhausted && { exhausted }) },
      }),
      phase("publish", { needs: ["review"] }),
    ]);

  it("repeats review → draft until the review is content, with what it said; nothing after it runs before", async () => {
    const { context, fake } = await openDesk();
    const agents = fake(({ agent }) => ({
      exports: { text: agent, verdict: { ok: agent === "review.3", note: `see ${agent}` } },
    }));
    const run = await runWorkflow({ workflow: loop(5), context, runner: agents.runner });
    expect(run.state).toBe("done");
    expect(agents.tasks.map((one) => one.agent)).toEqual([
      "draft.1",
      "review.1",
      "draft.2",
      "review.2",
      "draft.3",
      "review.3",
      "publish.1",
    ]);
    expect(agents.tasks[2]!.prompt).toBe("Write. see review.1");
    expect(run.phases.map((one) => one.round)).toEqual([3, 3, 1]);
  });

  it("ends a loop at its bound: failed, and a retry goes round as often again; or on, when it says so", async () => {
    const { context, contexts, fake } = await openDesk();
    let content = "nobody";
    const agents = fake(({ agent }) => ({ exports: { text: agent, verdict: { ok: agent === content } } }));
    const first = await runWorkflow({ workflow: loop(2), context, runner: agents.runner });
    expect(states(first)).toEqual(["draft done", "review failed", "publish blocked"]);
    expect(first.phases[1]!.error).toMatch(/^verdict\.ok does not hold after 2 rounds/);
    content = "review.4";
    const second = await runWorkflow({ workflow: loop(2), context, runner: agents.runner });
    expect(second.state).toBe("done");
    expect(agents.tasks.slice(4).map((one) => one.agent)).toEqual([
      "draft.3",
      "review.3",
      "draft.4",
      "review.4",
      "publish.1",
    ]);
    content = "nobody";
    const other = await contexts.create({ task: "other" });
    const third = await runWorkflow({ workflow: loop(2, "continue"), context: other, runner: agents.runner });
    expect([third.state, ...states(third)]).toEqual(["done", "draft done", "review done", "publish done"]);
  });

  it("waits for a person: the run ends as waiting, input given from elsewhere is checked, and the run goes on", async () => {
    const { context, contexts, fake } = await openDesk();
    const workflow = flow([
      phase("plan", { exports: { plan: text } }),
      phase("approve", {
        needs: ["plan"],
        prompt: "Is {{ plan }} good?",
        wait: "input",
        exports: { approval: { enum: ["yes", "no"] } },
      }),
      phase("build", { needs: ["approve"], when: "approval == 'yes'" }),
    ]);
    const agents = fake(() => ({ exports: { plan: "P" } }));
    const first = await runWorkflow({ workflow, context, runner: agents.runner });
    expect([first.state, ...states(first)]).toEqual(["waiting", "plan done", "approve waiting", "build pending"]);
    expect(first.phases[1]!.waitsFor).toEqual({ question: "Is P good?", keys: { approval: { enum: ["yes", "no"] } } });
    expect((await contexts.resumable()).map((one) => one.status)).toEqual(["paused"]);
    await expect(giveInput(context, { approval: "maybe" })).rejects.toThrow(/^approval does not fit/);
    await expect(giveInput(context, { aproval: "yes" })).rejects.toThrow(/did you mean "approval"/);
    expect(await giveInput(context, { approval: "yes" })).toEqual({ phases: ["approve"] });
    const second = await runWorkflow({ workflow, context, runner: agents.runner });
    expect([second.state, ...states(second)]).toEqual(["done", "plan done", "approve done", "build done"]);
    expect(agents.requests()).toEqual(["plan.1/0", "build.1/0"]);
  });

  it("asks the person at once where there is one, and again when the answer does not fit", async () => {
    const { context, fake } = await openDesk();
    const workflow = flow([
      phase("name", { prompt: "Who?", wait: "input", exports: { who: text } }),
      phase("greet", { needs: ["name"], prompt: "Hi {{ who }}" }),
    ]);
    const agents = fake(() => ({}));
    const asked: (string | undefined)[] = [];
    const ask: AskPerson = async ({ question, error }) => ({ who: asked.push(error) === 1 ? 7 : `${question} Ann` });
    const run = await runWorkflow({ workflow, context, runner: agents.runner, ask });
    expect([run.state, agents.tasks[0]!.prompt]).toEqual(["done", "Hi Who? Ann"]);
    expect(asked).toEqual([undefined, expect.stringMatching(/^who does not fit: .*expected string/)]);
    expect((await context.history("who")).map((one) => one.author)).toEqual(["user"]);
  });

  it("ends a question that nobody answers when it is stopped, and fails a phase whose question cannot be put", async () => {
    const { context, contexts, fake } = await openDesk();
    const agents = fake(() => ({ exports: { kind: { a: 1 } } }));
    const stop = new AbortController();
    const ask: AskPerson = () => {
      stop.abort();
      return new Promise(() => {});
    };
    const waits = flow([phase("name", { wait: "input", exports: { who: text } })]);
    const first = await runWorkflow({ workflow: waits, context, runner: agents.runner, ask, signal: stop.signal });
    expect([first.state, ...states(first)]).toEqual(["paused", "name waiting"]);
    const other = await contexts.create({ task: "other" });
    const broken = flow([
      phase("look", { exports: { kind: { type: "object" } } }),
      phase("name", { needs: ["look"], prompt: "{{ kind.b }}?", wait: "input", exports: { who: text } }),
      phase("aside"),
    ]);
    const second = await runWorkflow({ workflow: broken, context: other, runner: agents.runner });
    expect([second.state, ...states(second)]).toEqual(["failed", "look done", "name failed", "aside done"]);
    expect(second.phases[1]!.error).toMatch(/there is no variable kind\.b/);
  });

  it("stops a phase at its timeout and goes on with a retry", async () => {
    const { context, fake } = await openDesk();
    const workflow = flow([phase("slow", { timeout: "40ms", retry: 1 })]);
    const agents = fake(({ agent }) => ({ delayMs: agent === "slow.1" ? 60_000 : 0 }));
    const run = await runWorkflow({ workflow, context, runner: agents.runner });
    expect(run.state).toBe("done");
    expect(await context.errors()).toMatchObject([
      { agent: "slow.1", message: expect.stringContaining("timeout of 40 ms") },
    ]);
  });

  it("keeps to the workflow's budget", async () => {
    const { context, fake } = await openDesk();
    const workflow = flow([phase("a"), phase("b", { needs: ["a"] }), phase("c", { needs: ["b"] })], {
      budget: { tokens: 100 },
    });
    const agents = fake(() => ({ tokens: 60 }));
    const run = await runWorkflow({ workflow, context, runner: agents.runner });
    expect(states(run)).toEqual(["a done", "b done", "c failed"]);
    expect(run.phases[2]!.error).toMatch(/used 120 of its 100 tokens/);
    expect(agents.tasks.map((one) => one.budgetTokens)).toEqual([100, 40]);
  });

  it("stops when it is told to, leaves the phase unfinished, and goes on later with the same agent", async () => {
    const { context, contexts, fake } = await openDesk();
    const workflow = flow([phase("a"), phase("b", { needs: ["a"] })]);
    const stop = new AbortController();
    const slow = fake(({ agent }) => ({ delayMs: agent === "b.1" ? 60_000 : 0 }));
    const onProgress = (one: Progress) =>
      one.kind === "phase" && one.phase === "b" && setTimeout(() => stop.abort(), 20);
    const first = await runWorkflow({ workflow, context, runner: slow.runner, signal: stop.signal, onProgress });
    expect([first.state, ...states(first)]).toEqual(["paused", "a done", "b running"]);
    expect(await contexts.resumable()).toHaveLength(1);
    const quick = fake(() => ({}));
    const second = await runWorkflow({ workflow, context, runner: quick.runner });
    expect([second.state, quick.tasks.map((one) => one.agent)]).toEqual(["done", ["b.1"]]);
  });

  it("is run by one process at a time, under the inputs it was begun with", async () => {
    const { context, fake } = await openDesk();
    const workflow = flow([phase("a", { prompt: "{{ n }}" })], { inputs: { n: { type: "number" } } });
    const agents = fake(() => ({ delayMs: 30 }));
    await expect(runWorkflow({ workflow, context, runner: agents.runner })).rejects.toThrow("test needs the input n");
    await expect(runWorkflow({ workflow, context, runner: agents.runner, inputs: { m: 1 } })).rejects.toThrow(
      /no input "m"/,
    );
    await expect(runWorkflow({ workflow, context, runner: agents.runner, inputs: { n: "x" } })).rejects.toThrow(
      /n does not fit/,
    );
    expect(await workflowStatus(context)).toBeUndefined();
    const once = { workflow, context, runner: agents.runner, inputs: { n: 1 } };
    const both = await Promise.allSettled([runWorkflow(once), runWorkflow(once)]);
    expect(both.map((one) => (one.status === "fulfilled" ? one.value.state : one.reason.code)).sort()).toEqual([
      "done",
      "held",
    ]);
    expect(agents.requests()).toEqual(["a.1/0"]);
    await expect(runWorkflow({ workflow, context, runner: agents.runner, inputs: { n: 2 } })).rejects.toThrow(
      /begun with another n/,
    );
    const other = defineWorkflow({ name: "other", phases: [phase("a")] });
    await expect(runWorkflow({ workflow: other, context, runner: agents.runner })).rejects.toThrow(
      /runs the workflow test/,
    );
  });

  it("repeats a finished phase when asked to, with what depends on it, under new names", async () => {
    const { context, fake } = await openDesk();
    const workflow = flow([phase("a"), phase("b", { needs: ["a"] }), phase("c"), phase("d", { needs: ["b", "c"] })]);
    const agents = fake(() => ({}));
    await runWorkflow({ workflow, context, runner: agents.runner });
    const before = agents.requests().length;
    await runWorkflow({ workflow, context, runner: agents.runner, repeat: ["b"] });
    expect(agents.requests().slice(before)).toEqual(["b.2/0", "d.2/0"]);
    await expect(runWorkflow({ workflow, context, runner: agents.runner, repeat: ["x"] })).rejects.toThrow(
      /no phase "x"/,
    );
  });

  it("goes back with a restored checkpoint: later phases run again under names that were never used", async () => {
    const { context, fake } = await openDesk();
    const workflow = flow([phase("a", { exports: { v: text } }), phase("b", { needs: ["a"], exports: { w: text } })]);
    const agents = fake(({ agent }) => ({ exports: { v: agent, w: agent } }));
    await runWorkflow({ workflow, context, runner: agents.runner });
    await context.restore("a", { data: true });
    expect(states((await workflowStatus(context))!)).toEqual(["a done", "b ready"]);
    await runWorkflow({ workflow, context, runner: agents.runner });
    expect(agents.requests()).toEqual(["a.1/0", "b.1/0", "b.2/0"]);
    expect(await context.read("w")).toBe("b.2");
    expect(((await context.read(RESULTS)) as { agent: string }[]).map((one) => one.agent)).toEqual(["a.1", "b.2"]);
  });

  it("draws itself within a width, and reports time, data, memory and requests of each phase", async () => {
    const { context, fake } = await openDesk();
    const workflow = flow(
      [
        phase("collect", { title: "データ収集", exports: { facts: text } }),
        phase("left", { needs: ["collect"] }),
        phase("right", { needs: ["collect"], agent: "code-reviewer" }),
        phase("join", { needs: ["left", "right"] }),
      ],
      {},
    );
    const agents = fake(({ agent }) =>
      agent === "right.1" ? { fails: `bad\n${"\u001b[31m"}${"very ".repeat(50)}long` } : { exports: { facts: "1234" } },
    );
    const run = await runWorkflow({ workflow, context, runner: agents.runner });
    const times = { activeMs: 1500, peakRss: 64e6 };
    const fixed = {
      ...run,
      context: "ctx_1",
      phases: run.phases.map((one) => (one.runs > 0 ? { ...one, ...times } : one)),
    };
    expect(drawWorkflow(fixed, { width: 72 })).toBe(
      [
        "test · failed · ctx_1",
        "└─ ✓ collect (データ収集) done · general-purpose · 1.5 s · 6 B",
        "   ├─ ✓ left done · general-purpose · 1.5 s",
        "   └─ ✗ right failed · code-reviewer · 1.5 s",
        "      │  bad [31mvery very very very very very very very very very very…",
        "      └─ ‖ join blocked · general-purpose · also needs left",
        "",
      ].join("\n"),
    );
    for (const line of drawWorkflow(fixed, { width: 30 }).split("\n")) expect([...line].length).toBeLessThanOrEqual(30);
    expect(reportOf(fixed).markdown).toBe(
      [
        "| Phase | Agent | Time | Shared data | Memory (peak) | Model requests |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
        "| 1. データ収集 | general-purpose | 1.5 s | 6 B | 64.0 MB | 1 |",
        "| 2. left | general-purpose | 1.5 s | 0 B | 64.0 MB | 1 |",
        "| 3. right | code-reviewer | 1.5 s | 0 B | 64.0 MB | 0 |",
        "| **Total** | – | 4.5 s | 6 B | 64.0 MB | 2 |",
        "",
      ].join("\n"),
    );
    expect(run.phases.every((one) => one.runs === 0 || one.peakRss > 1e6)).toBe(true);
  });

  it("writes nothing again that an agent has shared by itself, and adds each result once, in one shape", async () => {
    const { context, contexts } = await openDesk();
    const workflow = flow(
      [phase("a", { exports: { v: text } }), phase("each", { needs: ["a"], foreach: "list", exports: { w: text } })],
      {
        inputs: { list: { type: "array", default: ["x", "y"] } },
      },
    );
    const run: AgentRunner["run"] = async ({ agent, exports: wanted }) => {
      const own = await contexts.get(context.id, { author: agent }); // a runner is the program's own code
      const exports = Object.fromEntries(Object.keys(wanted ?? {}).map((key) => [key, `by ${agent}`]));
      await own.shareAll(exports, { call: "c7" });
      return { text: "", exports, rounds: 1, requests: 1, tokens: 1, durationMs: 1, resumed: false };
    };
    const ended = await runWorkflow({ workflow, context, runner: { run }, concurrency: 1 });
    expect(ended.state).toBe("done");
    expect((await context.history("v")).map(({ author, call }) => [author, call])).toEqual([["a.1", "c7"]]);
    expect(await context.read("w")).toEqual(["by each.1.0", "by each.1.1"]);
    const results = (await context.read(RESULTS)) as { agent: string }[];
    expect(results.map((one) => one.agent)).toEqual(["a.1", "each.1.0", "each.1.1", "each.1"]);
  });

  it("ends the same for any graph, any failures and any stops: each phase once in the results, nothing known asked again", async () => {
    const graph = fc.integer({ min: 2, max: 6 }).chain((size) =>
      fc.record({
        needs: fc.tuple(...Array.from({ length: size }, (_, i) => fc.subarray([...Array(i).keys()]))),
        items: fc.array(fc.boolean(), { minLength: size, maxLength: size }),
        fails: fc.array(fc.boolean(), { minLength: size, maxLength: size }),
        stops: fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 4 }),
        concurrency: fc.integer({ min: 1, max: 3 }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(graph, async ({ needs, items, fails, stops, concurrency }) => {
        const { context, fake } = await openDesk();
        const workflow = flow(
          needs.map((before, i) =>
            phase(`p${i}`, {
              needs: before.map((one) => `p${one}`),
              exports: { [`k${i}`]: text },
              ...(items[i] && { foreach: "list" }),
            }),
          ),
          { concurrency, inputs: { list: { type: "array", default: [1, 2, 3] } } },
        );
        const failed = new Set<string>();
        const answered = new Set<string>();
        const repeated: string[] = [];
        const ended = new Set<string>();
        const early: string[] = [];
        for (let n = 0; ; n++) {
          if (n > 30) throw new Error("it does not end");
          const stop = new AbortController();
          let left = stops[n] ?? Number.POSITIVE_INFINITY;
          const agents = fake(({ agent }) => {
            const i = Number(/^p(\d+)/.exec(agent)![1]);
            if (--left === 0) stop.abort();
            const first = fails[i] && !failed.has(`p${i}`);
            if (first) failed.add(`p${i}`);
            return { ...(first ? { fails: "once" } : {}), delayMs: 1, exports: { [`k${i}`]: agent } };
          });
          const run: AgentRunner["run"] = async (task) => {
            const own = Number(/^p(\d+)/.exec(task.agent)![1]);
            for (const one of needs[own]!) if (!ended.has(`p${one}`)) early.push(`${task.agent} before p${one}`);
            const before = agents.requests().length;
            const answer = await agents.runner.run(task);
            const mine = agents.requests().slice(before).includes(`${task.agent}/0`);
            if (mine && answered.has(task.agent)) repeated.push(task.agent);
            answered.add(task.agent);
            return answer;
          };
          const onProgress = (one: Progress) => one.kind === "phase" && one.state === "done" && ended.add(one.phase);
          const { state } = await runWorkflow({ workflow, context, runner: { run }, signal: stop.signal, onProgress });
          if (state === "done") break;
        }
        const results = (await context.read(RESULTS)) as { phase: string; item?: number }[];
        const phases = results.filter((one) => one.item === undefined);
        expect(phases.map((one) => one.phase).sort()).toEqual(needs.map((_, i) => `p${i}`).sort());
        expect((await context.checkpoints()).map((one) => one.name).sort()).toEqual(
          needs.map((_, i) => `p${i}`).sort(),
        );
        expect({ repeated, early }).toEqual({ repeated: [], early: [] });
      }),
      { numRuns: 25 },
    );
  });
});
