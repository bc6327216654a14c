// What git keeps of work that stopped in the middle is a list of commands for somebody's next `--continue`: only git's own commands that stop there write it.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { setUp, works } from "../jobs/sandboxed.ts";

const NAMED = "-c user.name=n -c user.email=e@x -c core.editor=true";

/** A repository with two branches that change the same line, `side` by two commits. */
function repository() {
  const cage = setUp();
  const git = (args: string) =>
    execFileSync("bash", ["-c", `git ${NAMED} ${args}`], { cwd: cage.root, encoding: "utf8" });
  git("init -q -b main");
  const commit = (text: string) => git(`commit -q --allow-empty -am ${text}`);
  const put = (text: string) => writeFileSync(join(cage.root, "f"), `${text}\n`);
  put("0");
  git("add f");
  commit("zero");
  git("checkout -q -b side");
  for (const text of ["one", "two"]) {
    put(text);
    commit(text);
  }
  git("checkout -q main");
  put("main");
  commit("main");
  const asGit = async (command: string) =>
    (await cage.turn.call("bash", { command: command.replaceAll("git ", `git ${NAMED} `) }, { grants: { git: true } }))
      .content as string;
  return { ...cage, git, asGit };
}

test.runIf(works)("rebase, cherry-pick, revert and bisect stop in the middle and go on", async () => {
  const { git, asGit, text } = repository();
  const heads = () => git("log --format=%s").trim().split("\n").join(" ");
  expect(await asGit("git rebase main side")).toContain("CONFLICT");
  expect(text("project/.git/rebase-merge/head-name")).toBe("refs/heads/side\n");
  expect(await asGit("echo one > f; git add f; git rebase --continue")).toContain("Successfully rebased");
  expect(heads()).toBe("two one main zero");
  git("checkout -q -B again main~1");
  expect(await asGit("git cherry-pick side~1 side")).toContain("CONFLICT");
  await asGit("echo one > f; git add f; git cherry-pick --continue");
  expect(heads()).toBe("two one zero");
  git("checkout -q -B third main");
  await asGit("git revert --no-edit HEAD");
  expect(heads()).toBe('Revert "main" main zero');
  expect(await asGit("git bisect start HEAD HEAD~2 && git bisect good && git bisect reset")).toContain(
    "is the first bad commit",
  );
});

test.runIf(works)(
  "a hook that runs code of the project plants nothing that git would run or follow later, and the commit is made",
  async () => {
    const { root, git, asGit } = repository();
    const before = readdirSync(join(root, ".git")).sort();
    writeFileSync(join(root, ".git/hooks/pre-commit"), "#!/bin/sh\n. ./plant.sh\n");
    chmodSync(join(root, ".git/hooks/pre-commit"), 0o755);
    const plant = [
      "mkdir -p .git/rebase-merge .git/rebase-apply .git/sequencer .git/remotes .git/modules/x",
      "echo 'exec touch PWNED' | tee .git/rebase-merge/git-rebase-todo .git/rebase-apply/next .git/sequencer/todo .git/BISECT_LOG .git/modules/x/config",
      "echo /elsewhere > .git/objects/info/alternates",
      "echo 'URL: https://elsewhere.example' > .git/remotes/origin",
    ];
    writeFileSync(join(root, "plant.sh"), `{ ${plant.join("\n")}\n} >/dev/null 2>&1\n`);
    const said = await asGit("echo x > f; git commit -qam planted");
    expect(said).toContain("taken away");
    expect(git("log -1 --format=%s")).toBe("planted\n");
    expect(readdirSync(join(root, ".git")).sort()).toEqual(
      [...before, "COMMIT_EDITMSG"].sort().filter((n, i, all) => n !== all[i - 1]),
    );
    expect(existsSync(join(root, ".git/objects/info/alternates"))).toBe(false);
  },
);

test.runIf(works)("work of the user's that stopped is not changed by what does not go on with it", async () => {
  const { root, git, run, asGit, text } = repository();
  expect(() => git("rebase main side 2>/dev/null")).toThrow();
  mkdirSync(join(root, ".git/objects/info"), { recursive: true });
  writeFileSync(join(root, ".git/objects/info/alternates"), "");
  const todo = text("project/.git/rebase-merge/git-rebase-todo");
  const attack =
    "echo 'exec touch PWNED' >> .git/rebase-merge/git-rebase-todo; mv .git/rebase-merge .git/r2; mv .git/objects/info .git/objects/i2; mkdir -p .git/objects/info; echo /elsewhere > .git/objects/info/alternates";
  await run(attack);
  await asGit(`git status; ${attack}`);
  expect([text("project/.git/rebase-merge/git-rebase-todo"), text("project/.git/objects/info/alternates")]).toEqual([
    todo,
    "",
  ]);
  expect(await asGit("echo one > f; git add f; git commit -qm one; git status")).toContain("rebase in progress");
  expect(await asGit("git rebase --abort; git status")).toContain("On branch side");
});
