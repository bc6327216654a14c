// Teammates that take work from the board by themselves: each in the worktree of its task, the main tree untouched.
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openBoard } from "../../src/mechanisms/tasks/index.ts";
import { openHouse, tempDir } from "../house.ts";
import { type Seen, seenIn } from "../team/world.ts";
import { git, makeRepository, text } from "./world.ts";

const call = (name: string, input: object) => ({ calls: [{ name, input }] });
const G = "git -c user.name=n -c user.email=e@x";

/** The lead makes two tasks with a worktree each and two teammates; they claim, write, commit, complete. */
function play({ agent, last, since }: Seen) {
  if (agent === "lead") {
    if (last !== "begin") return { text: "noted" };
    const spawn = (name: string) => ({
      name: "spawn_teammate",
      input: { name, role: "writer", prompt: `Hello ${name}` },
    });
    const tree = (n: number) => ({ name: "create_worktree", input: { name: `tree-${n}`, task_id: `${n}` } });
    return (
      [
        call("create_task", { tasks: [{ subject: "One" }, { subject: "Two" }] }),
        { calls: [tree(1), tree(2)] },
        { calls: [spawn("alice"), spawn("bob")] },
      ][since] ?? { text: "They work." }
    );
  }
  const [, task] = [...last.matchAll(/You have claimed (task_\d+)/g)].at(-1) ?? [];
  if (!task) return { text: "Ready." };
  return (
    [
      call("bash", { command: `pwd > where.txt; echo ${agent} > work.txt; ${G} add -A; ${G} commit -qm ${task}` }),
      call("complete_task", { task_id: task }),
      call("bash", { command: "pwd" }),
    ][since] ?? { text: "Done." }
  );
}

test("a teammate that claims by itself works in the worktree, and is back when it is done", {
  timeout: 60_000,
}, async () => {
  const dir = join(tempDir("trees"), "worktrees");
  const house = await openHouse((request) => play(seenIn(request)), {
    team: { offer: true },
    worktrees: { dir, offer: true },
  });
  makeRepository(house.root);
  const run = await house.harness.run("begin");
  await run.result;
  const over = new AbortController();
  const hosting = await house.harness.hosting({ context: run.context });
  const running = hosting.run(over.signal);
  onTestFinished(async () => {
    over.abort();
    await running;
    await run.taken.release();
    await house.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const board = await openBoard(house.store);
  while ((await board.list({ status: "completed" })).length < 2) await new Promise((r) => setTimeout(r, 50));
  await hosting.settled(over.signal);
  for (const n of [1, 2]) {
    expect(text(dir, `tree-${n}/where.txt`).trim()).toBe(join(dir, `tree-${n}`));
    expect(git(house.root, "log", "-1", "--format=%s", `holdfast/tree-${n}`)).toBe(`task_${n}`);
  }
  expect([existsSync(join(house.root, "work.txt")), git(house.root, "status", "--porcelain")]).toEqual([false, ""]);
  const moves = (await house.events(run.context)).filter((e) => e.type === "agent.moved" && e.actor !== "lead");
  expect(moves.map((e) => (e.data as { root?: string | null }).root === null).sort()).toEqual([
    false,
    false,
    true,
    true,
  ]);
});
