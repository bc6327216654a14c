// Removing worktrees: what would lose or disturb something is refused with the counts, whichever way it is asked for; the branch stays.
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commit, git, put, setUp, text } from "./world.ts";

const made = async (opts: Parameters<typeof setUp>[0] = {}) => {
  const world = await setUp(opts);
  expect(await world.says("create_worktree", { name: "api" })).toContain("created");
  return {
    ...world,
    tree: world.at("api"),
    remove: (more = {}) => world.says("remove_worktree", { name: "api", ...more }),
  };
};

test("clean and merged it goes, and its branch stays", async () => {
  const { root, tree, remove, turn } = await made();
  commit(tree, { "b.txt": "two\n" });
  git(root, "merge", "-q", "holdfast/api");
  const head = git(root, "rev-parse", "holdfast/api");
  expect(await remove()).toBe(`removed the worktree api; its branch holdfast/api stays (at ${head.slice(0, 10)})`);
  expect([existsSync(tree), git(root, "worktree", "list").split("\n").length]).toEqual([false, 1]);
  expect(turn.events.at(-1)).toMatchObject({ type: "worktree.removed", data: { name: "api", head } });
  expect(await remove()).toBe("! there is no worktree api: see `git worktree list`");
});

test("changes are counted and stay: staged, unstaged, untracked", async () => {
  const { tree, remove } = await made({ files: { "a.txt": "a", "b.txt": "b" } });
  put(tree, { "a.txt": "changed", "new/one": "1", "new/two": "2", staged: "s" });
  git(tree, "add", "staged");
  rmSync(join(tree, "b.txt"));
  expect(await remove()).toBe(
    `! the worktree api stays: 1 staged, 2 unstaged, 2 untracked (5 changes). First commit or discard the changes in ${tree}; or keep_worktree`,
  );
  expect([text(tree, "a.txt"), text(tree, "new/two")]).toEqual(["changed", "2"]);
});

test("configuration that hides changes hides nothing", async () => {
  const { root, tree, remove } = await made();
  git(root, "config", "status.showUntrackedFiles", "no");
  git(root, "config", "core.ignoreStat", "true");
  git(root, "config", "core.trustctime", "false");
  git(root, "config", "core.checkStat", "minimal");
  put(tree, { new: "x" });
  expect(await remove()).toContain("1 untracked");
  rmSync(join(tree, "new"));
  const { atime, mtime } = statSync(join(tree, "a.txt"));
  writeFileSync(join(tree, "a.txt"), "two\n"); // as long as before, and as old
  utimesSync(join(tree, "a.txt"), atime, mtime);
  expect(await remove()).toContain("1 unstaged");
  expect(text(tree, "a.txt")).toBe("two\n");
});

test.each(["--assume-unchanged", "--skip-worktree"])(
  "a file that git was told %s about counts as changed",
  async (flag) => {
    const { tree, remove } = await made();
    git(tree, "update-index", flag, "a.txt");
    put(tree, { "a.txt": "secretly changed" });
    expect(await remove()).toContain("1 unstaged");
    expect(text(tree, "a.txt")).toBe("secretly changed");
  },
);

test("commits that are nowhere else stay: on its branch, on a detached HEAD, in a ref of its own", async () => {
  const { root, tree, remove } = await made();
  commit(tree, { "b.txt": "1" });
  commit(tree, { "b.txt": "2" });
  expect(await remove()).toBe(
    "! the worktree api stays: 2 commits in no other branch and no remote. First merge it (git merge holdfast/api) or push it; or keep_worktree",
  );
  git(root, "merge", "-q", "holdfast/api");
  git(tree, "checkout", "-q", "--detach");
  commit(tree, { "c.txt": "3" });
  expect(await remove()).toContain(
    "1 commit in no other branch and no remote. First put the commits of its detached HEAD",
  );
  git(tree, "update-ref", "refs/worktree/mine", "HEAD");
  git(tree, "checkout", "-q", "holdfast/api");
  expect(await remove()).toContain("1 commit in no other branch");
  git(root, "branch", "saved", git(tree, "rev-parse", "refs/worktree/mine"));
  expect(await remove()).toContain("removed");
});

test("what was pushed counts as kept", async () => {
  const { base, root, tree, remove } = await made();
  git(base, "init", "-q", "--bare", "remote.git");
  git(root, "remote", "add", "origin", join(base, "remote.git"));
  commit(tree, { "b.txt": "1" });
  git(tree, "push", "-q", "origin", "holdfast/api");
  expect(await remove()).toContain("removed");
});

test.each([
  ["merge", (tree: string) => git(tree, "merge", "-q", "--no-commit", "--no-ff", "side")],
  ["cherry-pick", (tree: string) => git(tree, "cherry-pick", "side")],
  ["bisect", (tree: string) => git(tree, "bisect", "start")],
  ["rebase", (tree: string) => git(tree, "rebase", "-q", "side")],
])("while a %s goes on it stays", async (name, begin) => {
  const { root, tree, remove } = await made();
  git(root, "checkout", "-q", "-b", "side");
  commit(root, { "a.txt": "theirs" });
  git(root, "checkout", "-q", "main");
  commit(tree, { "a.txt": "ours" });
  git(root, "branch", "kept", "holdfast/api");
  try {
    begin(tree);
  } catch {
    // conflicts: it goes on
  }
  expect(await remove()).toContain(`a ${name} is going on`);
  expect(existsSync(tree)).toBe(true);
});

test("ignored folders go and are named; single ignored files and what only links to others", async () => {
  const { tree, remove, base } = await made({ files: { ".gitignore": "dist/\n*.local\nlinked\n" } });
  put(base, { "precious/x": "x" });
  put(tree, { "dist/deep/out.js": "o", "notes.local": "n" });
  symlinkSync(join(base, "precious"), join(tree, "linked"));
  expect(await remove()).toBe(
    "! the worktree api stays: 1 files that git ignores would be lost (notes.local): move them, or give discard_ignored. Nothing was changed",
  );
  const said = await remove({ discard_ignored: true });
  expect(said).toContain("ignored folders that went with it: dist/\nignored files that went with it: 1");
  expect([existsSync(tree), text(base, "precious/x")]).toEqual([false, "x"]);
});

test("discard_ignored discards nothing else", async () => {
  const { tree, remove } = await made();
  put(tree, { new: "x" });
  expect(await remove({ discard_ignored: true })).toContain("1 untracked");
});

test("in use it stays: a running task, an agent, running jobs", async () => {
  const { says, tree, remove, board } = await made({
    jobsIn: (dir) => (existsSync(join(dir, "job")) ? 2 : 0),
    agentsIn: async () => ["ctx_other/alice", "ctx_test/bob"],
  });
  await says("create_task", { subject: "One" });
  await board.update("1", { worktree: "api" }, { agent: "user" });
  await board.claim("1", { context: "ctx_test", agent: "bob" });
  expect(await remove()).toBe(
    "! the worktree api stays: bob works there on task_1: complete or release it first; ctx_other/alice is in it. Nothing was changed",
  );
  put(tree, { job: "" });
  git(tree, "add", "job");
  expect(await remove()).toContain("2 running jobs in it: see list_jobs, job_kill");
  expect(existsSync(tree)).toBe(true);
});

test("tasks that are still to be done are freed of it, done ones keep their word", async () => {
  const { says, remove, board } = await made();
  await says("create_task", { tasks: [{ subject: "One" }, { subject: "Two" }] });
  for (const id of ["1", "2"]) await board.update(id, { worktree: "api" }, { agent: "user" });
  await board.complete("2", { agent: "user" });
  expect(await remove()).toContain("no longer bound to it: task_1");
  expect([(await board.get("1")).worktree, (await board.get("2")).worktree]).toEqual([null, "api"]);
});

test("locked by somebody else it stays", async () => {
  const { root, tree, remove, says } = await made();
  git(root, "worktree", "unlock", tree);
  git(root, "worktree", "lock", "--reason", "on a stick", tree);
  expect(await remove()).toContain("git holds it locked: on a stick");
  expect(await says("keep_worktree", { name: "api" })).toContain("locked, and not for us (on a stick)");
});

test("kept for review it says so in git, and goes once it is merged", async () => {
  const { root, tree, remove, says, turn } = await made();
  commit(tree, { "b.txt": "1" });
  expect(await says("keep_worktree", { name: "api", note: "look at\nb.txt" })).toBe(
    [
      `kept for review: the worktree api in ${tree} (look at b.txt)`,
      "1 commit in no other branch and no remote",
      "to merge it: git merge holdfast/api",
    ].join("\n"),
  );
  expect(turn.events.at(-1)).toMatchObject({ type: "worktree.kept", data: { note: "look at b.txt" } });
  expect(git(root, "worktree", "list", "--porcelain")).toContain(
    "locked holdfast: kept for review (ctx_test/lead/c1): look at b.txt",
  );
  expect(await remove()).toContain("1 commit");
  git(root, "merge", "-q", "holdfast/api");
  expect(await remove()).toContain("removed");
});

test("what was not made here is never removed: other worktrees, directories, a replaced one, a link", async () => {
  const { root, base, dir, at, says, tree } = await made();
  git(root, "worktree", "add", "-q", join(base, "mine"));
  expect(await says("remove_worktree", { name: "mine" })).toContain("there is no worktree mine");
  mkdirSync(at("stranger"));
  put(at("stranger"), { precious: "x" });
  expect(await says("remove_worktree", { name: "stranger" })).toContain("is no worktree of this project");
  symlinkSync(join(base, "mine"), at("link"));
  expect(await says("remove_worktree", { name: "link" })).toContain("is no worktree of this project");
  renameSync(tree, join(base, "moved"));
  put(tree, { precious: "x" });
  expect(await says("remove_worktree", { name: "api" })).toContain("somebody replaced it");
  rmSync(tree, { recursive: true });
  symlinkSync(join(base, "moved"), tree);
  expect(await says("remove_worktree", { name: "api" })).toContain("somebody replaced it");
  expect(readdirSync(dir).sort()).toEqual([".locks", ".settings", "api", "link", "stranger"]);
  expect([text(base, "moved/a.txt"), text(base, "mine/a.txt"), text(at("stranger"), "precious")]).toEqual([
    "one\n",
    "one\n",
    "x",
  ]);
});

test("another project's worktree of the same name, in the same directory, is not ours", async () => {
  const { base, dir } = await made();
  const other = await setUp();
  const { openWorktrees } = await import("../../src/mechanisms/worktrees/index.ts");
  const foreign = openWorktrees({ dir, root: other.root });
  const nobody = { discardIgnored: true, usedBy: async () => [] };
  await expect(foreign.planRemoval("api", nobody)).rejects.toThrow(/is no worktree of this project/);
  await expect(foreign.placeOf("api")).rejects.toThrow(/is not there/);
  void base;
});

test("what prunes worktrees that it cannot see leaves ours alone", async () => {
  const { root, base, tree } = await made();
  renameSync(tree, join(base, "away"));
  git(root, "worktree", "prune", "--expire=now");
  renameSync(join(base, "away"), tree);
  expect(git(tree, "status", "--porcelain")).toBe("");
  expect(() => execFileSync("git", ["worktree", "remove", "--force", tree], { cwd: root, stdio: "ignore" })).toThrow();
});
