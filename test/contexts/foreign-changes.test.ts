// Restoring files over what somebody else changed: named and refused, left alone, or overwritten, as one says.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Context, projectFiles } from "../../src/contexts/index.ts";
import { HoldfastError } from "../../src/ledger/error.ts";
import { openWorld, type World } from "./world.ts";

let world: World;
let root: string;
let context: Context;

const at = (name: string) => join(root, name);
const put = (name: string, text: string) => writeFileSync(at(name), text);
const tree = () => Object.fromEntries(readdirSync(root).map((name) => [name, readFileSync(at(name), "utf8")]));

async function refusal(promise: Promise<unknown>): Promise<Pick<HoldfastError, "code" | "message" | "detail">> {
  const error = await promise.catch((one: unknown) => one);
  if (!(error instanceof HoldfastError)) throw new Error("it was not refused", { cause: error });
  return error;
}

/** Work of this context; whatever comes after it comes later by the clock of the files too. */
async function working(change: () => void) {
  const work = await context.begin();
  change();
  await work.end("paused");
  await sleep(100);
}

beforeEach(async () => {
  world = await openWorld();
  root = join(world.folder, "project");
  mkdirSync(root);
  const files = projectFiles({ root, dir: join(world.folder, "kept") });
  context = await (await world.again({ files })).create({ task: "t", root });
  put("a", "a1");
  put("b", "b1");
  await context.checkpoint("start");
});

afterEach(() => world.dispose());

describe("a restore of files", () => {
  it("asks nothing about what this context's own work changed", async () => {
    await working(() => {
      put("a", "a2");
      put("new", "n");
      rmSync(at("b"));
    });
    expect((await context.restore("start")).fileReport).toMatchObject({ written: 2, deleted: 1, skipped: [] });
    expect(tree()).toEqual({ a: "a1", b: "b1" });
  });

  it("is refused by name when somebody else changed a file since, and changes nothing", async () => {
    await working(() => put("a", "a2"));
    put("b", "by hand");
    put("mine", "by hand");
    await context.share("k", 1);
    const before = { tree: tree(), checkpoints: await context.checkpoints() };

    const refused = await refusal(context.restore("start"));
    expect([refused.code, refused.detail, refused.message]).toEqual([
      "conflict",
      { paths: ["b", "mine"] },
      "somebody else changed b, mine since: restore start with force to overwrite, with keepChanged to leave them",
    ]);
    expect({ tree: tree(), checkpoints: await context.checkpoints() }).toEqual(before);
    expect(await context.read("k")).toEqual(1);
  });

  it("leaves those with keepChanged, and says so", async () => {
    await working(() => put("a", "a2"));
    put("b", "by hand");
    put("mine", "by hand");
    const { fileReport } = await context.restore("start", { keepChanged: true });
    expect(fileReport).toEqual({
      written: 1,
      deleted: 0,
      skipped: [
        { path: "b", reason: "changed by somebody else" },
        { path: "mine", reason: "changed by somebody else" },
      ],
    });
    expect(tree()).toEqual({ a: "a1", b: "by hand", mine: "by hand" });
  });

  it("overwrites them with force, says which and where they are, and the undo brings them back unasked", async () => {
    put("b", "by hand");
    put("mine", "by hand");
    const { overwrote, undo } = await context.restore("start", { force: true });
    expect([tree(), overwrote, undo.name]).toEqual([{ a: "a1", b: "b1" }, ["b", "mine"], "before restoring start"]);
    await context.undo();
    expect(tree()).toEqual({ a: "a1", b: "by hand", mine: "by hand" });
  });

  it("is taken back as carefully as it is made: what somebody did since is asked about, and the undo can be undone", async () => {
    await working(() => put("a", "a2"));
    await context.restore("start");
    put("a", "my precious work");
    const refused = await refusal(context.undo());
    expect([refused.detail, refused.message, tree()]).toEqual([
      { paths: ["a"] },
      "somebody else changed a since: undo with force to overwrite, with keepChanged to leave it",
      { a: "my precious work", b: "b1" },
    ]);
    expect((await context.undo({ keepChanged: true })).fileReport?.skipped).toEqual([
      { path: "a", reason: "changed by somebody else" },
    ]);
    await context.restore("start", { force: true });
    put("a", "more of it");
    const { overwrote, undo } = await context.undo({ force: true });
    expect([tree().a, overwrote]).toEqual(["my precious work", ["a"]]);
    await context.restore(undo.seq, { force: true });
    expect(tree()).toEqual({ a: "more of it", b: "b1" });
    expect((await refusal(context.undo({ forced: true } as never))).code).toEqual("invalid");
  });

  it("does not forget whose work it is on the way through other restores", async () => {
    await context.checkpoint("prompt 1", { auto: true });
    await working(() => put("notes", "one"));
    await context.checkpoint("prompt 2", { auto: true });
    await sleep(100);
    put("notes", "one, and mine");
    await sleep(100);
    await context.checkpoint("prompt 3", { auto: true });
    await working(() => put("notes", "two"));
    // Kept, undone, and asked again.
    await context.restore("prompt 3");
    expect((await refusal(context.restore("prompt 2"))).detail).toEqual({ paths: ["notes"] });
    await context.undo();
    expect(tree().notes).toEqual("two");
    await context.restore("prompt 3");
    await context.restore("prompt 2", { keepChanged: true });
    await context.undo();
    expect((await refusal(context.restore("prompt 1", { files: true }))).detail).toEqual({ paths: ["notes"] });
    const { undo } = await context.restore("prompt 1", { force: true });
    expect(tree()).toEqual({ a: "a1", b: "b1" });
    await context.restore(undo.seq);
    expect((await refusal(context.restore("prompt 2"))).detail).toEqual({ paths: ["notes"] });
    // What the agent wrote goes back and forth unasked.
    await context.restore("prompt 1", { force: true });
    await context.restore("prompt 2");
    await context.restore("prompt 1");
    expect(tree()).toEqual({ a: "a1", b: "b1" });
  });

  it("does not ask about what is gone, nor about what is as the checkpoint has it", async () => {
    rmSync(at("a"));
    put("b", "b2");
    put("b", "b1");
    expect((await context.restore("start")).fileReport).toMatchObject({ written: 1, skipped: [] });
    expect(tree()).toEqual({ a: "a1", b: "b1" });
  });

  it("counts from the last checkpoint and from the last restore: what they hold is known", async () => {
    put("b", "by hand");
    await context.checkpoint("with it");
    await context.restore("start");
    expect(tree()).toEqual({ a: "a1", b: "b1" });
    await context.restore("with it");
    expect(tree()).toEqual({ a: "a1", b: "by hand" });
    await sleep(100);
    put("b", "again");
    expect((await refusal(context.restore("start"))).detail).toEqual({ paths: ["b"] });
  });

  it("counts what changed beside a running call of the loop as its own, and what came after as somebody else's", async () => {
    const { store } = world.contexts;
    const event = (type: string, data: object) =>
      store.append([{ ledger: context.id, events: [{ type, actor: "lead", data }] }]);
    await event("tool.started", { callId: "c1", name: "bash", effect: "job", input: {}, cwd: root });
    put("a", "by the command");
    put("moved", "x");
    renameSync(at("moved"), at("made"));
    await sleep(20);
    await event("tool.finished", { callId: "c1", name: "bash", content: [], isError: false });
    await event("tool.started", { callId: "c2", name: "read_file", effect: "read", input: {}, cwd: root });
    await sleep(100);
    put("b", "by hand");
    expect((await refusal(context.restore("start"))).detail).toEqual({ paths: ["b"] });
    // People go on working beside a job in the background, and after a host that was killed.
    await event("job.started", { jobId: "j1", callId: "c1" });
    await event("tool.started", { callId: "c3", name: "bash", effect: "job", input: {}, cwd: root });
    await sleep(1_100);
    put("b", "by the job, by the command, or by hand");
    expect((await refusal(context.restore("start"))).detail).toEqual({ paths: ["b"] });
    const resumedAt = Date.now() + 60;
    await sleep(120);
    put("a", "by the command that was taken up");
    await sleep(20);
    await event("tool.finished", { callId: "c3", name: "bash", content: [], isError: false, resumedAt });
    expect((await refusal(context.restore("start"))).detail).toEqual({ paths: ["b"] });
    await context.restore("start", { keepChanged: true });
    expect([tree(), existsSync(at("made"))]).toEqual([{ a: "a1", b: "by the job, by the command, or by hand" }, false]);
  });

  it("asks nothing about a folder that a call of this context moved, and asks about one that somebody moved", async () => {
    mkdirSync(at("src/deep"), { recursive: true });
    put("src/deep/x", "x");
    await context.checkpoint("with it");
    await sleep(100);
    await working(() => renameSync(at("src"), at("lib")));
    await context.restore("with it");
    expect([readFileSync(at("src/deep/x"), "utf8"), existsSync(at("lib"))]).toEqual(["x", false]);
    await sleep(100);
    renameSync(at("src"), at("mine"));
    expect((await refusal(context.restore("with it"))).detail).toEqual({ paths: ["mine/deep/x"] });
  });

  it("asks nothing about what somebody only touched, or took away and put back", async () => {
    await context.checkpoint("prompt 1", { auto: true });
    await working(() => {
      put("a", "a2");
      put("b", "b2");
    });
    await context.checkpoint("prompt 2", { auto: true });
    await sleep(100);
    rmSync(at("a"));
    put("a", "a2");
    put("b", "b2");
    put("b", "b2, and more");
    await context.checkpoint("prompt 3", { auto: true });
    expect((await refusal(context.restore("prompt 1"))).detail).toEqual({ paths: ["b"] });
    put("b", "b2");
    expect((await refusal(context.restore("prompt 1"))).detail).toEqual({ paths: ["b"] }); // somebody's, as far as was seen
    await context.restore("prompt 1", { keepChanged: true });
    expect(tree()).toEqual({ a: "a1", b: "b2" });
  });

  it("never goes over what no checkpoint could hold, not even with force", async () => {
    put("secret", "kept once");
    await context.checkpoint("with it");
    put(".gitignore", "secret\n");
    put("secret", "only here");
    await sleep(100);
    const { fileReport } = await context.restore("with it", { force: true });
    expect([fileReport?.skipped, readFileSync(at("secret"), "utf8")]).toEqual([
      [{ path: "secret", reason: "no checkpoint holds what is there now: move it away first" }],
      "only here",
    ]);
  });
});
