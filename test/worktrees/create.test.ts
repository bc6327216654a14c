// Making worktrees: what is made, what is refused before anything is made, and that nothing of the repository runs.
import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isolateIn, openWorktrees } from "../../src/mechanisms/worktrees/index.ts";
import { scratch } from "../turn.ts";
import { commit, git, makeRepository, put, setUp, text } from "./world.ts";

test("a worktree has a branch and a directory of its own, beside the main tree", async () => {
  const { root, at, says, turn } = await setUp();
  put(root, { "not-committed.txt": "x" });
  const head = git(root, "rev-parse", "HEAD");
  expect(await says("create_worktree", { name: "api" })).toBe(
    [
      `created the worktree api in ${at("api")}`,
      `branch holdfast/api at ${head.slice(0, 10)}`,
      `not in it: 1 uncommitted changes of ${root}`,
    ].join("\n"),
  );
  expect(text(at("api"), "a.txt")).toBe("one\n");
  expect(git(at("api"), "rev-parse", "--abbrev-ref", "HEAD")).toBe("holdfast/api");
  expect(git(at("api"), "status", "--porcelain")).toBe("");
  expect(git(root, "worktree", "list", "--porcelain")).toContain("locked holdfast: in use (ctx_test/lead/c1)");
  expect(turn.events.map((e) => [e.type, e.data])).toEqual([
    ["worktree.created", { name: "api", path: at("api"), branch: "holdfast/api", commit: head }],
  ]);
});

test("it begins where the agent's own tree stands", async () => {
  const { root, at, says, turn } = await setUp();
  await says("create_worktree", { name: "first" });
  commit(at("first"), { "b.txt": "two\n" });
  Object.assign(turn, { root: at("first") });
  await says("create_worktree", { name: "second" });
  expect(text(at("second"), "b.txt")).toBe("two\n");
  expect(existsSync(join(root, "b.txt"))).toBe(false);
});

test("bound to a task, which then says where it is done", async () => {
  const { board, at, says } = await setUp();
  await says("create_task", { subject: "Write the API" });
  expect(await says("create_worktree", { name: "api", task_id: "1" })).toContain(
    "bound to task_1: whoever claims it works there",
  );
  expect((await board.get("task_1")).worktree).toBe("api");
  expect(await says("claim_task", { task_id: "task_1" })).toBe(
    `claimed task_1: Write the API\nworktree: api\nyou now work in the worktree ${at("api")}: paths and commands mean that tree; commit there; the main tree is for reading`,
  );
});

test("for a task that is one's own already it is entered at once", async () => {
  const { at, says, turn } = await setUp();
  await says("create_task", { subject: "Write the API" });
  await says("claim_task", { task_id: "1" });
  expect(await says("create_worktree", { name: "api", task_id: "1" })).toContain("which is yours: you work there now");
  expect(turn.events.slice(-2).map((e) => [e.type, e.data])).toEqual([
    ["agent.moved", { cwd: at("api"), root: at("api") }],
    ["task.entered", { task: "task_1", path: at("api") }],
  ]);
});

test.each([
  ["../x", "use 1 to 41 of"],
  ["/etc", "use 1 to 41 of"],
  ["A", "use 1 to 41 of"],
  ["-x", "use 1 to 41 of"],
  [".locks", "use 1 to 41 of"],
  ["a/b", "use 1 to 41 of"],
  ["", "use 1 to 41 of"],
  ["a".repeat(42), "use 1 to 41 of"],
  ["a\nb", "use 1 to 41 of"],
  ["a..b", "two dots"],
  ["a.lock", ".lock"],
  ["a.", "ends with a dot"],
])("the name %j is refused by every tool", async (name, why) => {
  const { says, base } = await setUp();
  for (const tool of ["create_worktree", "remove_worktree", "keep_worktree"])
    expect(await says(tool, { name })).toContain(why);
  expect(readdirSync(base).sort()).toEqual(["project"]);
});

test("what is there already is never taken: a worktree, a directory, a branch, a branch in the way", async () => {
  const { root, dir, at, says } = await setUp();
  await says("create_worktree", { name: "api" });
  expect(await says("create_worktree", { name: "api" })).toBe(
    `! there is a worktree api already, in ${at("api")}: choose another name`,
  );
  mkdirSync(at("dir"));
  expect(await says("create_worktree", { name: "dir" })).toContain("is there already, and is no worktree");
  symlinkSync(root, at("link"));
  expect(await says("create_worktree", { name: "link" })).toContain("is there already, and is no worktree");
  git(root, "branch", "holdfast/old");
  expect(await says("create_worktree", { name: "old" })).toContain("the branch holdfast/old is there already");
  expect(readdirSync(dir).sort()).toEqual([".locks", ".settings", "api", "dir", "link"]);
  const other = await setUp();
  git(other.root, "branch", "holdfast");
  expect(await other.says("create_worktree", { name: "x" })).toContain("rename it first");
});

test("a task that cannot have one is refused before anything is made", async () => {
  const { board, dir, root, says } = await setUp();
  await says("create_task", { tasks: [{ subject: "One" }, { subject: "Two" }, { subject: "Three" }] });
  expect(await says("create_worktree", { name: "x", task_id: "task_9" })).toMatch(/^! there is no task task_9/);
  await says("create_worktree", { name: "one", task_id: "1" });
  expect(await says("create_worktree", { name: "x", task_id: "1" })).toBe(
    "! task_1 has the worktree one already: use it, or remove it first",
  );
  await board.claim("2", { context: "ctx_test", agent: "bob" });
  expect(await says("create_worktree", { name: "x", task_id: "2" })).toContain("is being worked on by bob");
  await board.update("3", { status: "cancelled" }, { agent: "user" });
  expect(await says("create_worktree", { name: "x", task_id: "3" })).toContain("task_3 is cancelled");
  expect(readdirSync(dir).sort()).toEqual([".locks", ".settings", "one"]);
  expect(git(root, "branch", "--list", "holdfast/x")).toBe("");
});

test("without a repository, without a commit, or in a submodule: an error that says what to do", async () => {
  const base = scratch(onTestFinished);
  const plan = (root: string) => openWorktrees({ dir: join(base, "w"), root }).planMake("x", { from: root, mark: "m" });
  mkdirSync(join(base, "plain"));
  await expect(plan(join(base, "plain"))).rejects.toThrow(/is not in a git repository.*git init/);
  mkdirSync(join(base, "empty"));
  git(join(base, "empty"), "init", "-q");
  await expect(plan(join(base, "empty"))).rejects.toThrow(/no commit yet.*commit first/);
  const victim = makeRepository(join(base, "victim"));
  put(base, { "hostile/.git": `gitdir: ${victim}/.git\n` });
  await expect(plan(join(base, "hostile"))).rejects.toThrow(/does not name this folder/);
  expect(git(victim, "branch", "--list", "holdfast/*")).toBe("");
});

test("a poisoned repository runs nothing: hooks, fsmonitor, filters, diff programs, by whatever configuration", async () => {
  const { root, base, at, says, dir } = await setUp({
    files: { "a.txt": "one\n", ".gitattributes": "* filter=evil diff=evil\n" },
  });
  const bomb = join(base, "ran");
  const script = `#!/bin/sh\necho "$0 $*" >> ${bomb}\ncat\n`;
  put(
    root,
    Object.fromEntries(
      ["post-checkout", "reference-transaction", "post-index-change"].map((h) => [`.git/hooks/${h}`, script]),
    ),
  );
  put(base, { evil: script, "included.conf": `[filter "in=cluded"]\n\tsmudge = ${base}/evil\n\trequired = true\n` });
  for (const [key, value] of [
    ...["clean", "smudge", "process"].map((part) => [`filter.evil.${part}`, `${base}/evil`]),
    ["filter.evil.required", "true"],
    ["core.fsmonitor", `${base}/evil`],
    ["core.hooksPath", `${root}/.git/hooks`],
    ["diff.evil.textconv", `${base}/evil`],
    ["diff.evil.command", `${base}/evil`],
    ["diff.external", `${base}/evil`],
    ["core.pager", `${base}/evil`],
    ["core.editor", `${base}/evil`],
    ["core.sshCommand", `${base}/evil`],
    ["credential.helper", `!${base}/evil`],
    ["include.path", `${base}/included.conf`],
  ])
    git(root, "config", key!, value!);
  put(root, { ".git/info/attributes": "*.txt filter=in=cluded\n" });
  rmSync(bomb, { force: true });
  expect(await says("create_worktree", { name: "api" })).toContain("created the worktree api");
  expect(text(at("api"), "a.txt")).toBe("one\n");
  expect(await says("keep_worktree", { name: "api" })).toContain("kept for review");
  expect(await says("remove_worktree", { name: "api" })).toContain("removed the worktree api");
  expect([existsSync(bomb), existsSync(at("api"))]).toEqual([false, false]);
  void dir;
});

test("the user's own filters do run, also where the repository says otherwise of the same name", async () => {
  const { root, base, at, says } = await setUp({
    files: { "a.txt": "one\n", ".gitattributes": "*.txt filter=shout\n" },
  });
  put(base, { "home/.gitconfig": '[filter "shout"]\n\tsmudge = tr a-z A-Z\n\tclean = tr A-Z a-z\n' });
  git(root, "config", "filter.shout.smudge", `touch ${base}/ran; cat`);
  const { HOME } = process.env;
  process.env.HOME = join(base, "home");
  onTestFinished(() => {
    process.env.HOME = HOME;
  });
  expect(await says("create_worktree", { name: "api" })).toContain("created");
  expect([text(at("api"), "a.txt"), existsSync(join(base, "ran"))]).toEqual(["ONE\n", false]);
  expect(await says("remove_worktree", { name: "api" })).toContain("removed");
});

test("variables of git in our environment lead nowhere else", async () => {
  const { base, at, says } = await setUp();
  const other = makeRepository(join(base, "other"), { "other.txt": "x" });
  const names = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"];
  for (const name of names) process.env[name] = join(other, ".git");
  onTestFinished(() => {
    for (const name of names) delete process.env[name];
  });
  expect(await says("create_worktree", { name: "api" })).toContain("created");
  for (const name of names) delete process.env[name];
  expect(readdirSync(at("api")).sort()).toEqual([".git", "a.txt"]);
});

test("submodules are not initialised, and that is said", async () => {
  const { base, root, at, says } = await setUp();
  const sub = makeRepository(join(base, "sub"), { "s.txt": "s" });
  git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub, "sub");
  git(root, "commit", "-qm", "with a submodule");
  expect(await says("create_worktree", { name: "api" })).toContain("submodules are not initialised in it");
  expect(readdirSync(join(at("api"), "sub"))).toEqual([]);
});

test("a project of which git shows a part gives worktrees of the same part; lines end as the repository says", async () => {
  const { root, at, says } = await setUp({ files: { "a.txt": "one\n", "in/x": "x", "out/y": "y" } });
  git(root, "config", "core.autocrlf", "true");
  git(root, "sparse-checkout", "set", "in");
  expect(await says("create_worktree", { name: "api" })).toContain("created");
  expect([readdirSync(at("api")).sort(), text(at("api"), "a.txt")]).toEqual([[".git", "a.txt", "in"], "one\r\n"]);
  expect([git(at("api"), "sparse-checkout", "list"), git(at("api"), "status", "--porcelain")]).toEqual(["in", ""]);
  expect(await says("remove_worktree", { name: "api" })).toContain("removed");
});

test("dependency folders are shared by a link that git does not see and a removal does not follow", async () => {
  const { root, base, at, says } = await setUp({
    files: { "a.txt": "one\n", ".gitignore": "node_modules/\nbuilt\n", "src/x": "x", "packages/p/i.js": "" },
    link: [
      "node_modules",
      "packages/p/node_modules/",
      "built",
      "src",
      "../outside",
      "/etc",
      ".git/info",
      "missing",
      "out",
    ],
  });
  put(root, { "node_modules/m/index.js": "m", "packages/p/node_modules/q.js": "q", "built/b": "b", "out/o": "o" });
  put(base, { "outside/o": "o" });
  expect(await says("create_worktree", { name: "api" })).toBe(
    [
      `created the worktree api in ${at("api")}`,
      `branch holdfast/api at ${git(root, "rev-parse", "HEAD").slice(0, 10)}`,
      "linked: node_modules",
      "linked: packages/p/node_modules",
      "linked: built",
      "not linked: src: git keeps files of it",
      "not linked: ../outside: it must lie below the main tree",
      "not linked: /etc: it must lie below the main tree",
      "not linked: .git/info: it belongs to git",
      "not linked: out: git does not ignore it",
      `not in it: 1 uncommitted changes of ${root}`,
    ].join("\n"),
  );
  expect(text(at("api"), "node_modules/m/index.js")).toBe("m");
  expect(lstatSync(join(at("api"), "node_modules")).isSymbolicLink()).toBe(true);
  expect(git(at("api"), "status", "--porcelain")).toBe("");
  expect(git(at("api"), "add", "-A", "-n")).toBe("");
  expect(git(root, "status", "--porcelain")).toBe("?? out/");
  expect(await says("remove_worktree", { name: "api" })).toContain("removed the worktree api");
  expect([text(root, "node_modules/m/index.js"), text(root, "packages/p/node_modules/q.js")]).toEqual(["m", "q"]);
});

test("a folder that leads out of the tree by a link is not linked", async () => {
  const { root, base, says } = await setUp({ files: { ".gitignore": "node_modules\n" }, link: ["node_modules"] });
  put(base, { "elsewhere/x": "x" });
  symlinkSync(join(base, "elsewhere"), join(root, "node_modules"));
  expect(await says("create_worktree", { name: "api" })).toContain("not linked: node_modules: it is not a folder");
});

test("files that could not be written leave a worktree that the next call goes on with", async () => {
  const { root, base, at, says } = await setUp({ files: { "a.txt": "one\n", ".gitattributes": "*.txt filter=big\n" } });
  put(base, { "home/.gitconfig": '[filter "big"]\n\tsmudge = false\n\trequired = true\n' });
  const { HOME } = process.env;
  process.env.HOME = join(base, "home");
  onTestFinished(() => {
    process.env.HOME = HOME;
  });
  expect(await says("create_worktree", { name: "api" })).toMatch(
    /^! the files of the worktree api could not be written/,
  );
  await expect(openWorktrees({ dir: join(at("api"), ".."), root }).placeOf("api")).rejects.toThrow(/is unfinished/);
  writeFileSync(join(base, "home/.gitconfig"), "");
  expect(await says("create_worktree", { name: "api" })).toContain("created the worktree api");
  expect(git(at("api"), "status", "--porcelain")).toBe("");
});

test("a subagent that is to have a tree of its own gets one, and the same one when asked again", async () => {
  const { root, at, worktrees, says, turn } = await setUp();
  const isolate = isolateIn(worktrees);
  const wanted = { context: "ctx_01abcdefgh", agent: "General Purpose.1", root };
  const { root: tree } = await isolate({ ...wanted, turn });
  expect(tree).toBe(at("general-purpose-1-abcdefgh"));
  const name = "general-purpose-1-abcdefgh";
  expect(turn.announced).toEqual([["WorktreeCreate", { name, worktree_path: tree, branch: `holdfast/${name}` }]]);
  expect([await isolate(wanted), git(tree, "rev-parse", "--abbrev-ref", "HEAD")]).toEqual([
    { root: tree },
    "holdfast/general-purpose-1-abcdefgh",
  ]);
  await says("create_worktree", { name: "x-abcdefgh" });
  await expect(isolate({ ...wanted, agent: "x" })).rejects.toThrow(/there is a worktree x-abcdefgh already/);
});

test("hooks are told of it", async () => {
  const { at, says, turn } = await setUp();
  await says("create_worktree", { name: "api" });
  await says("remove_worktree", { name: "api" });
  const payload = { name: "api", worktree_path: at("api"), branch: "holdfast/api" };
  expect(turn.announced).toEqual([
    ["WorktreeCreate", payload],
    ["WorktreeRemove", payload],
  ]);
});

test("what a ledger says of where a worktree is made does not count, only its name", async () => {
  const { root, at, turn } = await setUp();
  git(root, "branch", "other");
  const plan = await turn.intend("create_worktree", { name: "api" });
  const elsewhere = join(root, "..", "elsewhere");
  const forged = { ...(plan as object), path: elsewhere, branch: "other" };
  await turn.resume("create_worktree", { name: "api" }, forged);
  expect([existsSync(elsewhere), existsSync(at("api"))]).toEqual([false, true]);
  await expect(turn.resume("create_worktree", { name: "api" }, { ...forged, name: "../elsewhere" })).rejects.toThrow(
    "cannot be the name of a worktree",
  );
  await expect(turn.resume("remove_worktree", { name: "api" }, { ...forged, name: "../x" })).rejects.toThrow(
    "cannot be the name of a worktree",
  );
});
