// task_*.json files: there and back, refused by name, nothing overwritten in silence.
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readTaskFiles, writeTaskFiles } from "../../src/mechanisms/tasks/files.ts";
import { agent, openWorld, refusal, states, USER, type World } from "./world.ts";

let world: World;
let other: World;
let dir: string;
beforeEach(async () => {
  world = await openWorld();
  other = await openWorld();
  dir = join(world.folder, ".tasks");
});
afterEach(async () => {
  await world.dispose();
  await other.dispose();
});

const lead = agent("lead");
const put = (name: string, value: unknown) => {
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, name), typeof value === "string" ? value : JSON.stringify(value));
};

describe("task_*.json", () => {
  it("carry a board to another one: ids, states, dependencies, history", async () => {
    const { board } = world;
    await board.create(
      [
        { alias: "a", subject: "schema ✓ 日本語", description: "one\ntwo", labels: ["x"], priority: "high" },
        { alias: "b", subject: "api", blockedBy: ["a"] },
        { subject: "running" },
        { subject: "gone" },
      ],
      lead,
    );
    await board.complete("task_1", USER);
    await board.claim("task_3", agent("alice"));
    await board.update("task_4", { status: "cancelled" }, lead);
    const files = await writeTaskFiles(dir, await board.list());
    expect([files.length, readdirSync(dir)]).toEqual([4, ["task_1.json", "task_2.json", "task_3.json", "task_4.json"]]);
    const read = await readTaskFiles(dir);
    expect(await other.board.import(read, USER)).toEqual({
      created: ["task_1", "task_2", "task_3", "task_4"].map((id) => ({ from: id, id })),
      present: [],
    });
    expect(states(await other.board.list())).toEqual({
      ...{ task_1: "completed", task_2: "pending", task_3: "pending", task_4: "cancelled" },
    });
    for (const id of ["task_1", "task_2"]) {
      const { owner: _, updatedAt: __, history, ...before } = await board.get(id);
      const { owner: ___, updatedAt: ____, history: after, ...now } = await other.board.get(id);
      expect([now, after.slice(0, -1)]).toEqual([before, history]);
    }
    expect((await other.board.get("task_3")).history.at(-1)).toMatchObject({
      note: "was in progress, ctx_a/alice: nobody's here",
    });
    expect(await other.board.import(read, USER)).toEqual({
      created: [],
      present: ["task_1", "task_2", "task_3", "task_4"],
    });
    expect((await other.board.create([{ subject: "next" }], lead))[0]!.id).toEqual("task_5");
  });

  it("get new ids where theirs are taken, with their dependencies", async () => {
    put("task_1.json", { id: "task_1", subject: "theirs" });
    put("task_1700000000_0042.json", {
      id: "task_1700000000_0042",
      subject: "seed",
      owner: null,
      blockedBy: ["task_1"],
    });
    put("task_9999999999.json", { id: "task_9999999999", subject: "huge", blockedBy: ["task_1700000000_0042"] });
    await world.board.create([{ subject: "ours" }], lead);
    expect((await world.board.import(await readTaskFiles(dir), USER)).created).toEqual([
      { from: "task_1", id: "task_2" },
      { from: "task_1700000000_0042", id: "task_1700000000_0042" },
      { from: "task_9999999999", id: "task_3" },
    ]);
    expect((await world.board.get("task_1700000000_0042")).blockedBy).toEqual(["task_2"]);
    expect((await world.board.get("task_3")).blockedBy).toEqual(["task_1700000000_0042"]);
  });

  it("are refused whole, by the name of the file", async () => {
    const said = async () => refusal(readTaskFiles(dir).then((files) => world.board.import(files, USER)));
    expect(await said()).toMatch(/^not_found: the tasks cannot be read: .*\.tasks is not there/);
    put("task_1.json", "{");
    expect(await said()).toMatch(/^invalid: task_1\.json is no task: .*JSON.*; nothing was imported$/);
    put("task_1.json", { id: "task_1", subject: "a", status: "lost" });
    expect(await said()).toMatch(/^invalid: task_1\.json is no task: status: /);
    put("task_1.json", { id: "task_1", subject: "a", blockedBy: ["task_2"] });
    expect(await said()).toEqual("not_found: task_1.json: blockedBy task_2 is in no file; nothing was imported");
    put("task_2.json", { id: "task_2", subject: "b", blockedBy: ["task_1"] });
    expect(await said()).toEqual(
      "refused: that would be a cycle: task_1 waits for task_2 waits for task_1; nothing was changed",
    );
    put("task_2.json", { id: "task_1", subject: "b" });
    expect(await said()).toEqual("invalid: task_2.json: the id task_1 stands in another file too");
    put("task_2.json", { id: "../../etc/passwd", subject: "b", description: "x".repeat(300_000) });
    expect(await said()).toMatch(/^invalid: task_2\.json is no task: it has 3\d+ bytes, at most 262144 are read/);
    put("secret", "{}");
    symlinkSync(join(dir, "secret"), join(dir, "task_0.json"));
    expect(await said()).toMatch(/^invalid: task_0\.json is no task: .*task_0\.json is a link that is not followed/);
    expect(await world.board.list()).toEqual([]);
  });

  it("replace nothing of other content unless forced", async () => {
    await world.board.create([{ subject: "one" }], lead);
    const tasks = await world.board.list();
    put("task_1.json", "mine");
    expect(await refusal(writeTaskFiles(dir, tasks))).toEqual(
      "refused: task_1.json is there with other content: use --force to replace it",
    );
    expect(readFileSync(join(dir, "task_1.json"), "utf8")).toEqual("mine");
    await writeTaskFiles(dir, tasks, { force: true });
    await writeTaskFiles(dir, tasks);
    expect(JSON.parse(readFileSync(join(dir, "task_1.json"), "utf8"))).toEqual(tasks[0]);
    expect(readdirSync(dir)).toEqual(["task_1.json"]);
  });
});
