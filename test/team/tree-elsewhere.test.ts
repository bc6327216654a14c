// A task whose worktree lies on another machine: left to that machine while it lives, made anew here when it is gone.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { HarnessOptions } from "../../src/harness-options.ts";
import { thisMachine } from "../../src/ledger/holder.ts";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import type { EventInput, Store } from "../../src/ledger/store.ts";
import { openBoard } from "../../src/mechanisms/tasks/index.ts";
import { treesFor } from "../../src/mechanisms/worktrees/away.ts";
import { openWorktrees } from "../../src/mechanisms/worktrees/index.ts";
import { openHouse } from "../house.ts";
import { scratch } from "../turn.ts";
import { call, seenIn } from "./world.ts";

const networked = (store: Store): Store => ({ ...store, reach: "network" });
const THERE = "/elsewhere/state/worktrees/task-1";
const BY = { agent: "user" };

async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  for (let i = 0; i < 400 && !(await condition()); i++) await sleep(25);
  expect(await condition()).toBe(true);
}

/** A team with bob, whose task has a worktree that was made on a machine named other; that machine lives. */
async function setUp() {
  const seen: string[] = [];
  const house = await openHouse(
    (request) => {
      const { agent, last, since } = seenIn(request);
      if (agent === "bob") seen.push(JSON.stringify(request.body.messages));
      if (agent === "lead" && last === "begin" && since === 0)
        return call("spawn_teammate", { name: "bob", role: "writer", prompt: "Hello." });
      if (agent === "bob" && since === 0 && last.includes("You have claimed task_1"))
        return call("complete_task", { task_id: "task_1" });
      return { text: "ok" };
    },
    { team: { offer: true } },
  );
  onTestFinished(() => house.close());
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: house.root, stdio: "pipe" });
  git("init", "-q");
  git("commit", "-q", "--allow-empty", "-m", "first");
  const run = await house.harness.run("begin");
  await run.result;
  await run.taken.release();
  const { context } = run;
  const say = (actor: string, events: Omit<EventInput, "actor">[]) =>
    house.store.append([{ ledger: context, events: events.map((event) => ({ ...event, actor })) }]);
  const tree = { name: "task-1", path: THERE, branch: "holdfast/task-1", commit: "0".repeat(40), machine: "other" };
  await say("lead", [{ type: "worktree.created", data: tree }]);
  const trees = path.join(fs.realpathSync(scratch(onTestFinished)), "worktrees");
  const options: Partial<HarnessOptions> = { store: networked(house.store), worktrees: { dir: trees, offer: true } };
  const harness = await house.again(options);
  onTestFinished(() => harness.close());
  const board = await openBoard(house.store);
  const [task] = await board.create([{ subject: "Write it" }], BY);
  await board.update(task!.id, { worktree: "task-1" }, BY);
  const there = await openSqliteStore(path.join(house.state, "ledger.db"), { leaseMs: 60_000 });
  onTestFinished(() => there.close());
  const lives = await there.leases.acquire("machine:other");
  if ("held" in lives) throw new Error("held");
  const over = new AbortController();
  const hosting = await harness.hosting({ machineGraceMs: 300 });
  const running = hosting.run(over.signal);
  onTestFinished(async () => {
    over.abort();
    await running;
  });
  const facts = async (...types: string[]) =>
    (await house.events(context)).filter((e) => e.actor === "bob" && types.includes(e.type));
  return { house, board, facts, seen, trees, git, lives, hosting };
}

test("a task whose worktree is on another machine is left to that machine while it lives, and done in one made anew when it is gone", async () => {
  const { board, facts, seen, trees, lives, hosting } = await setUp();
  await until(async () => (await facts("turn.ended")).length === 1); // "Hello."
  await sleep(1_500);
  expect({
    task: (await board.get("task_1")).status,
    unplaced: await facts("team.unplaced"),
    running: hosting.running,
  }).toEqual({ task: "pending", unplaced: [], running: 0 });
  await lives.release();
  await until(async () => (await board.get("task_1")).status === "completed");
  const path = `${trees}/task-1`;
  expect({
    said: seen.some((one) =>
      one.includes(`it was on another machine (other), in ${THERE}, of which no host is seen any more`),
    ),
    entered: (await facts("task.entered")).map((event) => event.data),
    made: (await facts("worktree.created")).map((event) => (event.data as { path: string }).path),
    isThere: fs.existsSync(`${path}/.git`),
    unplaced: await facts("team.unplaced"),
  }).toEqual({ said: true, entered: [{ task: "task_1", path }], made: [path], isThere: true, unplaced: [] });
});

test("who claims such a task is told on which machine its worktree is, and whether that lives; made anew it begins at its branch where that is known", async () => {
  const { house, trees, git } = await setUp();
  git("commit", "-q", "--allow-empty", "-m", "pushed there, fetched here");
  git("update-ref", "refs/remotes/origin/holdfast/task-1", "HEAD");
  git("reset", "-q", "--hard", "HEAD~1");
  const worktrees = openWorktrees({ dir: `${trees}-2`, root: house.root });
  const shared = (isAlive: boolean) => ({ store: networked(house.store), lives: async () => isAlive });
  const at = (isAlive: boolean) => treesFor(worktrees, { root: house.root, shared: shared(isAlive) });
  const said = (isAlive: boolean) =>
    at(isAlive)
      .placeOf("task-1")
      .catch((error: Error) => error.message);
  const where = `on another machine (other), in ${THERE}`;
  const gone = `it was ${where}, of which no host is seen any more, and what was not pushed there (branch holdfast/task-1) is not here`;
  expect([await said(true), await said(false), await at(true).remake("task-1", "x/bob")]).toEqual([
    `the worktree task-1 is ${where}, and hosts of that machine live: leave the task on the board, and its teammate goes on with it there`,
    `the worktree task-1 is not here: ${gone}. Make it anew here with create_worktree and claim the task then; or start \`holdfast worker\` there again`,
    undefined,
  ]);
  const commit = git("rev-parse", "refs/remotes/origin/holdfast/task-1").toString().trim();
  const made = { name: "task-1", path: `${trees}-2/task-1`, branch: "holdfast/task-1", commit, machine: thisMachine() };
  expect(await at(false).remake("task-1", "x/bob")).toEqual({
    event: { type: "worktree.created", data: made },
    says: `The worktree task-1 was made anew, at ${commit.slice(0, 10)} from its branch holdfast/task-1 as it is known here: ${gone}`,
  });
  expect(await said(false)).toBe(made.path);
});
