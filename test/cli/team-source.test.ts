// The team view's source on a real context: a plan and an approval that wait, a worktree with work in it, and who came second.
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { OpenState } from "../../src/cli/open.ts";
import { createTeamSource } from "../../src/cli/team-source.ts";
import { openProject } from "../../src/contexts/project.ts";
import type { TeamNow, TeamSource } from "../../src/front/terminal/team-now.ts";
import { openHouse, tempDir } from "../house.ts";
import { call, type Play, seenIn } from "../team/world.ts";
import { commit, git, makeRepository, put, text } from "../worktrees/world.ts";

const PLAN = "1. 読む\n2. write\u001b[31m";

const play: Play = ({ agent, last, since }) => {
  if (agent === "lead") {
    const spawn = (name: string, more: object) =>
      call("spawn_teammate", { name, role: "writer", prompt: `Hello ${name}`, ...more });
    if (last !== "begin") return { text: "noted" };
    const steps = [
      call("create_task", { tasks: [{ subject: "Write it" }] }),
      call("create_worktree", { name: "api", task_id: "1" }),
      spawn("alice", { require_plan: true }),
      spawn("bob", {}),
    ];
    return steps[since] ?? { text: "They work." };
  }
  if (!last.includes("Hello") || since > 0) return { text: "I wait." };
  return agent === "alice" ? call("submit_plan", { plan: PLAN }) : call("write_file", { path: "b.txt", content: "b" });
};

/** A team of two: alice's plan waits, and bob's first call for a yes. */
async function openTeamHouse() {
  const dir = join(tempDir("trees"), "worktrees");
  const house = await openHouse((request) => play(seenIn(request)) ?? { text: "ok" }, {
    ...{ team: { offer: true }, worktrees: { dir, offer: true } },
    ...{ permissionMode: "default", approvals: { wait: true } },
  });
  makeRepository(house.root);
  git(house.root, "config", "user.name", "n");
  git(house.root, "config", "user.email", "e@x");
  const run = await house.harness.run("begin");
  await run.result;
  const over = new AbortController();
  const running = (await house.harness.hosting({ context: run.context })).run(over.signal);
  const stop = async () => {
    over.abort();
    await running;
  };
  onTestFinished(async () => {
    await stop();
    await run.taken.release();
    await house.close();
    rmSync(dirname(dir), { recursive: true, force: true });
  });
  const project = { ...openProject({ cwd: house.root, state: house.state }), stateDir: dirname(dir) };
  const state: OpenState = { project, store: house.store, jobsDir: join(house.state, "jobs"), expiry: {} };
  const clock = { at: Date.now() };
  const source = () => createTeamSource({ state, context: run.context, now: () => clock.at });
  return { house, context: run.context, tree: join(dir, "api"), source, clock, stop };
}

async function until(source: TeamSource, is: (now: TeamNow) => boolean): Promise<TeamNow> {
  for (;;) {
    const now = await source.look();
    if (is(now)) return now;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const waits = ({ members }: TeamNow, kind: string) => members.some(({ waitsFor }) => waitsFor.kind === kind);

test("says who waits for what, answers plans once, and takes a worktree over, with the lines of the commands", {
  timeout: 60_000,
}, async () => {
  const { house, tree, source: open, clock, stop } = await openTeamHouse();
  const source = open();
  const isOver = ({ members }: TeamNow) => members.some(({ name, last }) => name === "alice" && last !== undefined);
  const now = await until(source, (one) => waits(one, "plan") && isOver(one) && waits(one, "approval"));
  const [{ id } = { id: "" }] = now.plans;
  const at = expect.any(Number);
  expect(now).toEqual({
    members: [
      { name: "lead", role: "", doing: "idle", waitsFor: { kind: "message" }, last: "They work." },
      {
        ...{ name: "alice", role: "writer", doing: `waits for the review of ${id}` },
        ...{ waitsFor: { kind: "plan", id }, since: at, last: "I wait." },
      },
      {
        ...{ name: "bob", role: "writer", doing: "working", since: at },
        waitsFor: { kind: "approval", id: expect.stringMatching(/^apr_/), title: "write_file b.txt" },
      },
    ],
    plans: [{ id, by: "alice", at }],
    worktrees: [
      {
        ...{ name: "api", branch: "holdfast/api", agent: "lead", tasks: ["task_1 pending"] },
        ...{ commits: 0, files: 0, uncommitted: 0, says: "nothing new" },
      },
    ],
  });
  await stop();

  expect(await source.plan(id)).toBe(PLAN);
  expect([
    await source.review(id, { approve: false, feedback: " " }),
    await open().review(id, { approve: true, feedback: "" }),
    await source.review(id, { approve: false, feedback: "too late" }),
    await source.review("plan_none", { approve: true, feedback: "" }),
    await source.send("carol", "hi"),
    await source.send("alice", "begin with a"),
  ]).toEqual([
    "team reject needs TEXT: say why, so that a better plan can follow",
    `${id} approved. alice hears it when a host runs it.`,
    `${id} was already approved by user: it is answered once`,
    "there is no plan plan_none: see `holdfast team plans --all`",
    "nobody here is carol: there are alice, bob",
    "Sent to alice.",
  ]);

  commit(tree, { "w.txt": "w\n" });
  put(tree, { "a.txt": "two\n", "new.txt": "n\n" });
  expect((await source.look()).worktrees[0]?.commits).toBe(0); // git is not asked at every look
  clock.at += 60_000;
  expect((await source.look()).worktrees).toMatchObject([{ commits: 1, files: 3, uncommitted: 2 }]);
  const { lines } = await source.worktree("api");
  expect(lines.filter((line) => /^[-+][^-+]/.test(line))).toEqual(["-one", "+two", "+w", "+ untracked new.txt", "+n"]);
  expect(await source.worktree("none")).toEqual({
    lines: ["there is no worktree none, and no branch holdfast/none: see `holdfast worktrees ls`"],
  });

  expect(await source.merge("api")).toContain("has work that is not committed: 1 unstaged, 1 untracked (2 changes)");
  expect(await source.drop("api")).toMatch(/api.*1 unstaged, 1 untracked/);
  put(house.root, { "a.txt": "mine\n" });
  expect(await source.merge("api", { commit: true })).toContain("changes 1 file that you have in");
  put(house.root, { "a.txt": "one\n" });
  expect(await source.merge("api")).toMatch(/^Merged 2 commits of holdfast\/api \(3 files\) into main, now at \w{10}$/);
  expect(text(house.root, "a.txt")).toBe("two\n");
  expect(await source.merge("api")).toBe("Nothing to merge: main has all of holdfast/api");
  expect((await source.look()).worktrees).toMatchObject([{ commits: 0, files: 0, uncommitted: 0 }]);
  expect(await source.drop("api")).toMatch(
    /^Removed the worktree api; its branch holdfast\/api stays \(at \w{10}\) · No longer bound to it: task_1$/,
  );
  expect((await source.look()).worktrees).toEqual([]);
  expect(await source.drop("api")).toContain("there is no worktree api");
});
