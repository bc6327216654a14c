// Taking over what a team made: what there is, what is in it, and merging it without touching anything of the user's.
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { messageOf } from "../../src/ledger/error.ts";
import { tempDir } from "../house.ts";
import { commit, git, put, setUp, text } from "./world.ts";

const NOBODY = { usedBy: async () => [] };
const home = process.env.HOME;

beforeEach(() => {
  process.env.HOME = tempDir("home");
  writeFileSync(join(process.env.HOME, ".gitconfig"), "[user]\n\tname = n\n\temail = e@x\n");
});
afterEach(() => {
  rmSync(process.env.HOME!, { recursive: true });
  process.env.HOME = home;
});

async function withTrees(...names: string[]) {
  const world = await setUp({ files: { "a.txt": "one\n", "b.txt": "one\n", ".gitignore": "*.log\n" } });
  for (const name of names)
    expect(await world.says("create_worktree", { name })).toContain(`created the worktree ${name}`);
  const status = () => [git(world.root, "status", "--porcelain"), git(world.root, "rev-parse", "HEAD")];
  const refusal = (name: string, opts: { commit?: string } = {}) =>
    world.worktrees.merge(name, { ...NOBODY, ...opts }).then(
      () => "it was merged",
      (error: unknown) => messageOf(error),
    );
  return { ...world, status, refusal };
}

test("the list says how far each is and what is uncommitted; one that cannot be looked at does not hide the others", async () => {
  const { worktrees, root, at, says } = await withTrees("api", "broken", "gone", "web");
  commit(at("api"), { "w.txt": "w\n" });
  put(at("api"), { "more.txt": "m\n", "a.txt": "two\n" });
  commit(root, { "main.txt": "m\n" });
  rmSync(join(at("broken"), ".git"));
  expect(await says("remove_worktree", { name: "gone" })).toContain("removed the worktree gone");
  const all = await worktrees.list({ all: true });
  const seen = all.map(({ name, path, ahead, behind, state, problem }) => ({
    ...{ name, ahead, behind, isThere: path !== null },
    ...(state && { changes: [state.staged, state.unstaged, state.untracked] }),
    ...(problem && { problem: problem.includes("is not the worktree that was made there") }),
  }));
  expect(seen).toEqual([
    { name: "api", ahead: 1, behind: 1, isThere: true, changes: [0, 1, 1] },
    { name: "broken", ahead: 0, behind: 1, isThere: true, problem: true },
    { name: "gone", ahead: 0, behind: 1, isThere: false },
    { name: "web", ahead: 0, behind: 1, isThere: true, changes: [0, 0, 0] },
  ]);
  expect((await worktrees.list()).map(({ name, madeBy }) => [name, madeBy?.split("/")[1]])).toEqual([
    ["api", "lead"],
    ["broken", "lead"],
    ["web", "lead"],
  ]);
});

test("a comparison has commits, what is uncommitted and what is untracked, and changes nothing", async () => {
  const { worktrees, root, at, status } = await withTrees("api");
  commit(at("api"), { "w.txt": "w\n" });
  commit(root, { "b.txt": "changed in the project\n" });
  put(at("api"), { "a.txt": "two\n", "new.txt": "n\n", "x.log": "ignored" });
  const [before, tree] = [status(), git(at("api"), "status", "--porcelain")];
  const compared = await worktrees.compare("api", { patch: true, maxBytes: 100 });
  expect({ ...compared, patch: compared.patch?.match(/^(?:[-+][^-+].*|diff .*)$/gm) }).toMatchObject({
    commits: [{ subject: "work" }],
    files: [
      { path: "a.txt", added: 1, removed: 1 },
      { path: "w.txt", added: 1, removed: 0 },
      { path: "new.txt", added: null, removed: null, untracked: true },
    ],
    patch: ["diff --git a/a.txt b/a.txt", "-one", "+two", "diff --git a/w.txt b/w.txt", "+w"],
    untracked: [{ path: "new.txt", content: Buffer.from("n\n"), bytes: 2 }],
  });
  expect([status(), git(at("api"), "status", "--porcelain")]).toEqual([before, tree]);
  await expect(worktrees.compare("none")).rejects.toThrow("there is no worktree none, and no branch holdfast/none");
});

test("a merge takes over what is committed, and with commit what is not; into a tree that went on too", async () => {
  const { worktrees, root, at, refusal, says } = await withTrees("api");
  put(at("api"), { "w.txt": "w\n", "a.txt": "two\n" });
  expect(await refusal("api")).toBe(
    `the worktree api has work that is not committed: 1 unstaged, 1 untracked (2 changes). Add --commit to commit it on holdfast/api first, or commit or discard it in ${at("api")}`,
  );
  await expect(
    worktrees.merge("api", { commit: "x", usedBy: async () => ["alice works there on task_1"] }),
  ).rejects.toThrow("the worktree api is in use, and nobody's half work is committed: alice works there on task_1");
  // What the user has beside it stays as it is.
  put(root, { "b.txt": "mine\n", "own.txt": "mine\n" });
  const done = await worktrees.merge("api", { ...NOBODY, commit: "Write it (task_1)" });
  expect(done).toEqual({
    ...{ branch: "holdfast/api", into: "main", commits: 1, files: 2 },
    ...{ head: git(root, "rev-parse", "HEAD"), committed: git(root, "rev-parse", "holdfast/api") },
  });
  expect([text(root, "w.txt"), text(root, "a.txt"), git(root, "log", "-1", "--format=%s %an")]).toEqual([
    "w\n",
    "two\n",
    "Write it (task_1) n",
  ]);
  expect(git(root, "status", "--porcelain").split("\n")).toEqual(["M b.txt", "?? own.txt"]);
  expect((await worktrees.merge("api", NOBODY)).commits).toBe(0);
  // Both went on: a merge commit; also when only the branch is left.
  git(root, "checkout", "-q", "b.txt");
  commit(root, { "c.txt": "c\n" });
  commit(at("api"), { "d.txt": "d\n" });
  expect((await worktrees.merge("api", NOBODY)).commits).toBe(1);
  expect(git(root, "log", "-1", "--format=%s", "--first-parent")).toBe("Merge branch 'holdfast/api' into main");
  expect(await says("remove_worktree", { name: "api" })).toContain("removed");
  commit(root, { "e.txt": "e\n" });
  expect((await worktrees.merge("api", NOBODY)).commits).toBe(0);
});

test("a merge that would touch what the user has uncommitted, staged, hidden or ignored is refused by name, and nothing changes", async () => {
  const { root, at, status, refusal } = await withTrees("api");
  commit(at("api"), { "a.txt": "two\n", "dir/new": "n\n" });
  put(at("api"), { "kept.log": "branch\n" });
  git(at("api"), "add", "-f", "kept.log");
  git(at("api"), "commit", "-qm", "log");
  const refused = async (change: () => void, back: () => void) => {
    change();
    const before = status();
    const said = await refusal("api");
    expect(status()).toEqual(before);
    back();
    return said.replace(root, "ROOT");
  };
  const clean = () => git(root, "checkout", "-q", "--", ".");
  const told = (name: string) =>
    `holdfast/api changes 1 file that you have in ROOT and that is not committed (${name}): commit, stash or move it first`;
  expect(await refused(() => put(root, { "a.txt": "mine\n" }), clean)).toBe(told("a.txt"));
  expect(
    await refused(
      () => {
        git(root, "update-index", "--assume-unchanged", "a.txt");
        put(root, { "a.txt": "mine\n" });
      },
      () => {
        git(root, "update-index", "--no-assume-unchanged", "a.txt");
        clean();
      },
    ),
  ).toBe(told("a.txt"));
  expect(
    await refused(
      () => put(root, { "kept.log": "mine" }),
      () => rmSync(join(root, "kept.log")),
    ),
  ).toBe(told("kept.log"));
  expect(
    await refused(
      () => put(root, { dir: "a file" }),
      () => rmSync(join(root, "dir")),
    ),
  ).toBe(told("dir/new"));
  expect(
    await refused(
      () => {
        put(root, { "b.txt": "two\n" });
        git(root, "add", "b.txt");
      },
      () => {
        git(root, "reset", "-q");
        clean();
      },
    ),
  ).toBe("1 staged change in ROOT: commit or unstage what is staged first");
  git(root, "checkout", "-q", "--detach");
  expect(await refusal("api")).toContain("is on no branch: check one out, then merge into it");
  git(root, "checkout", "-q", "main");
  expect(await refusal("api")).toBe("it was merged");
});

test("a merge that conflicts is never begun: the tree is as it was, and it is said how to do it by hand", async () => {
  const { root, at, status, refusal } = await withTrees("api");
  commit(at("api"), { "a.txt": "branch\n", "b.txt": "branch\n", "w.txt": "w\n" });
  commit(root, { "a.txt": "project\n", "b.txt": "project\n" });
  const before = status();
  expect(await refusal("api")).toBe(
    `holdfast/api and the project's tree both changed 2 files (a.txt, b.txt), and git cannot join that by itself: nothing was merged. Do it by hand: cd ${root} && git merge holdfast/api`,
  );
  expect([status(), existsSync(join(root, ".git/MERGE_HEAD")), existsSync(join(root, "w.txt"))]).toEqual([
    before,
    false,
    false,
  ]);
  put(root, { ".git/MERGE_HEAD": `${git(root, "rev-parse", "holdfast/api")}\n` });
  expect(await refusal("api")).toBe(`a merge is going on in ${root}: finish or abort it first`);
});

test("nothing of the repository's configuration runs: no hook, no filter, no monitor, no diff or merge program", async () => {
  const { worktrees, root, at, base, refusal } = await withTrees("api");
  const sing = `touch ${join(base, "sang")};`;
  put(root, { ".gitattributes": "*.txt filter=evil diff=evil\n" });
  git(root, "add", "-A");
  git(root, "commit", "-qm", "attributes");
  git(at("api"), "merge", "-q", "main");
  mkdirSync(join(root, ".git/hooks"), { recursive: true });
  for (const hook of [
    "pre-merge-commit",
    "post-merge",
    "post-checkout",
    "pre-commit",
    "post-commit",
    "commit-msg",
    "reference-transaction",
  ]) {
    writeFileSync(join(root, ".git/hooks", hook), `#!/bin/sh\n${sing}\n`);
    chmodSync(join(root, ".git/hooks", hook), 0o755);
  }
  const config = (key: string, value: string) => git(root, "config", key, value);
  config("core.fsmonitor", `sh -c '${sing}'`);
  config("filter.evil.smudge", `sh -c '${sing} cat'`);
  config("filter.evil.clean", `sh -c '${sing} cat'`);
  config("diff.evil.textconv", `sh -c '${sing} cat'`);
  config("diff.evil.command", `sh -c '${sing}'`);
  config("diff.external", `sh -c '${sing}'`);
  config("core.editor", `sh -c '${sing}'`);
  put(at("api"), { "a.txt": "two\n", "w.txt": "w\n" });
  put(root, { "z.txt": "z\n" });
  await worktrees.list({ all: true });
  await worktrees.compare("api", { patch: true, maxBytes: 100 });
  config("merge.evil.driver", `sh -c '${sing}'`);
  expect(await refusal("api", { commit: "x" })).toContain("names programs for merging (merge.evil.driver)");
  git(root, "config", "--unset", "merge.evil.driver");
  await worktrees.merge("api", { ...NOBODY, commit: "work" });
  expect([text(root, "a.txt"), existsSync(join(base, "sang"))]).toEqual(["two\n", false]);
  git(root, "status"); // and git by itself does sing
  expect(existsSync(join(base, "sang"))).toBe(true);
});
