// A teammate whose tasks have worktrees on one of two machines, the worker of which is killed: it waits for that machine, or goes on without it.
import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openBoard } from "../../src/mechanisms/tasks/index.ts";
import { canMakeMachines } from "./machines.ts";
import { openMachinesFleet } from "./machines-fleet.ts";
import { call, seenIn } from "./world.ts";

const USER = { agent: "user" };

test.runIf(canMakeMachines)(
  "a task with a worktree on a machine whose worker was killed is done there when that is back, and elsewhere when it stays away",
  { timeout: 120_000 },
  async () => {
    const fleet = await openMachinesFleet({
      machines: 2,
      script: (request) => {
        const { agent, last, since } = seenIn(request);
        if (agent === "lead" && last === "begin" && since === 0)
          return call("spawn_teammate", { name: "bob", role: "writer", prompt: "Make both trees." });
        const claimed = /You have claimed (task_\d)/.exec(last)?.[1];
        if (agent === "bob" && claimed && since === 0) return call("complete_task", { task_id: claimed });
        if (agent === "bob" && last.includes("Make both trees.") && since < 2)
          return call("create_worktree", { name: `tree-${since + 3}`, task_id: `task_${since + 3}` });
        return { text: "ok" };
      },
    });
    onTestFinished(() => fleet.close());
    const [first, second] = fleet.machines as [(typeof fleet.machines)[0], (typeof fleet.machines)[0]];
    for (const { root: cwd } of fleet.machines) {
      const git = (...args: string[]) =>
        execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd, stdio: "pipe" });
      git("init", "-q");
      git("commit", "-q", "--allow-empty", "-m", "first");
    }
    const board = await openBoard(fleet.store, { runningPerOwner: 2 });
    await board.create([{ subject: "one" }, { subject: "two" }], USER);
    for (const id of ["task_1", "task_2"]) await board.claim(id, USER);
    const behind = (id: string) => ({ subject: `after ${id}`, blockedBy: [id] });
    await board.create([behind("task_1"), behind("task_2")], USER);
    const facts = async (type: string) =>
      (await fleet.events()).filter((one) => one.type === type && one.actor === "bob");
    const until = (what: string, condition: () => Promise<boolean>) =>
      expect.poll(condition, { timeout: 40_000, interval: 100, message: what }).toBe(true);
    const isDone = async (id: string) => (await board.get(id)).status === "completed";

    // Hosts offer worktrees to who has used them.
    const tree = { name: "gone", path: "/nowhere/worktrees/gone", branch: "holdfast/gone" };
    const used = [
      { type: "worktree.created", actor: "lead", data: { ...tree, commit: "0".repeat(40) } },
      { type: "worktree.removed", actor: "lead", data: { ...tree, head: "0".repeat(40) } },
    ];
    await fleet.store.append([{ ledger: fleet.context, events: used }]);
    fleet.startWorker(first);
    await until("both trees are made", async () => (await facts("team.idled")).length === 1);
    fleet.startWorker(second);
    await sleep(1_500);
    await fleet.killWorker(first);
    await board.complete("task_1", USER);
    await sleep(2_000); // the second one sees it, and leaves it
    const left = (await board.get("task_3")).status;
    fleet.startWorker(first);
    await until("the first is done", () => isDone("task_3"));
    await fleet.killWorker(first);
    await board.complete("task_2", USER);
    await until("the second is done", () => isDone("task_4"));
    const entered = (await facts("task.entered")).map(({ data }) => data as { task: string; path: string });
    const home = (machine: typeof first) => machine.root.replace(/project$/, "");
    expect({
      left,
      where: entered.map(({ task, path }) => [task, path.startsWith(home(first)), path.startsWith(home(second))]),
      unplaced: await facts("team.unplaced"),
    }).toEqual({
      left: "pending",
      where: [
        ["task_3", true, false],
        ["task_4", false, true],
      ],
      unplaced: [],
    });
  },
);
