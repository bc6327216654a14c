// Eight processes, one board: one winner, no circle, every task done exactly once.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findCycle } from "../../src/mechanisms/tasks/graph.ts";
import { agent, openWorld, states, type World } from "./world.ts";

const PROCESSES = 8;
const lead = agent("lead");

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.dispose());

interface Said {
  done: string[];
  waits: number[];
}

/** All are ready before the first one begins. */
async function together(argsOf: (i: number) => string[]): Promise<Said[]> {
  const script = join(import.meta.dirname, "children/claimer.ts");
  const children = Array.from({ length: PROCESSES }, (_, i) =>
    spawn(process.execPath, [script, world.file, `p${i}`, ...argsOf(i)], { stdio: ["pipe", "pipe", "inherit"] }),
  );
  const outputs = children.map((child) => linesOf(child));
  await Promise.all(outputs.map((one) => one.ready));
  for (const child of children) child.stdin!.write("go\n");
  return Promise.all(outputs.map(async (one) => JSON.parse((await one.all).trim().split("\n").at(-1)!) as Said));
}

function linesOf(child: ChildProcess) {
  let text = "";
  const ready = once(child.stdout!, "data");
  child.stdout!.on("data", (data) => {
    text += data;
  });
  return { ready, all: once(child, "close").then(() => text) };
}

const report = (what: string, said: Said[]) => {
  const waits = said.flatMap((one) => one.waits).sort((a, b) => a - b);
  const at = (share: number) => waits[Math.floor(waits.length * share)]?.toFixed(1);
  console.log(
    `${what}: ${waits.length}, median ${at(0.5)} ms, p99 ${at(0.99)} ms, worst ${waits.at(-1)?.toFixed(1)} ms`,
  );
};

describe("eight processes on one board", () => {
  it("make fifty claims of one task: one winner", async () => {
    await world.board.create([{ subject: "wanted" }], lead);
    const said = await together((i) => ["one", "task_1", String(i < 2 ? 7 : 6)]);
    report("claims of one task", said);
    const winners = said.flatMap((one) => one.done);
    expect([said.flatMap((one) => one.waits).length, winners.length]).toEqual([50, 1]);
    expect(states(await world.board.list())).toEqual({ task_1: `in_progress ${winners[0]}` });
    expect((await world.events()).map((e) => e.type)).toEqual(["task.created", "task.claimed"]);
  }, 60_000);

  it("claim and complete fifty tasks in chains, each exactly once", async () => {
    const tasks = Array.from({ length: 50 }, (_, i) => ({
      alias: `t${i}`,
      subject: `task ${i}`,
      blockedBy: i >= 40 ? [`t${i - 40}`, `t${i - 39}`] : [],
    }));
    await world.board.create(tasks, lead);
    const said = await together(() => ["all"]);
    report("claims of fifty tasks", said);
    const left = await world.board.list({ status: "pending" });
    const done = said.flatMap((one) => one.done);
    expect(new Set(done).size).toEqual(done.length);
    // A process stops when nothing is claimable at that moment: the last ones may have been freed after that.
    expect(done.length + left.length).toEqual(50);
    const completions = (await world.events()).filter((e) => e.type === "task.completed");
    expect(completions.length).toEqual(done.length);
  }, 60_000);

  it("add edges that would together close a circle: it stays open", async () => {
    await world.board.create(
      Array.from({ length: PROCESSES }, (_, i) => ({ subject: `node ${i}` })),
      lead,
    );
    const next = (i: number) => `task_${(i % PROCESSES) + 1}`;
    const said = await together((i) => ["edges", next(i), next(i + 1)]);
    const refused = said.filter((one) => one.done.every((text) => text.startsWith("that would be a cycle: ")));
    expect(refused.length).toEqual(1);
    const all = new Map((await world.board.list()).map((t) => [t.id, t.blockedBy]));
    expect([...all.values()].flat().length).toEqual(PROCESSES - 1);
    expect(findCycle(all.keys(), (id) => all.get(id)!)).toEqual(undefined);
  }, 60_000);
});
