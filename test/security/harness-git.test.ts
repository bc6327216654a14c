// The harness's own git, which runs outside the sandbox, starts nothing that a repository brings: not by its settings, whatever branch they
// are for, and not by those of a repository that somebody put into the tree.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCli } from "../cli/cli.ts";
import { openCage } from "./cage.ts";

const git = (cwd: string, args: string[], input?: string): string =>
  execFileSync("git", ["-c", "user.name=n", "-c", "user.email=e@x", "-c", "init.defaultBranch=main", ...args], {
    ...{ cwd, encoding: "utf8", input, stdio: ["pipe", "pipe", "ignore"] },
    env: { PATH: process.env.PATH, HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" },
  }).trim();

/** Each program leaves a file of its name; `ran` gives and forgets them. */
function openTraps(base: string) {
  const dir = join(base, "ran");
  const programs = join(base, "traps");
  for (const path of [dir, programs]) mkdirSync(path);
  return {
    trap(name: string) {
      const path = join(programs, name);
      writeFileSync(path, `#!/bin/sh\ntouch ${join(dir, name)}\ncat\n`, { mode: 0o755 });
      return path;
    },
    ran() {
      const names = readdirSync(dir).sort();
      for (const name of names) rmSync(join(dir, name));
      return names;
    },
  };
}

/** With a file that git has to read to know whether it changed. */
function embed(dir: string, settings: string): void {
  git(join(dir, ".."), ["init", "-q", dir]);
  writeFileSync(join(dir, ".gitattributes"), "* filter=evil diff=evil\n");
  writeFileSync(join(dir, "f"), "one\n");
  git(dir, ["add", "-A"]);
  git(dir, ["commit", "-qm", "x"]);
  writeFileSync(join(dir, ".git/config"), settings, { flag: "a" });
  touch(dir);
}

const touch = (dir: string) => utimesSync(join(dir, "f"), new Date(), new Date());

const evil = (trap: (name: string) => string, from: string) =>
  [
    `[core]\n\tfsmonitor = ${trap(`${from}-fsmonitor`)}\n\thooksPath = hooks\n`,
    ...["clean", "smudge"].map((part) => `[filter "evil"]\n\t${part} = ${trap(`${from}-${part}`)}\n`),
    ...["textconv", "command"].map((part) => `[diff "evil"]\n\t${part} = ${trap(`${from}-${part}`)}\n`),
    `[diff]\n\texternal = ${trap(`${from}-external`)}\n\tsubmodule = diff\n\tignoreSubmodules = none\n`,
    `[log]\n\tshowSignature = true\n[gpg]\n\tprogram = ${trap(`${from}-gpg`)}\n[gpg "ssh"]\n\tprogram = ${trap(`${from}-gpg-ssh`)}\n`,
    `[status]\n\tsubmoduleSummary = true\n[submodule]\n\trecurse = true\n[submodule "sub"]\n\tignore = none\n`,
  ].join("");

test("worktrees are made, listed, shown, compared, merged and removed without a program of the repository's, of one that lies in it, or of settings for another branch", async () => {
  const { base, root, opts, run } = openCage({
    "home/.gitconfig": "[user]\n\tname = me\n\temail = me@x\n",
    "project/a.txt": "one\n",
    "project/own.txt": "one\n",
    "project/.gitattributes": "*.txt filter=evil diff=evil merge=evil\n",
    "project/.gitmodules": '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n',
  });
  const { trap, ran } = openTraps(base);
  git(root, ["init", "-q"]);
  embed(join(root, "sub"), evil(trap, "sub"));
  git(root, ["add", "-A"]);
  git(root, ["commit", "-qm", "one"]);
  ran();
  for (const from of ["onbranch", "gitdir", "hasconfig"])
    writeFileSync(join(root, ".git", from), evil(trap, from).replaceAll("evil", from === "onbranch" ? "evil" : from));
  writeFileSync(
    join(root, ".git/config"),
    [
      '[includeIf "onbranch:holdfast/**"]\n\tpath = onbranch\n',
      '[includeIf "gitdir:**/worktrees/**"]\n\tpath = gitdir\n',
      '[remote "x"]\n\turl = https://example.invalid/x\n[includeIf "hasconfig:remote.*.url:https://**"]\n\tpath = hasconfig\n',
    ].join(""),
    { flag: "a" },
  );
  writeFileSync(join(root, ".git/info/attributes"), "own.txt filter=gitdir\na.txt filter=evil\n");
  touch(join(root, "sub"));

  const [made] = await run([{ name: "create_worktree", input: { name: "w1" } }], "--stay");
  expect(made).toContain("created the worktree w1");
  const tree = /in (\/\S+\/worktrees\/w1)/.exec(made!)![1]!;
  const said: Record<string, unknown> = { create: [readFileSync(join(tree, "a.txt"), "utf8"), ran()] };

  // What an agent may leave: a signed commit, a repository of its own that is kept as if it were a submodule, work that is not committed.
  const blind = [
    "-c",
    "filter.evil.clean=",
    "-c",
    "filter.evil.process=",
    "-c",
    "core.fsmonitor=",
    "-c",
    "log.showSignature=false",
  ];
  const parent = git(tree, [...blind, "rev-parse", "HEAD"]);
  embed(join(tree, "nest"), evil(trap, "nest"));
  git(tree, [
    ...blind,
    "update-index",
    "--add",
    "--cacheinfo",
    `160000,${git(join(tree, "nest"), ["rev-parse", "HEAD"])},nest`,
  ]);
  const signed = `tree ${git(tree, [...blind, "write-tree"])}\nparent ${parent}\nauthor a <a@b> 1700000000 +0000\ncommitter a <a@b> 1700000000 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nsigned\n`;
  const id = git(root, [...blind, "hash-object", "-t", "commit", "-w", "--stdin"], signed);
  git(root, [...blind, "update-ref", "refs/heads/holdfast/w1", id]);
  writeFileSync(join(tree, "a.txt"), "two\n");
  writeFileSync(join(tree, "new.txt"), "new\n");
  // And the user's own tree has gone on, with something uncommitted.
  writeFileSync(join(root, "b.txt"), "b\n");
  git(root, [...blind, "update-index", "--add", "b.txt"]);
  git(root, [...blind, "commit", "-qm", "two"]);
  writeFileSync(join(root, "own.txt"), "mine\n");
  ran();

  const out: string[] = [];
  for (const words of ["ls", "show w1", "diff w1", "merge w1 --commit", "ls --all", "rm w1"]) {
    for (const dir of [join(root, "sub"), join(tree, "nest")]) touch(dir);
    const { code, stdout, stderr } = await runCli(["worktrees", ...words.split(" ")], opts);
    said[words] = [code, ran()];
    out.push(`${stdout}${stderr}`);
  }
  expect(said, out.join("\n")).toEqual({
    create: ["one\n", []],
    ...{ ls: [0, []], "show w1": [0, []], "diff w1": [0, []], "merge w1 --commit": [0, []], "ls --all": [0, []] },
    "rm w1": [1, []], // git removes none with a submodule in it
  });
  expect(out[1]).toContain("signed");
  expect(["a.txt", "new.txt", "b.txt", "own.txt"].map((name) => readFileSync(join(root, name), "utf8"))).toEqual([
    ...["two\n", "new\n", "b\n", "mine\n"],
  ]);
  expect(git(root, [...blind, "log", "-1", "--format=%s %an %P"])).toMatch(
    /^Merge branch 'holdfast\/w1' into main me \w+ \w+$/,
  );

  // The traps work: without us git runs them.
  touch(join(root, "sub"));
  git(root, ["status"]);
  git(tree, ["log", "-2"]);
  expect(ran()).toEqual(expect.arrayContaining(["hasconfig-gpg", "sub-clean", "sub-fsmonitor"]));
}, 60_000);
