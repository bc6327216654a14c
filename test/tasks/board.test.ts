// The life of tasks: chains, refusals by name, who may do what, and letting go.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agent, ids, openWorld, refusal, states, USER, type World } from "./world.ts";

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.dispose());

const alice = agent("alice");
const bob = agent("bob");
const lead = agent("lead");

const chain = [
  { alias: "tests", subject: "Write the tests", blockedBy: ["api"] },
  { alias: "schema", subject: "Write the schema" },
  { alias: "api", subject: "Write the API", blockedBy: ["schema"] },
];

describe("schema → api → tests, created in one call", () => {
  it("is wired by alias in any order, and each completion unblocks only the next", async () => {
    const { board } = world;
    const created = await board.create(chain, lead);
    expect(created.map((t) => [t.id, t.blockedBy])).toEqual([
      ["task_1", ["task_3"]],
      ["task_2", []],
      ["task_3", ["task_2"]],
    ]);
    expect(await refusal(board.claim("task_1", alice))).toEqual(
      "refused: task_1 is blocked by task_3 (pending): it cannot be claimed yet",
    );
    await board.claim("task_2", alice);
    const first = await board.complete("task_2", alice);
    expect([first.task.status, ids(first.unblocked)]).toEqual(["completed", ["task_3"]]);
    expect(ids(await board.list({ claimable: true }))).toEqual(["task_3"]);
    await board.claim("3", bob);
    expect(ids((await board.complete("task_3", bob)).unblocked)).toEqual(["task_1"]);
    expect(states(await board.list())).toEqual({
      task_1: "pending",
      task_3: "completed ctx_a/bob",
      task_2: "completed ctx_a/alice",
    });
  });

  it("refuses cycles, itself and unknown names by name, and nothing is created", async () => {
    const { board } = world;
    const looped = chain.map((t) => (t.alias === "schema" ? { ...t, blockedBy: ["tests"] } : t));
    expect(await refusal(board.create(looped, lead))).toEqual(
      "refused: that would be a cycle: tests waits for api waits for schema waits for tests; nothing was changed",
    );
    expect(await refusal(board.create([{ alias: "a", subject: "A", blockedBy: ["a"] }], lead))).toEqual(
      "refused: a cannot wait for itself; nothing was created",
    );
    expect(await refusal(board.create([{ alias: "a", subject: "A", blockedBy: ["b", "task_9"] }], lead))).toEqual(
      "not_found: a is blocked by b, task_9, which is no task and no alias of this call (a); nothing was created",
    );
    expect([await board.list(), await world.events()]).toEqual([[], []]);
  });

  it("refuses an edge that would close a circle, by name, and takes edges away again", async () => {
    const { board } = world;
    await board.create(chain, lead);
    expect(await refusal(board.update("task_2", { addBlockedBy: ["task_1"] }, lead))).toEqual(
      "refused: that would be a cycle: task_2 waits for task_1 waits for task_3 waits for task_2; nothing was changed",
    );
    expect(await refusal(board.update("task_2", { addBlockedBy: ["task_2"] }, lead))).toEqual(
      "refused: task_2 cannot wait for itself; nothing was changed",
    );
    expect(await refusal(board.update("task_2", { addBlockedBy: ["task_7"] }, lead))).toEqual(
      "not_found: there is no task task_7; nothing was changed",
    );
    const freed = await board.update("task_3", { removeBlockedBy: ["task_2"] }, lead);
    expect(ids(freed.unblocked)).toEqual(["task_3"]);
    const turned = await board.update("task_2", { addBlockedBy: ["1"] }, lead);
    expect(turned.task.blockedBy).toEqual(["task_1"]);
  });
});

describe("claiming", () => {
  it("gives one running task an owner, keeps kept ones, and says who has it", async () => {
    const { board } = world;
    await board.create([{ subject: "one" }, { subject: "two" }, { subject: "three" }], lead);
    await board.claim("task_1", alice);
    expect((await board.claim("task_1", alice)).owner).toEqual("ctx_a/alice");
    expect(await refusal(board.claim("task_1", agent("alice", "ctx_b")))).toEqual(
      "refused: task_1 was already claimed: it is ctx_a/alice's",
    );
    expect(await refusal(board.claim("task_2", alice))).toEqual(
      "refused: ctx_a/alice already works on task_1: complete or release it before claiming task_2",
    );
    await board.update("task_2", { owner: "ctx_a/bob" }, lead);
    expect(await refusal(board.claim("task_2", lead))).toEqual("refused: task_2 is kept for ctx_a/bob");
    expect((await board.claimNext(bob))?.id).toEqual("task_2");
    expect((await board.claimNext(bob))?.id).toEqual("task_2");
    expect((await board.claimNext(lead, { fits: (t) => t.subject === "none" }))?.id).toEqual(undefined);
  });

  it("takes the best first: priority, then age", async () => {
    const { board } = world;
    await board.create(
      [{ subject: "old" }, { subject: "soon", priority: "high" }, { subject: "later", priority: "low" }],
      lead,
    );
    await board.create([{ subject: "blocked", priority: "urgent", blockedBy: ["task_1"] }], lead);
    const taken: (string | undefined)[] = [];
    for (const name of ["a", "b", "c", "d"]) taken.push((await board.claimNext(agent(name)))?.id);
    expect(taken).toEqual(["task_2", "task_1", "task_3", undefined]);
  });

  it("is the owner's to complete, or the user's", async () => {
    const { board } = world;
    await board.create([{ subject: "one" }, { subject: "two" }], lead);
    expect(await refusal(board.complete("task_1", alice))).toEqual(
      "refused: task_1 is not yours: claim it before you complete it",
    );
    await board.claim("task_1", alice);
    expect(await refusal(board.complete("task_1", bob))).toEqual(
      "refused: task_1 can only be completed by its owner or the user: it is ctx_a/alice's",
    );
    expect(await refusal(board.complete("task_1", lead))).toContain("only be completed by its owner");
    expect((await board.complete("task_1", USER)).task.status).toEqual("completed");
    expect((await board.complete("task_2", USER, { note: "done by hand" })).task.history.at(-1)).toMatchObject({
      by: "user",
      what: "completed",
      note: "done by hand",
    });
  });
});

describe("letting go", () => {
  it("puts a task back for others: by its owner, its own lead or the user, not by anyone else", async () => {
    const { board } = world;
    await board.create([{ subject: "one" }], lead);
    await board.claim("task_1", alice);
    expect(await refusal(board.release("task_1", bob))).toEqual(
      "refused: task_1 can only be released by its owner, its lead or the user: it is ctx_a/alice's",
    );
    expect(await refusal(board.release("task_1", agent("lead", "ctx_b")))).toContain("only be released");
    expect(states([await board.release("task_1", lead, "shut down")])).toEqual({ task_1: "pending" });
    await board.claim("task_1", bob);
    expect(ids(await board.releaseAll("ctx_a/bob", { agent: "holdfast" }, "bob failed"))).toEqual(["task_1"]);
    const { history } = await board.get("task_1");
    expect(history.map((h) => `${h.by} ${h.what}${h.note ? `: ${h.note}` : ""}`)).toEqual([
      "ctx_a/lead created",
      "ctx_a/alice claimed",
      "ctx_a/lead released: shut down",
      "ctx_a/bob claimed",
      "holdfast released: bob failed",
    ]);
  });

  it("hands a running task over: released, and kept for the next", async () => {
    const { board } = world;
    await board.create([{ subject: "one" }], lead);
    await board.claim("task_1", alice);
    expect(states([(await board.update("task_1", { owner: "ctx_a/bob" }, lead)).task])).toEqual({
      task_1: "pending ctx_a/bob",
    });
    expect(states([(await board.update("task_1", { status: "in_progress" }, bob)).task])).toEqual({
      task_1: "in_progress ctx_a/bob",
    });
    expect(states([(await board.update("task_1", { status: "pending" }, bob)).task])).toEqual({ task_1: "pending" });
  });

  it("leaves those that wait for a cancelled task blocked, and says so", async () => {
    const { board } = world;
    await board.create(chain, lead);
    const { unblocked, stranded } = await board.update("task_2", { status: "cancelled", note: "no need" }, lead);
    expect([ids(unblocked), ids(stranded)]).toEqual([[], ["task_3"]]);
    expect(await refusal(board.claim("task_3", alice))).toContain("blocked by task_2 (cancelled)");
    expect(await refusal(board.claim("task_2", alice))).toEqual(
      "refused: task_2 is cancelled: there is nothing to claim",
    );
  });

  it("deletes only what nobody needs, unless forced", async () => {
    const { board } = world;
    await board.create(chain, lead);
    expect(await refusal(board.delete("task_2", USER))).toEqual(
      "refused: task_3 would wait for task_2 for ever: remove the dependency first",
    );
    expect(ids(await board.delete("task_2", USER, { force: true }))).toEqual(["task_3"]);
    expect((await board.get("task_3")).blockedBy).toEqual([]);
    expect(await refusal(board.get("task_2"))).toEqual(
      "not_found: there is no task task_2: list() says which there are",
    );
    expect(ids(await board.create([{ subject: "next" }], lead))).toEqual(["task_4"]);
  });

  it("releases a task whose owner had no host for long, counted across processes, and only then", async () => {
    const { board } = world;
    await board.create([{ subject: "one" }, { subject: "two" }, { subject: "three" }], lead);
    await board.claim("task_1", alice);
    await board.claim("task_2", bob);
    await board.claim("task_3", USER);
    const hosted = async (owner: string) => owner === "ctx_a/bob";
    expect(await board.sweep({ hosted, orphanAfterMs: 60_000 })).toEqual([]);
    expect((await board.get("task_1")).unhostedAt).toEqual((await board.get("task_1")).updatedAt);
    const other = await world.again();
    expect(await other.sweep({ hosted, orphanAfterMs: 60_000 })).toEqual([]);
    const later = Date.now() + 61_000;
    expect(states(await other.sweep({ hosted, orphanAfterMs: 60_000, now: later }))).toEqual({ task_1: "pending" });
    expect(states(await board.list())).toEqual({
      task_1: "pending",
      task_2: "in_progress ctx_a/bob",
      task_3: "in_progress user",
    });
    expect((await board.get("task_1")).history.at(-1)).toMatchObject({
      by: "holdfast",
      what: "released",
      note: "ctx_a/alice had no host for 1 minutes",
    });
  });

  it("forgets the mark when the owner has a host again", async () => {
    const { board, store } = world;
    await board.create([{ subject: "one" }], lead);
    await board.claim("task_1", alice);
    await board.sweep();
    expect((await board.get("task_1")).unhostedAt).toBeDefined();
    const lease = await store.leases.acquire("agent:ctx_a/alice");
    await board.sweep({ now: Date.now() + 3_600_000 });
    expect((await board.get("task_1")).unhostedAt).toBeUndefined();
    if ("release" in lease) await lease.release();
  });
});

describe("two doors to one board", () => {
  it("see each other's changes, and of two edges that together make a circle one is refused", async () => {
    const other = await world.again();
    const { board } = world;
    await board.create([{ subject: "a" }, { subject: "b" }], lead);
    expect(ids(await other.list())).toEqual(["task_1", "task_2"]);
    const outcomes = await Promise.all([
      refusal(board.update("task_1", { addBlockedBy: ["task_2"] }, alice)),
      refusal(other.update("task_2", { addBlockedBy: ["task_1"] }, bob)),
    ]);
    expect(outcomes.filter((one) => one === "it was not refused").length).toEqual(1);
    expect(outcomes.filter((one) => one.startsWith("refused: that would be a cycle")).length).toEqual(1);
  });

  it("let one owner have one of two tasks that it claims at once", async () => {
    const other = await world.again();
    const { board } = world;
    await board.create([{ subject: "a" }, { subject: "b" }], lead);
    const outcomes = await Promise.all([refusal(board.claim("task_1", alice)), refusal(other.claim("task_2", alice))]);
    expect(outcomes.filter((one) => one === "it was not refused").length).toEqual(1);
    expect(outcomes.filter((one) => one.startsWith("refused: ctx_a/alice already works on task_")).length).toEqual(1);
  });

  it("say once what two completions free together", async () => {
    const other = await world.again();
    const { board } = world;
    await board.create([{ subject: "a" }, { subject: "b" }, { subject: "c", blockedBy: [] }], lead);
    await board.update("task_3", { addBlockedBy: ["task_1", "task_2"] }, lead);
    await board.claim("task_1", alice);
    await other.claim("task_2", bob);
    const both = await Promise.all([board.complete("task_1", alice), other.complete("task_2", bob)]);
    expect(both.flatMap((one) => ids(one.unblocked))).toEqual(["task_3"]);
  });

  it("wake whom they are told to, with the change itself", async () => {
    const asked: string[][] = [];
    const board = await world.again({
      wake: (tasks) => {
        asked.push(ids(tasks));
        return [{ context: "ctx_a", agent: "alice", by: "t", dueAt: 0 }];
      },
    });
    await world.board.create(chain, lead);
    await board.claim("task_2", bob);
    expect(await world.store.due(Date.now())).toEqual([]);
    await board.complete("task_2", bob);
    expect([asked, await world.store.due(Date.now())]).toEqual([
      [["task_3"]],
      [{ context: "ctx_a", agent: "alice", by: "t", dueAt: 0 }],
    ]);
  });

  it("tell watchers of each change", async () => {
    const stop = new AbortController();
    const seen = (async () => {
      for await (const _ of world.board.watch(stop.signal)) return "changed";
      return "ended";
    })();
    const other = await world.again();
    const writing = setInterval(() => other.create([{ subject: "x" }], lead), 20);
    expect(await seen).toEqual("changed");
    clearInterval(writing);
    stop.abort();
  });

  it.each([
    ["task.claimed", 2, "task.claimed version 2 (known: 1)"],
    ["task.split", 1, "event type task.split"],
  ])("stay readable when a newer Holdfast wrote %s v%i, and change nothing", async (type, v, reason) => {
    const { board, store } = world;
    await board.create([{ subject: "a" }], lead);
    const data = { id: "task_1", by: { agent: "user" }, owner: "user", stars: 5 };
    await store.append([{ ledger: "board", events: [{ type, v, actor: "user", data }] }]);
    expect(states(await board.list())).toEqual({ task_1: "pending" });
    expect(await refusal(board.claim("task_1", alice))).toEqual(
      `upgrade: written by a newer Holdfast (${reason}): upgrade to work on it`,
    );
  });
});
