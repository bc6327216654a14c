// What changed around a folder is found again: git, moves, kills, second worktrees; through the command line.
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { runCli, startCli } from "./cli.ts";
import {
  at,
  cli,
  everything,
  freshWorlds,
  git,
  look,
  MODEL,
  nothing,
  reached,
  repository,
  serve,
  server,
  state,
  work,
} from "./project-world.ts";

freshWorlds();

describe("what changed around a folder is found again, with one line", () => {
  it("git init in a plain folder", async () => {
    await work("p");
    repository("p");
    const found = await reached("p");
    expect(found).toEqual({ ...everything, said: [expect.stringMatching(/has a git repository now.*found again/)] });
    expect(await reached("p")).toEqual({ ...everything, said: [] });
    fs.mkdirSync(at("p/sub"));
    expect(await reached("p/sub")).toEqual({ ...everything, said: [] });
  });

  it("git init by the agent itself, killed, and taken up again", async () => {
    const command = "git init -q . && echo one >> effects.txt";
    const env = await serve([{ calls: [{ name: "bash", input: { command } }] }, { text: "ALL DONE" }]);
    await look("p", "tasks", "add", "a task");
    const opts = { cwd: at("p"), state };
    const killed = await runCli(["-p", "go", ...MODEL], {
      ...opts,
      env: { ...env, HOLDFAST_CRASH_AT: "effect.done:1" },
    });
    expect(killed.signal).toBe("SIGKILL");
    const again = await runCli(["-c", "-p", ...MODEL], { ...opts, env });
    expect([again.code, again.stdout.trim(), again.stderr.match(/found again/g)?.length]).toEqual([0, "ALL DONE", 1]);
    expect(fs.readFileSync(at("p/effects.txt"), "utf8")).toBe("one\n");
    expect(await reached("p")).toEqual({ tasks: ["a task"], contexts: ["go"], schedules: 0, said: [] });
  });

  it("git init while a process works: there is still one board", async () => {
    const env = await serve([{ text: "An answer in several pieces.", faults: [{ pauseAt: 1 }] }]);
    await look("p", "tasks", "add", "a task");
    const running = startCli(["-p", "go", ...MODEL], { cwd: at("p"), state, env, stdin: "" });
    await server!.paused();
    git("p", "init", "-q");
    expect((await look("p", "tasks", "add", "another")).stdout).toContain("task_2");
    server!.release();
    expect((await running.exited).code).toBe(0);
    expect(await reached("p")).toEqual({ tasks: ["a task", "another"], contexts: ["go"], schedules: 0, said: [] });
  });

  it("a moved folder, and one moved with a repository that was made meanwhile", async () => {
    await work("p");
    fs.renameSync(at("p"), at("q"));
    const found = await reached("q");
    expect(found).toEqual({ ...everything, said: [expect.stringContaining(`this folder was ${at("p")}`)] });
    expect(await reached("q")).toEqual({ ...everything, said: [] });
    repository("q");
    fs.renameSync(at("q"), at("r"));
    expect(await reached("r")).toEqual({
      ...everything,
      said: [expect.stringContaining(`this folder was ${at("q")}`)],
    });
    fs.mkdirSync(at("p")); // somebody else's folder, where it once was
    expect(await reached("p")).toEqual({ ...nothing, said: [] });
  });

  it("killed, moved, taken up: the work goes on in the new place, once", async () => {
    const env = await serve([
      { calls: [{ name: "write_file", input: { path: "sub/new.txt", content: "written\n" } }] },
      { calls: [{ name: "bash", input: { command: "pwd >> effects.txt" } }] },
      { text: "ALL DONE" },
    ]);
    for (const point of ["intent.durable:1", "effect.done:1", "intent.durable:2", "effect.done:2"]) {
      const name = point.replace(/\W/g, "");
      fs.mkdirSync(at(name, "sub"), { recursive: true });
      const crash = { ...env, HOLDFAST_CRASH_AT: point };
      const killed = await runCli(["-p", "go", ...MODEL], { cwd: at(name), state, env: crash });
      expect(killed.signal).toBe("SIGKILL");
      fs.renameSync(at(name), at(`${name}-new`));
      const again = await runCli(["-c", "-p", ...MODEL], { cwd: at(`${name}-new`), state, env });
      expect([point, again.code, again.stdout.trim()]).toEqual([point, 0, "ALL DONE"]);
      const text = (file: string) => fs.readFileSync(at(`${name}-new`, file), "utf8");
      // What ran before the move says where it ran.
      const ran = point === "effect.done:2" ? at(name) : at(`${name}-new`);
      expect([text("sub/new.txt"), text("effects.txt")]).toEqual(["written\n", `${ran}\n`]);
      expect(fs.existsSync(at(name))).toBe(false);
      const [listed] = JSON.parse((await look(`${name}-new`, "contexts", "ls", "--json")).stdout);
      expect(listed).toMatchObject({ root: at(`${name}-new`), status: "completed" });
      const asked = JSON.stringify(server!.log().requests.at(-1)!.body);
      expect(asked).toContain(`${at(name)} is now ${at(`${name}-new`)}`);
      expect(server!.log().invalid).toEqual([]);
      expect((await look(`${name}-new`, "contexts", "verify")).code).toBe(0);
      server!.reset();
    }
  });

  it("a command that ended before the move ended where the tree is now: the model reads no note about it", async () => {
    for (const [n, command] of ["pwd", "cd sub && pwd", "cd / && pwd"].entries()) {
      const [was, is] = [at(`was${n}`), at(`is${n}`)];
      fs.mkdirSync(path.join(was, "sub"), { recursive: true });
      const calls = (text: string) => ({ calls: [{ name: "bash", input: { command: text } }] });
      const env = await serve([calls(command), calls("pwd"), { text: "ALL DONE" }]);
      const crash = { ...env, HOLDFAST_CRASH_AT: "effect.done:1" };
      expect((await runCli(["-p", "go", ...MODEL], { cwd: was, state, env: crash })).signal).toBe("SIGKILL");
      fs.renameSync(was, is);
      expect((await runCli(["-c", "-p", ...MODEL], { cwd: is, state, env })).code).toBe(0);
      const { messages } = server!.log().requests.at(-1)!.body as { messages: { role: string; content: string }[] };
      expect(messages.filter(({ role }) => role === "tool").map(({ content }) => content)).toEqual(
        [
          [was, is],
          [path.join(was, "sub"), path.join(is, "sub")],
          [`/\n[directory stays ${is}: / is outside ${is}]`, is],
        ][n],
      );
      await server!.close();
    }
  });

  it("the newest context stays the newest in a moved folder, and a checkpoint's files come back there", async () => {
    fs.writeFileSync(at("p/a.py"), "1\n");
    await cli("p", "-p", "run `echo 2 > a.py`", "--permission-mode", "bypassPermissions");
    await cli("p", "-p", "list Markdown files");
    const [, older] = JSON.parse((await look("p", "contexts", "ls", "--json")).stdout);
    await cli("p", "-p", "list Python files", "-r", older.id);
    fs.renameSync(at("p"), at("q"));
    const listed = JSON.parse((await look("q", "contexts", "ls", "--json")).stdout) as { id: string; title: string }[];
    expect(listed.map((one) => one.title)).toEqual(["run `echo 2 > a.py`", "list Markdown files"]);
    const restored = await look("q", "contexts", "restore", listed[0]!.id, "prompt 1", "--only", "files", "--force");
    expect([restored.code, fs.readFileSync(at("q/a.py"), "utf8")]).toEqual([0, "1\n"]);
    expect(fs.existsSync(at("p"))).toBe(false);
  });

  it("a kill at any moment of this loses nothing and makes nothing twice", async () => {
    const crash = (folder: string, point: string, ...args: string[]) =>
      runCli(args, { cwd: at(folder), state, env: { HOLDFAST_CRASH_AT: point } });
    expect((await crash("p", "project.made", "tasks", "ls")).signal).toBe("SIGKILL");
    await work("p");
    await cli("p", "-p", "list Python files");
    for (const [n, point] of ["place.recorded", "root.moved:1", "root.moved:2"].entries()) {
      fs.renameSync(at(n === 0 ? "p" : `p${n}`), at(`p${n + 1}`));
      expect([point, (await crash(`p${n + 1}`, point, "contexts", "ls")).signal]).toEqual([point, "SIGKILL"]);
      const contexts = JSON.parse((await look(`p${n + 1}`, "contexts", "ls", "--json")).stdout);
      expect(contexts.map((one: { root: string }) => one.root)).toEqual([at(`p${n + 1}`), at(`p${n + 1}`)]);
      const moves = [];
      for (const { id } of contexts) {
        const { events } = JSON.parse((await look(`p${n + 1}`, "contexts", "show", id, "--json")).stdout);
        moves.push(events.filter((one: { type: string }) => one.type === "context.moved").length);
      }
      expect(moves).toEqual([n + 1, n + 1]);
    }
    expect(await reached("p3")).toMatchObject({ tasks: ["a task"], schedules: 1 });
    expect(JSON.parse((await look("p3", "project", "ls", "--json")).stdout)).toHaveLength(1);
  });

  it("a context that a process works in stays as it is until that process is done", async () => {
    const env = await serve([{ text: "An answer in several pieces.", faults: [{ pauseAt: 1 }] }]);
    const running = startCli(["-p", "go", ...MODEL], { cwd: at("p"), state, env, stdin: "" });
    await server!.paused();
    fs.renameSync(at("p"), at("q"));
    const root = async () => JSON.parse((await look("q", "contexts", "ls", "--json")).stdout)[0].root;
    expect(await root()).toBe(at("p"));
    server!.release();
    expect((await running.exited).code).toBe(0);
    expect(await root()).toBe(at("q"));
  });

  it("a second git worktree, from whichever tree the first work came", async () => {
    repository("p");
    git("p", "worktree", "add", "-q", "../wt");
    await work("wt");
    const shared = { ...everything, said: [expect.stringContaining("a tree of the repository")] };
    expect(await reached("p")).toEqual(shared);
    git("p", "worktree", "add", "-q", "../wt2");
    expect(await reached("wt2")).toEqual(shared);
    expect(await reached("wt2")).toEqual({ ...everything, said: [] });
    git("p", "worktree", "remove", "../wt2");
    git("p", "worktree", "add", "-q", "../wt2", "-B", "wt2");
    expect(await reached("wt2")).toEqual(shared); // git made it anew
  });
});
