// Who may write what in a context: through the library.
import { describe, expect, it } from "vitest";
import { type Context, openContexts, RESULTS } from "../../src/contexts/index.ts";
import { giveInput, runWorkflow, workflowStatus } from "../../src/hub.ts";
import { flow, openDesk, phase, states, text } from "../workflow/desk.ts";
import { refusal } from "./desk.ts";

const agentOf = async (
  { contexts, context }: { contexts: Awaited<ReturnType<typeof openContexts>>; context: Context },
  agent: string,
) => contexts.get(context.id, { agent });

describe("an agent", () => {
  it("writes what is new or its own; others read it, and may not change, remove or restart it", async () => {
    const desk = await openDesk();
    const [a, b] = [await agentOf(desk, "a.1"), await agentOf(desk, "b")];
    await a.share("found", [1]);
    expect(await refusal(b.share("found", []))).toEqual({
      code: "refused",
      message:
        "found belongs to a.1, who wrote it first; nothing was changed: read it, and write what is yours under another key, such as agent/b/found",
    });
    for (const work of [
      b.append("found", 2),
      b.remove("found"),
      b.merge("found", () => 1),
      b.shareAll({ own: 1, found: 2 }),
    ])
      expect((await refusal(work)).code).toBe("refused");
    expect([await b.read("found"), await b.read("own")]).toEqual([[1], undefined]);
    await a.append("found", 2);
    await a.remove("found");
    expect((await refusal(b.share("found", 1))).code).toBe("refused");
    // Whatever author a call names, an agent is itself.
    expect((await refusal(b.share("found", 1, { author: "a.1" }))).code).toBe("refused");
    expect((await b.share("mine", 1, { author: "a.1" })).author).toBe("b");
  });

  it("appends to what the context declares a list, and to nothing else of another's", async () => {
    const desk = await openDesk();
    const context = await desk.contexts.create({
      task: "t",
      lists: ["notes"],
      schemas: { rows: { type: "array" }, n: { type: "number" } },
    });
    const [a, b] = [await agentOf({ ...desk, context }, "a"), await agentOf({ ...desk, context }, "b")];
    for (const one of [a, b]) {
      await one.append("notes", one === a ? "a" : "b");
      await one.append("rows", one === a ? "a" : "b");
    }
    expect([await context.read("notes"), await context.read("rows")]).toEqual([
      ["a", "b"],
      ["a", "b"],
    ]);
    expect((await refusal(b.share("notes", []))).message).toContain("belongs to a, who wrote it first");
    expect((await refusal(a.share("rows", []))).message).toContain("is declared by the schema of this context");
    expect((await refusal(a.share("n", 1))).code).toBe("refused");
    await context.share("n", 1);
  });

  it("has private keys under its whole name: a dot is no border", async () => {
    const desk = await openDesk();
    const [a, a1] = [await agentOf(desk, "a"), await agentOf(desk, "a.1")];
    await a1.share("agent/a.1/plan", 1);
    expect((await refusal(a.share("agent/a.1/plan", 2))).message).toContain("is private to a.1");
    expect((await refusal(a.share("agent/a.1/other", 2))).code).toBe("refused");
    expect((await refusal(a1.share("agent/a/plan", 2))).code).toBe("refused");
    await a.share("agent/a/plan", 2);
  });

  it("is held to it in every process, after a restore, in a fork, and when two begin a key at once", async () => {
    const desk = await openDesk();
    const { context, contexts } = desk;
    await context.checkpoint("empty");
    const other = await openContexts({ file: contexts.store.url.replace("sqlite:", "") });
    const rivals = await Promise.all(
      [0, 1, 2, 3].map((i) => (i % 2 ? contexts : other).get(context.id, { agent: `r${i}` })),
    );
    const ended = await Promise.all(rivals.map((one) => refusal(one.share("race", one.id))));
    expect(ended.map((one) => one.code).sort()).toEqual(["none", "refused", "refused", "refused"]);
    const lists = await Promise.all(rivals.map((one) => refusal(one.append("race list", 1))));
    expect(lists.map((one) => one.code).sort()).toEqual(["none", "refused", "refused", "refused"]);
    await other.close();

    await (await agentOf(desk, "a")).share("k", "of a");
    await context.checkpoint("with k");
    const fork = await context.fork("with k");
    expect((await refusal((await contexts.get(fork.id, { agent: "b" })).share("k", 1))).code).toBe("refused");
    await context.restore("empty", { data: true });
    await (await agentOf(desk, "b")).share("k", "of b");
    expect((await refusal((await agentOf(desk, "a")).share("k", 1))).message).toContain("belongs to b");
    await context.undo();
    expect((await refusal((await agentOf(desk, "b")).share("k", 1))).message).toContain("belongs to a");
  });

  it("cannot reach the runtime: neither giveInput nor a workflow goes through its handle", async () => {
    const desk = await openDesk();
    const handle = await agentOf(desk, "a");
    expect((await refusal(giveInput(handle, { k: 1 }))).code).toBe("refused");
    const { runner } = desk.fake(() => ({}));
    expect((await refusal(runWorkflow({ workflow: flow([phase("p")]), context: handle, runner }))).code).toBe(
      "refused",
    );
  });
});

describe("the program", () => {
  it("may write all but the runtime's records and the inputs, also by updateState", async () => {
    const { context, fake } = await openDesk();
    const workflow = flow([phase("a", { exports: { v: text } })], { inputs: { topic: text } });
    await runWorkflow({
      workflow,
      context,
      runner: fake(() => ({ exports: { v: "x" } })).runner,
      inputs: { topic: "t" },
    });
    for (const key of ["topic", "workflow", "workflow.a", RESULTS])
      for (const work of [
        context.share(key, []),
        context.shareAll({ fine: 1, [key]: [] }),
        context.append(key, 1),
        context.merge(key, () => []),
        context.remove(key),
        context.updateState("a", { [key]: [] }),
        context.updateState("a", { [key]: null }),
      ])
        expect([key, (await refusal(work)).code]).toEqual([key, "refused"]);
    const edited = await context.updateState("a", { v: "by hand" });
    expect([await edited.read("v"), await edited.read("topic"), await context.read("fine")]).toEqual([
      "by hand",
      "t",
      undefined,
    ]);
  });

  it("answers no wait by sharing the key, before or while it waits; a given answer stands through a restore and a fork as data does", async () => {
    const { context, contexts, fake } = await openDesk();
    await context.share("approved", true);
    const workflow = flow([
      phase("ok", { wait: "input", exports: { approved: { type: "boolean" } } }),
      phase("go", { needs: ["ok"] }),
    ]);
    const agents = fake(() => ({}));
    const run = (one: Context) => runWorkflow({ workflow, context: one, runner: agents.runner });
    expect(states(await run(context))).toEqual(["ok waiting", "go pending"]);
    await context.share("approved", true);
    expect(states(await run(context))).toEqual(["ok waiting", "go pending"]);
    await context.checkpoint("waiting");
    await giveInput(context, { approved: false });
    await context.checkpoint("given");
    await context.restore("waiting", { data: true });
    expect(states(await run(context))).toEqual(["ok waiting", "go pending"]);
    const fork = await context.fork("given");
    expect(states(await run(fork))).toEqual(["ok done", "go done"]);
    expect(await fork.read("approved")).toBe(false);
    expect(await (await contexts.get(context.id)).read("approved")).toBe(true);
  });
});

describe("a context of an older Holdfast", () => {
  /** What the old code wrote: records among the shared data, the finished one in the name of the phase's agent. */
  async function oldRun() {
    const desk = await openDesk();
    const { context } = desk;
    const { store } = desk.contexts;
    const shared = (key: string, value: unknown, actor: string, call?: string) => ({
      ...{ type: "data.shared", actor, touches: [`key:${key}`, `base:${key}`] },
      data: {
        key,
        hash: "0".repeat(32),
        bytes: JSON.stringify(value).length,
        type: "object",
        preview: "",
        value,
        ...(call && { call }),
      },
    });
    const outline = (id: string, needs: string[], more: object) => ({
      id,
      title: id,
      agent: "general-purpose",
      needs,
      wait: false,
      exports: {},
      ...more,
    });
    const record = (state: string, agent: string, needs: object) => ({
      ...{
        state,
        run: 1,
        round: 1,
        tries: 1,
        agent,
        needs,
        startedAt: 1,
        activeMs: 1,
        rounds: 1,
        requests: 1,
        tokens: 1,
      },
      ...{ peakRss: 1, exports: {}, ...(state === "done" ? { endedAt: 2 } : {}) },
    });
    const phases = [
      outline("a", [], { exports: { v: text } }),
      outline("ok", ["a"], { agent: "person", wait: true, exports: { approved: { type: "boolean" } } }),
      outline("b", ["ok"], {}),
    ];
    const header = { name: "test", description: "", file: "workflow test", inputs: {}, phases, startedAt: 1 };
    const write = (...events: ReturnType<typeof shared>[]) => store.append([{ ledger: context.id, events }]);
    await write(
      shared("workflow", header, "workflow"),
      shared("workflow.a", record("running", "a.1", {}), "workflow"),
      shared("v", "x", "a.1", "c1"),
      shared("workflow.a", record("done", "a.1", {}), "a.1", "workflow:a.1"),
      shared("workflow.ok", { ...record("waiting", "user", { a: 1 }), since: {}, question: "?" }, "workflow"),
    );
    const workflow = flow([
      phase("a", { exports: { v: text } }),
      phase("ok", { needs: ["a"], wait: "input", exports: { approved: { type: "boolean" } } }),
      phase("b", { needs: ["ok"] }),
    ]);
    return { ...desk, workflow, write, shared, record };
  }

  it("goes on where it stood, takes the answer that a person gave then, and says whose the keys are from then on", async () => {
    const { context, contexts, fake, workflow, write, shared } = await oldRun();
    expect(states((await workflowStatus(context))!)).toEqual(["a done", "ok waiting", "b pending"]);
    await write(shared("approved", true, "user"));
    const agents = fake(() => ({}));
    const done = await runWorkflow({ workflow, context, runner: agents.runner });
    expect(states(done)).toEqual(["a done", "ok done", "b done"]);
    expect(agents.tasks.map((one) => one.agent)).toEqual(["b.1"]);
    expect((await refusal((await contexts.get(context.id, { agent: "b.1" })).share("v", 1))).message).toContain(
      "belongs to the phase a",
    );
  });

  it("does not count what its agents wrote in the runtime's place", async () => {
    const { context, fake, workflow, write, shared, record } = await oldRun();
    await write(
      shared("approved", true, "a.1", "c2"),
      shared("workflow.ok", record("done", "user", { a: 1 }), "a.1", "c3"),
      shared("workflow.b", record("done", "b.1", { ok: 1 }), "a.1", "c4"),
      shared("workflow", { name: "test", inputs: {}, phases: [], startedAt: 1 }, "a.1", "c5"),
    );
    const agents = fake(() => ({}));
    expect(states(await runWorkflow({ workflow, context, runner: agents.runner }))).toEqual([
      "a done",
      "ok waiting",
      "b pending",
    ]);
    await giveInput(context, { approved: true });
    expect(states(await runWorkflow({ workflow, context, runner: agents.runner }))).toEqual([
      "a done",
      "ok done",
      "b done",
    ]);
    expect(agents.tasks.map((one) => one.agent)).toEqual(["b.1"]);
  });
});
