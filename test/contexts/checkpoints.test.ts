import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type Context,
  contextEvents,
  type FileKeeper,
  type FileMark,
  projectFiles,
  startedEvent,
  visibleRanges,
} from "../../src/contexts/index.ts";
import { runtimeOf } from "../../src/contexts/runtime.ts";
import { createCodec } from "../../src/ledger/events.ts";
import { big, openWorld, refusal, type World } from "./world.ts";

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.dispose());

async function data(context: Context): Promise<Record<string, unknown>> {
  const all: Record<string, unknown> = {};
  for (const { key } of await context.list()) all[key] = await context.read(key);
  return all;
}

/** Files as one string; every save is a mark. */
function textKeeper(): FileKeeper & { text: string } {
  const saved = new Map<string, string>();
  const keeper = {
    text: "one",
    async save() {
      const id = `m${saved.size}`;
      saved.set(id, keeper.text);
      return { id };
    },
    async restore(mark: FileMark) {
      keeper.text = saved.get(mark.id)!;
      return { written: 1, deleted: 0, skipped: [] };
    },
    async diff(a: FileMark | undefined, b: FileMark | undefined) {
      const of = (mark: FileMark | undefined) => (mark ? saved.get(mark.id) : keeper.text);
      return { added: [], changed: of(a) === of(b) ? [] : ["text"], removed: [] };
    },
  };
  return keeper;
}

describe("a checkpoint", () => {
  it("is one event, and brings shared data back however often time was turned", async () => {
    const context = await world.contexts.create({ task: "t" });
    const other = await (await world.again()).get(context.id);
    await context.share("a", 1);
    await context.append("list", "x");
    await context.checkpoint("one");
    const head = await world.contexts.store.head(context.id);
    await other.share("a", big(9000));
    await other.append("list", "y");
    await other.share("b", 2);
    await other.checkpoint("two");
    await context.remove("b");
    expect(await context.diff("one", "two")).toEqual({
      added: [{ key: "b", before: 0, after: 1 }],
      changed: [
        { key: "a", before: 1, after: 9002 },
        { key: "list", before: 3, after: 6 },
      ],
      removed: [],
    });
    expect(await other.diff("two")).toEqual({ added: [], changed: [], removed: [{ key: "b", before: 1, after: 0 }] });

    const report = await context.restore("one");
    expect({ ...report, undo: report.undo.name }).toEqual({
      checkpoint: "one",
      seq: head,
      undo: "before restoring one",
      conversation: true,
      data: true,
      files: false,
      changes: {
        added: [],
        changed: [
          { key: "a", before: 9002, after: 1 },
          { key: "list", before: 6, after: 3 },
        ],
        removed: [],
      },
    });
    expect(await data(other)).toEqual({ a: 1, list: ["x"] });
    await context.append("list", "z");
    await other.restore("two");
    expect(await data(context)).toEqual({ a: big(9000), list: ["x", "y"], b: 2 });
    await other.restore("before restoring two");
    expect(await data(context)).toEqual({ a: 1, list: ["x", "z"] });
    expect((await context.history("list")).map((one) => one.current)).toEqual([true, false, true]);
    expect((await refusal(context.restore("three"))).message).toEqual(
      "there is no checkpoint three: the last ones are one, two, before restoring one, before restoring two, before restoring two",
    );
  });

  it("is made with the results of a phase in one transaction", async () => {
    const context = await world.contexts.create({ task: "t" });
    await context.shareAll({ a: 1, b: big(9000) }, { checkpoint: "phase 1", author: "worker" });
    await context.share("a", 2);
    expect((await world.contexts.list())[0]!.checkpoint?.name).toEqual("phase 1");
    expect((await context.checkpoints()).map(({ name, seq, author }) => ({ name, seq, author }))).toEqual([
      { name: "phase 1", seq: 5, author: "worker" },
    ]);
    await context.restore("phase 1");
    expect(await data(context)).toEqual({ a: 1, b: big(9000) });
  });

  it("undo takes the last restore back, one after the other", async () => {
    const context = await world.contexts.create({ task: "t" });
    for (const n of [1, 2, 3]) {
      await context.share("n", n);
      await context.checkpoint(`at ${n}`);
    }
    await context.restore("at 2");
    await context.restore("at 1", { data: true });
    expect(await context.read("n")).toEqual(1);
    expect(await context.undo()).toMatchObject({ data: true, conversation: false });
    expect(await context.read("n")).toEqual(2);
    await context.undo();
    expect(await context.read("n")).toEqual(3);
    expect((await refusal(context.undo())).code).toEqual("not_found");
  });

  it("restores any subset, and leaves the rest", async () => {
    const keeper = textKeeper();
    const context = await (await world.again({ files: keeper })).create({ task: "t" });
    await context.share("k", "old");
    const made = await context.checkpoint("start", { files: "later" });
    expect((await made.filesKept!).files).toEqual({ id: "m0" });
    await context.share("k", "new");
    keeper.text = "two";
    expect(await context.diff("start")).toMatchObject({ changed: [{ key: "k" }], files: { changed: ["text"] } });
    const parts = ({ conversation, data, files }: { conversation: boolean; data: boolean; files: boolean }) => ({
      conversation,
      data,
      files,
    });
    expect(parts(await context.restore("start", { conversation: true }))).toEqual({
      conversation: true,
      data: false,
      files: false,
    });
    expect([await context.read("k"), keeper.text]).toEqual(["new", "two"]);
    expect(parts(await context.restore("start", { files: false }))).toEqual({
      conversation: true,
      data: true,
      files: false,
    });
    expect([await context.read("k"), keeper.text]).toEqual(["old", "two"]);
    const report = await context.restore("start", { files: true });
    expect([parts(report), report.fileReport]).toEqual([
      { conversation: false, data: false, files: true },
      { written: 1, deleted: 0, skipped: [] },
    ]);
    expect(keeper.text).toEqual("one");
    await context.undo();
    expect(keeper.text).toEqual("two");
    const bare = await (await world.again()).get(context.id);
    expect((await refusal(bare.restore("start", { files: true }))).message).toMatch(/no keeper of files/);
  });

  it("keeps the project's files where it has their keeper", async () => {
    const root = join(world.folder, "project");
    mkdirSync(root);
    writeFileSync(join(root, "a.txt"), "one");
    const files = projectFiles({ root, dir: join(world.folder, "kept") });
    const context = await (await world.again({ files })).create({ task: "t", root });
    await context.checkpoint("start");
    const work = await context.begin();
    writeFileSync(join(root, "a.txt"), "two");
    writeFileSync(join(root, "b.txt"), "new");
    await work.end("paused");
    expect((await context.diff("start")).files).toEqual({ added: ["b.txt"], changed: ["a.txt"], removed: [] });
    await context.restore("start");
    expect([readFileSync(join(root, "a.txt"), "utf8"), existsSync(join(root, "b.txt"))]).toEqual(["one", false]);
    await context.undo();
    expect([readFileSync(join(root, "a.txt"), "utf8"), readFileSync(join(root, "b.txt"), "utf8")]).toEqual([
      "two",
      "new",
    ]);
  });

  it("finds a restore of files that was cut off", async () => {
    const keeper = textKeeper();
    const restore = keeper.restore;
    const context = await (await world.again({ files: keeper })).create({ task: "t" });
    await context.checkpoint("c");
    keeper.restore = () => Promise.reject(new Error("cut off"));
    await expect(context.restore("c")).rejects.toThrow("cut off");
    expect((await context.problems()).map((one) => one.key)).toEqual(["(files)"]);
    keeper.restore = restore;
    await context.restore("c");
    expect(await context.problems()).toEqual([]);
  });
});

describe("a fork", () => {
  it("goes its own way, and lives on without its parent", async () => {
    const parent = await world.contexts.create({ task: "t", schemas: { n: { type: "number" } } });
    await parent.share("n", 1);
    await parent.share("long", big(50_000));
    await parent.checkpoint("one");
    await parent.share("n", 2);
    const fork = await parent.fork("one", { title: "beside" });
    const edited = await parent.updateState(
      "one",
      { n: 10, long: null, extra: { big: big(9000) } },
      { author: "editor" },
    );
    await fork.share("n", 3);
    expect([await data(parent), await data(fork), await data(edited)]).toEqual([
      { n: 2, long: big(50_000) },
      { n: 3, long: big(50_000) },
      { n: 10, extra: { big: big(9000) } },
    ]);
    expect((await refusal(parent.updateState("one", { n: "ten" }))).code).toEqual("invalid");
    expect(await fork.details()).toMatchObject({
      title: "beside",
      forkOf: { context: parent.id, checkpoint: "one", seq: 5 },
    });
    expect((await world.contexts.list()).find((one) => one.id === fork.id)).toMatchObject({
      title: "beside",
      forkOf: { context: parent.id },
    });
    const before = await parent.history("long");
    expect(await fork.history("long")).toEqual(before);
    await fork.restore("one");
    expect(await fork.read("n")).toEqual(1);

    await world.contexts.delete(parent.id);
    await world.contexts.gc();
    expect(await data(fork)).toEqual({ n: 1, long: big(50_000) });
    expect((await refusal(parent.share("n", 1))).code).toEqual("not_found");
    expect((await refusal(parent.fork("one"))).code).toEqual("not_found");
    expect(await world.contexts.store.head(parent.id)).toEqual(0);
    expect((await world.contexts.verify()).ok).toEqual(true);
  });

  it("of now makes its checkpoint itself", async () => {
    const parent = await world.contexts.create({ task: "t" });
    await parent.share("n", 1);
    const fork = await parent.fork();
    await parent.share("n", 2);
    expect([await fork.read("n"), (await parent.checkpoints()).map((one) => one.name)]).toEqual([1, ["before a fork"]]);
  });
});

describe("readers with a codec", () => {
  it("know every event that contexts write", async () => {
    const keeper = textKeeper();
    const context = await (await world.again({ files: keeper })).create({
      task: "t",
      ttlMs: 5,
      quotas: { keys: 9 },
      metadata: { a: 1 },
    });
    await context.share("k", 1, { call: "c1", ttlMs: 50_000 });
    await context.append("l", big(5000));
    await context.remove("l");
    await (await context.checkpoint("c", { files: "later", note: "n" })).filesKept;
    await context.restore("c");
    await context.undo();
    await context.setAgent("lead", { status: "busy" });
    await context.logError({ agent: "lead", tool: "bash", message: "m", cause: new Error("why") });
    await (await context.begin({ agent: "x" })).end("failed", { error: "e" });
    await runtimeOf(context).write({
      author: "workflow",
      records: [
        { type: "workflow.begun", value: {}, keys: [{ key: "k", input: true, phases: [], people: [] }] },
        { type: "workflow.recorded", value: { text: big(5000) }, phase: "a" },
        { type: "input.given", value: true, phase: "a", run: 1, key: "k" },
      ],
    });
    const given = { ledger: context.id, project: "p", store: "s", user: "u", machine: "m", trust: "t" };
    await world.contexts.store.append([{ ledger: context.id, events: [startedEvent({ model: "a/b" }, given)] }]);
    const file = join(world.folder, "t.hfctx");
    await world.contexts.export(context.id, file);
    const imported = await world.contexts.import(file);
    const fork = await context.fork("c");
    const codec = createCodec([{ events: contextEvents }]);
    const types = new Set<string>();
    for await (const event of world.contexts.store.read(fork.id)) types.add(event.type);
    for await (const event of world.contexts.store.read(imported.id)) {
      types.add(event.type);
      const decoded = codec.decode(event);
      expect(decoded.ok ? decoded.event : decoded.reason).toEqual(event);
    }
    const others = ["agent.created", "context.moved", "hub.asked"]; // of the loop, of a moved folder, of the hub
    expect([...types, ...others].sort()).toEqual(Object.keys(contextEvents).sort());
  });
});

describe("visible ranges", () => {
  it("leave out what a restore has gone behind, also behind another restore", () => {
    expect(visibleRanges([], 9)).toEqual([[1, 9]]);
    expect(visibleRanges([{ seq: 7, to: 3 }], 9)).toEqual([
      [1, 3],
      [8, 9],
    ]);
    expect(visibleRanges([{ seq: 7, to: 3 }], 7)).toEqual([[1, 3]]);
    expect(
      visibleRanges(
        [
          { seq: 7, to: 3 },
          { seq: 12, to: 9 },
          { seq: 15, to: 5 },
        ],
        20,
      ),
    ).toEqual([
      [1, 5],
      [16, 20],
    ]);
    expect(
      visibleRanges(
        [
          { seq: 7, to: 3 },
          { seq: 12, to: 9 },
        ],
        20,
      ),
    ).toEqual([
      [1, 3],
      [8, 9],
      [13, 20],
    ]);
  });
});
