// Nothing reaches another project's state: copies, links and git files that point elsewhere; through the command line.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { bin, runProgram } from "./cli.ts";
import {
  at,
  cli,
  everything,
  freshWorlds,
  git,
  look,
  nothing,
  reached,
  repository,
  state,
  work,
} from "./project-world.ts";

freshWorlds();

describe("nothing reaches another project's contexts, board or schedules without a person's yes", () => {
  beforeEach(async () => {
    repository("p");
    await work("p");
  });

  it.each<[string, (evil: string) => void]>([
    ["a .git file that names its git directory", (evil) => write(evil, ".git", `gitdir: ${at("p/.git")}\n`)],
    ["a link to its git directory", (evil) => fs.symlinkSync(at("p/.git"), path.join(evil, ".git"))],
    [
      "a .git file that names one of its worktrees",
      (evil) => {
        git("p", "worktree", "add", "-q", "../wt");
        write(evil, ".git", `gitdir: ${at("p/.git/worktrees/wt")}\n`);
      },
    ],
    [
      "a git directory of its own making that points back, and names the other as the shared one",
      (evil) => {
        write(evil, ".git", "gitdir: made/worktrees/x\n");
        write(evil, "made/worktrees/x/gitdir", path.join(evil, ".git"));
        write(evil, "made/worktrees/x/commondir", at("p/.git"));
      },
    ],
    [
      "a .git directory with a commondir file that names the other's",
      (evil) => {
        git("p", "init", "-q", evil);
        write(evil, ".git/commondir", at("p/.git"));
      },
    ],
    ["a copy", (evil) => execFileSync("cp", ["-a", `${at("p")}/.`, evil])],
    [
      "a copy of a worktree",
      (evil) => {
        git("p", "worktree", "add", "-q", "../wt");
        execFileSync("cp", ["-a", `${at("wt")}/.`, evil]);
      },
    ],
    [
      "a tarball with the other's whole git directory",
      (evil) => {
        execFileSync("tar", ["-cf", at("t.tar"), "-C", at("p"), "."]);
        execFileSync("tar", ["-xf", at("t.tar"), "-C", evil]);
      },
    ],
    [
      "a submodule's .git file that names the other's submodule",
      (evil) => {
        fs.mkdirSync(at("source"));
        repository("source");
        git("p", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", at("source"), "sub");
        write(evil, ".git", `gitdir: ${at("p/.git/modules/sub")}\n`);
      },
    ],
  ])("%s", async (_, make) => {
    fs.mkdirSync(at("evil"));
    make(at("evil"));
    expect(await reached("evil")).toMatchObject(nothing);
    expect((await look("evil", "tasks", "add", "mine")).stdout).toContain("task_1");
    expect(await reached("p")).toEqual({ ...everything, said: [] });
  });

  it.each<[string, () => void]>([
    [
      "a new clone at the old path",
      () => {
        execFileSync("git", ["clone", "-q", at("p"), at("clone")], { stdio: "pipe" });
        fs.rmSync(at("p"), { recursive: true });
        fs.renameSync(at("clone"), at("p"));
      },
    ],
    [
      "a new plain folder at the old path",
      () => {
        fs.rmSync(at("p"), { recursive: true });
        fs.mkdirSync(at("p"));
      },
    ],
    [
      "a copy put in its place",
      () => {
        execFileSync("cp", ["-a", at("p"), at("copy")]);
        fs.rmSync(at("p"), { recursive: true });
        fs.renameSync(at("copy"), at("p"));
      },
    ],
    [
      "another repository in the same folder",
      () => {
        fs.rmSync(at("p/.git"), { recursive: true });
        repository("p");
      },
    ],
    [
      "its git directory moved into another folder",
      () => {
        fs.renameSync(at("p"), at("away"));
        fs.mkdirSync(at("p"));
        fs.renameSync(at("away/.git"), at("p/.git"));
      },
    ],
  ])("%s asks; without a terminal it is one line and exit code 2 until somebody decides", async (_, change) => {
    change();
    expect(await reached("p")).toEqual({ code: 2, said: 3 });
    const refused = await cli("p", "-p", "list Python files");
    expect([refused.code, refused.stdout]).toEqual([2, ""]);
    const [, id] = /holdfast project adopt ([0-9a-f]{8})/.exec(refused.stderr) ?? [];
    expect((await look("p", "project", "adopt", "new")).code).toBe(0);
    expect(await reached("p")).toEqual({ ...nothing, said: [] });
    expect((await look("p", "project", "adopt", id!)).code).toBe(0);
    expect(await reached("p")).toEqual({ ...everything, said: [] });
  });

  it("a worktree's folder replaced behind git's back asks too", async () => {
    git("p", "worktree", "add", "-q", "../wt");
    expect(await reached("wt")).toMatchObject(everything);
    const pointer = fs.readFileSync(at("wt/.git"));
    fs.rmSync(at("wt"), { recursive: true });
    fs.mkdirSync(at("wt"));
    fs.writeFileSync(at("wt/.git"), pointer);
    expect(await reached("wt")).toEqual({ code: 2, said: 3 });
  });

  it("at a terminal a person is asked, and the answer holds", async () => {
    const ask = (said: string) =>
      runProgram("script", ["-qec", `"${process.execPath}" "${bin}" tasks ls`, "/dev/null"], {
        cwd: at("p"),
        state,
        env: { SHELL: "/bin/sh" },
        stdin: said,
      });
    fs.renameSync(at("p"), at("was"));
    fs.mkdirSync(at("p"));
    fs.rmSync(at("was"), { recursive: true });
    const asked = await ask("what?\nn\n");
    expect(asked.stdout.match(/Is this the same project/g)?.length).toBe(1);
    expect(await reached("p")).toEqual({ ...nothing, said: [] });
    fs.rmSync(at("p"), { recursive: true });
    fs.mkdirSync(at("p"));
    await look("p", "project", "adopt", JSON.parse((await look("p", "project", "ls", "--json")).stdout).at(-1).id);
    fs.rmSync(at("p"), { recursive: true });
    fs.mkdirSync(at("p"));
    expect((await ask("y\n")).stdout).toContain("a task");
    expect(await reached("p")).toEqual({ ...everything, said: [] });
  });
});

function write(folder: string, name: string, text: string): void {
  fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
  fs.writeFileSync(path.join(folder, name), text);
}
