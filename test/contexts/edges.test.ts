// What programs without types get, and what happens at the ends of things: bad options, nested merges, closed handles and stores.
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { type Context, openContexts } from "../../src/contexts/index.ts";
import { openWorld, refusal, type World } from "./world.ts";

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.dispose());

/** As a program in JavaScript calls it. */
// biome-ignore lint/suspicious/noExplicitAny: that is what is tried
const untyped = (value: unknown): any => value;

describe("options", () => {
  it("that mean nothing are refused in one line, and nothing is recorded", async () => {
    const { contexts } = world;
    const wrong: [unknown, RegExp][] = [
      [undefined, /takes an object of options/],
      [{}, /needs a task/],
      [{ task: 5 }, /^task is a text, not 5$/],
      [{ task: "t", ttlMs: "7d" }, /^ttlMs is a number of milliseconds from 0 on, not "7d"$/],
      [{ task: "t", ttlMs: -5 }, /^ttlMs is a number/],
      [{ task: "t", quotas: { keys: "a" } }, /^quotas\.keys is a whole number/],
      [{ task: "t", quotas: { bytes: 1 } }, /^quotas knows no option bytes: it takes valueBytes/],
      [{ task: "t", tllMs: 5 }, /^contexts\.create knows no option tllMs: it takes .*ttlMs/],
      [{ task: "t", metadata: 5 }, /^metadata is an object/],
      [{ task: "t", lists: "x" }, /^lists is a list of keys/],
      [{ task: "t", root: path.join(world.file, "nowhere") }, /is no folder/],
    ];
    for (const [opts, message] of wrong) {
      const { code, message: said } = await refusal(contexts.create(untyped(opts)));
      expect([code, said]).toEqual(["invalid", expect.stringMatching(message)]);
    }
    expect(await contexts.list()).toEqual([]);
    const context = await contexts.create({ task: "t" });
    for (const [work, message] of [
      [() => contexts.get(untyped(5)), /^the id of a context is a text/],
      [() => contexts.get(context.id, untyped({ autor: "x" })), /knows no option autor/],
      [() => context.configure(untyped({ ttlMs: "7d" })), /^ttlMs/],
      [() => context.share("k", 1, untyped({ ttlMs: "soon" })), /^ttlMs/],
      [
        () => openContexts(untyped({ fil: "x" })),
        /^openContexts knows no option fil: it takes store, file, cwd, state, ttlMs$/,
      ],
      [() => openContexts(untyped({ file: 5 })), /^file is a text/],
      [() => openContexts({ file: path.dirname(world.file) }), /is a folder/],
      [() => openContexts(untyped({ store: {} })), /^store is an open store/],
    ] as [() => Promise<unknown>, RegExp][]) {
      const { code, message: said } = await refusal(work());
      expect([code, said]).toEqual(["invalid", expect.stringMatching(message)]);
    }
    expect((await context.details()).ttlMs).toBeUndefined();
  });

  it("of what removes or overwrites are refused when they are misspelt or mean nothing, and nothing is removed or overwritten", async () => {
    const { contexts } = world;
    const context = await contexts.create({ task: "t" });
    await context.share("k", "before");
    await context.checkpoint("c");
    await context.share("k", "after");
    const file = path.join(world.folder, "x.hfctx");
    await contexts.export(context.id, file);
    const far = Date.now() + 1e9;
    const restores = "it takes conversation, data, files, force, keepChanged, author";
    const wrong: [work: () => Promise<unknown>, message: string][] = [
      [() => contexts.gc(untyped({ dryrun: true, now: far, defaultTtlMs: 1 })), "gc knows no option dryrun"],
      [() => contexts.gc(untyped(7)), "gc takes an object of options, not 7"],
      [() => contexts.gc(untyped({ defaultTtlMs: -1 })), "defaultTtlMs is a number of milliseconds from 0 on, not -1"],
      [() => contexts.gc(untyped({ defaultTtlMs: "7d" })), "defaultTtlMs is a number of milliseconds from 0 on"],
      [() => contexts.gc(untyped({ now: "later", defaultTtlMs: 1 })), "now is a number of milliseconds from 0 on"],
      [() => context.restore("c", untyped({ date: false })), `restore knows no option date: ${restores}`],
      [() => context.restore("c", untyped("data")), 'restore takes an object of options, not "data"'],
      [() => context.restore("c", untyped({ data: "no" })), 'data is true or false, not "no"'],
      [() => contexts.import(file, untyped({ rot: "x" })), "import knows no option rot: it takes root"],
      [() => contexts.import(file, { root: path.join(world.folder, "nowhere") }), "is no folder"],
    ];
    for (const [work, message] of wrong)
      expect(await refusal(work())).toEqual({ code: "invalid", message: expect.stringContaining(message) });
    expect([(await contexts.list()).map(({ id }) => id), await context.read("k")]).toEqual([[context.id], "after"]);
    await context.restore("c", { data: true });
    expect(await refusal(context.undo(untyped({ date: false })))).toMatchObject({ code: "invalid" });
    expect(await context.read("k")).toBe("before");
    await context.undo();
    expect(await context.read("k")).toBe("after");
    expect(await refusal(context.undo())).toEqual({
      code: "not_found",
      message: "there is no restore to undo: checkpoints() says where one can go",
    });
  });

  it("that name a folder from where the process is are recorded as the folder that was meant", async () => {
    const { contexts, folder } = world;
    const root = path.relative(process.cwd(), folder);
    const context = await contexts.create({ task: "t", root });
    const file = path.join(folder, "x.hfctx");
    await contexts.export(context.id, file);
    const { id } = await contexts.import(file, { root });
    const roots = [(await context.details()).root, (await (await contexts.get(id)).details()).root];
    expect([path.isAbsolute(root), roots]).toEqual([false, [folder, folder]]);
    expect((await contexts.list()).map((one) => one.root)).toEqual([folder, folder]);
  });

  it("refuse JSON that is too deep, or that cannot be written, by its place", async () => {
    const context = await world.contexts.create({ task: "t" });
    let deep: unknown = 1;
    for (let i = 0; i < 20_000; i++) deep = [deep];
    expect(await refusal(context.share("k", deep))).toMatchObject({
      code: "invalid",
      message: expect.stringContaining("nested deeper than 1000"),
    });
    const hidden = { toJSON: () => deep };
    expect((await refusal(context.share("k", hidden))).code).toBe("invalid");
    expect(await context.list()).toEqual([]);
  });
});

describe("errors", () => {
  it("keep what an Error says: its message, its cause, and whose it is", async () => {
    const context = await world.contexts.create({ task: "t" });
    await context.logError(new Error("the real message", { cause: new Error("why") }));
    await context.logError({ agent: "a", tool: "bash", message: "said", cause: "because" });
    await context.logError(untyped("only words"));
    expect(await context.errors()).toEqual([
      { at: expect.any(Number), message: "the real message", cause: expect.stringContaining("Error: why") },
      { at: expect.any(Number), agent: "a", tool: "bash", message: "said", cause: "because" },
      { at: expect.any(Number), message: "only words" },
    ]);
  });
});

describe("other people's code", () => {
  it("inside a merge may merge another key; the same key is refused instead of waiting for itself", async () => {
    const context = await world.contexts.create({ task: "t" });
    const inner = await refusal(context.merge("k", async () => context.merge("k", () => 1)));
    expect(inner).toMatchObject({ code: "invalid", message: expect.stringContaining("it would wait for itself") });
    const round = await refusal(
      context.merge("a", () => context.merge("b", () => context.merge("a", () => 1).then(() => 1)).then(() => 1)),
    );
    expect(round.code).toBe("invalid");
    await context.merge("x", async () => {
      await context.merge("y", () => 1);
      return 2;
    });
    expect([await context.read("x"), await context.read("y")]).toEqual([2, 1]);
    await context.merge("k", () => "free again");
    expect(await context.read("k")).toBe("free again");
  });

  it("in a schema may read the context that it guards", async () => {
    let context: Context | undefined;
    const schema = z.string().refine(async (value) => value !== (await context!.read("taken")), "is taken");
    context = await world.contexts.create({ task: "t", schemas: { k: schema } });
    await context.share("taken", "x");
    expect((await refusal(context.share("k", "x"))).message).toContain("is taken");
    await context.share("k", "y");
    expect(await context.read("k")).toBe("y");
    // Rules that changed meanwhile in another process are those that count.
    const other = await (await world.again()).get(context.id);
    await other.configure({ schemas: { n: { type: "number" } } });
    expect((await refusal(context.share("n", "no number"))).code).toBe("invalid");
    await other.configure({ schemas: { n: { type: "string" } } });
    await context.share("n", "a text");
  });
});

describe("contexts that were used", () => {
  it("are let go: 300 leave no more than a bounded number folded, and each is there when it is asked for", async () => {
    const { store } = world.contexts;
    const ids = Array.from({ length: 300 }, (_, i) => `ctx_${String(i).padStart(16, "0")}`);
    const facts = (value: number) => ({ hash: "0".repeat(32), bytes: 3, type: "number", preview: "", value });
    const created = { type: "context.created", actor: "user", data: { root: "", title: "t", version: "contexts" } };
    const shared = (i: number) => ({ type: "data.shared", actor: "user", data: { key: "k", ...facts(i) } });
    await store.append(ids.map((ledger, i) => ({ ledger, events: [created, shared(i)] })));
    for (const id of ids) await (await world.contexts.get(id)).list();
    expect(world.contexts.kept).toBe(32);
    for (const i of [0, 150, 299]) expect(await (await world.contexts.get(ids[i]!)).read("k")).toBe(i);
  });

  it("are closed one by one: the handle says so, another one works, and what only this process knew of its schema stays", async () => {
    const even = z.number().refine((n) => n % 2 === 0, "must be even");
    const context = await world.contexts.create({ task: "t", schemas: { n: even } });
    const second = await world.contexts.get(context.id);
    await context.close();
    expect(world.contexts.kept).toBe(0);
    for (const work of [
      () => context.share("n", 2),
      () => context.read("n"),
      () => context.details(),
      () => context.checkpoint("c"),
    ])
      expect(await refusal(work())).toMatchObject({
        code: "closed",
        message: expect.stringContaining("get the context again"),
      });
    await second.share("n", 2);
    const again = await world.contexts.get(context.id);
    expect((await refusal(again.share("n", 3))).message).toContain("must be even");
  });
});

describe("a store that was closed", () => {
  it("says so in one line, and touches no file that was opened since", async () => {
    const contexts = await openContexts({ file: path.join(path.dirname(world.file), "closed.db") });
    const context = await contexts.create({ task: "t" });
    await context.share("k", 1);
    await contexts.close();
    // The numbers of its files belong to others now.
    const files = Array.from({ length: 20 }, (_, i) => path.join(path.dirname(world.file), `other${i}`));
    const numbers = files.map((file) => fs.openSync(file, "w+"));
    for (const work of [
      () => context.share("k", 2),
      () => context.read("k"),
      () => context.append("l", 2),
      () => contexts.create({ task: "t" }),
      () => contexts.get(context.id),
      () => contexts.list(),
      () => context.begin(),
    ])
      expect(await refusal(work())).toEqual({ code: "closed", message: "the store is closed: open it again" });
    for (const number of numbers) fs.closeSync(number);
    expect(files.map((file) => fs.statSync(file).size)).toEqual(files.map(() => 0));
  });
});
