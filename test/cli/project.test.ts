// `holdfast project`, and what the index of places survives.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
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

const home = (...names: string[]) => path.join(state, "holdfast", ...names);

describe("holdfast project", () => {
  const projects = async (folder = "p") => JSON.parse((await look(folder, "project", "ls", "--json")).stdout);

  it("lists whose state lies where, forgets the link and not the data, and adopts it again from anywhere", async () => {
    expect((await look("p", "project", "ls")).stderr).toContain("No projects yet");
    await work("p");
    const [own] = await projects();
    expect(own).toEqual({
      id: expect.any(String),
      stateDir: expect.stringContaining(home("projects")),
      folders: [{ path: at("p"), there: true }],
      unlinked: false,
      here: true,
      usedAt: expect.any(Number),
    });
    const forgot = await look("p", "project", "forget", own.id.slice(0, 8));
    expect([forgot.code, forgot.stdout]).toEqual([0, expect.stringContaining(own.stateDir)]);
    expect(await reached("p")).toEqual({ ...nothing, said: [] });
    expect((await projects()).map((one: { unlinked: boolean; here: boolean }) => [one.unlinked, one.here])).toEqual([
      [false, true],
      [true, false],
    ]);
    fs.mkdirSync(at("else"));
    expect((await look("else", "project", "adopt", own.id)).code).toBe(0);
    expect(await reached("else")).toEqual({ ...everything, said: [] });
    for (const wrong of [["adopt", "0000-none"], ["forget", at("nowhere")], ["adopt"], ["remove", own.id]])
      expect([wrong, (await look("p", "project", ...wrong)).code]).toEqual([wrong, 2]);
    expect(await reached("else")).toEqual({ ...everything, said: [] });
  });

  it("adopts by the path of a folder that is gone; its contexts work here from then on", async () => {
    fs.writeFileSync(at("p/a.py"), "1\n");
    await cli("p", "-p", "list Python files");
    execFileSync("cp", ["-a", at("p"), at("copy")]);
    fs.rmSync(at("p"), { recursive: true });
    expect((await look("copy", "project", "adopt", at("p"))).code).toBe(0);
    const [context] = JSON.parse((await look("copy", "contexts", "ls", "--json")).stdout);
    expect(context.root).toBe(at("copy"));
    expect((await cli("copy", "-c", "-p", "list Python files")).stdout).toContain("a.py");
  });

  it("names the state of a folder of the same name that is gone: it may have come from another disk", async () => {
    await work("p");
    fs.mkdirSync(at("disk"));
    execFileSync("cp", ["-a", at("p"), at("disk/p")]); // as mv does between file systems
    fs.rmSync(at("p"), { recursive: true });
    const first = await look("disk/p", "tasks", "ls");
    const [, id] = /not there any more.*holdfast project adopt ([0-9a-f]{8})/.exec(first.stderr) ?? [];
    expect((await reached("disk/p")).tasks).toEqual([]);
    expect((await look("disk/p", "project", "adopt", id!)).code).toBe(0);
    expect(await reached("disk/p")).toEqual({ ...everything, said: [] });
  });

  it("eight first starts at once make one project", async () => {
    repository("p");
    git("p", "worktree", "add", "-q", "../wt");
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, n) => cli(n % 2 ? "wt" : "p", "tasks", "add", `task ${n}`)),
    );
    expect(all.map(({ code }) => code)).toEqual(Array(8).fill(0));
    expect((await reached("p")).tasks?.length).toBe(8);
    expect(await projects()).toHaveLength(1);
  });

  it("what cannot be read of the index, or of what a project says of itself, is built anew", async () => {
    await work("p");
    const [own] = await projects();
    const [place] = fs.readdirSync(home("places"));
    for (const damage of ["", "{", "[]", '{"id":1}', "\0\0\0"]) {
      fs.writeFileSync(path.join(own.stateDir, "project.json"), damage);
      expect(await reached("p")).toEqual({ ...everything, said: [] });
      expect((await look("p", "contexts", "verify", "--repair")).code).toBe(0);
      fs.writeFileSync(home("places", place!), damage);
      expect(await reached("p")).toEqual({ ...everything, said: [] });
    }
    repository("p");
    git("p", "worktree", "add", "-q", "../wt");
    expect((await reached("p")).tasks).toEqual(["a task"]);
    fs.rmSync(home("places"), { recursive: true });
    expect((await reached("wt")).tasks).toEqual(["a task"]);
    fs.rmSync(home("places"), { recursive: true });
    fs.renameSync(at("p"), at("q"));
    expect((await reached("q")).tasks).toEqual(["a task"]);
  });

  it("what older versions kept is used in place, and moves with the folder from then on", async () => {
    await work("p");
    repository("p");
    for (const [key, change] of [
      [at("p"), "repository"], // made before git init, which came with the old version too
      [at("p/.git"), undefined],
    ] as const) {
      const [own] = await projects("p");
      const older = home("projects", createHash("sha256").update(key).digest("hex").slice(0, 16));
      fs.renameSync(own.stateDir, older);
      fs.writeFileSync(path.join(older, "project.json"), `${JSON.stringify({ id: own.id, path: key })}\n`);
      fs.rmSync(home("places"), { recursive: true });
      const said = change === undefined ? [] : [expect.stringContaining("has a git repository now")];
      expect(await reached("p")).toEqual({ ...everything, said });
      expect((await projects("p")).map((one: { stateDir: string }) => one.stateDir)).toEqual([older]);
    }
    fs.renameSync(at("p"), at("q"));
    expect(await reached("q")).toMatchObject(everything);
  });

  it("needs no hard links", async () => {
    const strace = ["-f", "-qq", "-o", "/dev/null", "-e", "trace=link,linkat", "-e", "inject=link,linkat:error=EPERM"];
    const done = await runProgram("strace", [...strace, process.execPath, bin, "tasks", "add", "a task"], {
      cwd: at("p"),
      state,
    });
    expect([done.code, done.stdout]).toEqual([0, expect.stringContaining("task_1")]);
  });

  it("--state sqlite:FILE names the very file, whatever the folder is", async () => {
    const file = `sqlite:${at("own.db")}`;
    await look("p", "tasks", "add", "a task", "--state", file);
    fs.mkdirSync(at("q"));
    expect((await look("q", "tasks", "ls", "--state", file)).stdout).toContain("a task");
    fs.writeFileSync(at("project.json"), "{");
    expect((await look("q", "tasks", "ls", "--state", file)).stdout).toContain("a task");
    expect((await look("q", "project", "ls", "--state", file)).code).toBe(2);
  });
});
