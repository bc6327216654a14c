import path from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { type Context, type Contexts, openContexts, RESULTS } from "../../src/contexts/index.ts";
import {
  type AgentRunner,
  type AgentTask,
  type Ask,
  defineWorkflow,
  drawWorkflow,
  giveInput,
  type PhaseSpec,
  type Progress,
  reportOf,
  runWorkflow,
  type WorkflowSpec,
  workflowStatus,
} from "../../src/hub/workflow/index.ts";
import { tempDir } from "../house.ts";
import { type Fake, fakeRunner, type Play } from "./workflow-fake.ts";

const open: Contexts[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

interface Desk {
  contexts: Contexts;
  context: Context;
  fake(play: (task: AgentTask) => Play): Fake;
}

async function openDesk(): Promise<Desk> {
  const dir = tempDir("workflow");
  const contexts = await openContexts({ file: path.join(dir, "ledger.db") });
  open.push(contexts);
  const context = await contexts.create({ task: "test" });
  return { contexts, context, fake: (play) => fakeRunner(path.join(dir, "agents"), play) };
}

const flow = (phases: PhaseSpec[], more: Partial<WorkflowSpec> = {}) =>
  defineWorkflow({ name: "test", phases, ...more });
const phase = (id: string, more: Partial<PhaseSpec> = {}): PhaseSpec => ({ id, prompt: `Do ${id}.`, ...more });
const text = { type: "string" };
const states = (run: { phases: { id: string; state: string }[] }) => run.phases.map((one) => `${one.id} ${one.state}`);

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
      { phase: "collect", agent: "collect.1", exports: { facts: ["a", "b"] }, text: "general-purpose" },
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
      big: { ref: "big", version: expect.any(Number), type: "string", bytes: 300_002 },
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
    const ask: Ask = async ({ question, error }) => ({ who: asked.push(error) === 1 ? 7 : `${question} Ann` });
    const run = await runWorkflow({ workflow, context, runner: agents.runner, ask });
    expect([run.state, agents.tasks[0]!.prompt]).toEqual(["done", "Hi Who? Ann"]);
    expect(asked).toEqual([undefined, expect.stringMatching(/^who does not fit: .*expected string/)]);
    expect((await context.history("who")).map((one) => one.author)).toEqual(["user"]);
  });

  it("ends a question that nobody answers when it is stopped, and fails a phase whose question cannot be put", async () => {
    const { context, contexts, fake } = await openDesk();
    const agents = fake(() => ({ exports: { kind: { a: 1 } } }));
    const stop = new AbortController();
    const ask: Ask = () => {
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

  it("writes nothing again that an agent has shared and added to the results by itself", async () => {
    const { context, contexts } = await openDesk();
    const workflow = flow(
      [phase("a", { exports: { v: text } }), phase("each", { needs: ["a"], foreach: "list", exports: { w: text } })],
      {
        inputs: { list: { type: "array", default: ["x", "y"] } },
      },
    );
    const run: AgentRunner["run"] = async ({ agent, exports: wanted }) => {
      const own = await contexts.get(context.id, { author: agent });
      const exports = Object.fromEntries(Object.keys(wanted ?? {}).map((key) => [key, `by ${agent}`]));
      await own.shareAll(exports, { call: "c7" });
      await own.append(RESULTS, { agent, keys: Object.keys(exports) }, { call: "c7" });
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
        const results = (await context.read(RESULTS)) as { phase: string }[];
        expect(results.map((one) => one.phase).sort()).toEqual(needs.map((_, i) => `p${i}`).sort());
        expect((await context.checkpoints()).map((one) => one.name).sort()).toEqual(
          needs.map((_, i) => `p${i}`).sort(),
        );
        expect({ repeated, early }).toEqual({ repeated: [], early: [] });
      }),
      { numRuns: 25 },
    );
  });
});
