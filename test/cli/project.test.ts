// Whose state a folder goes on with: through the command line, with real folders, repositories, mounts and kills.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import type { Script } from "../../src/testing/model-server-script.ts";
import { tempDir } from "../house.ts";
import { bin, type Exited, runCli, runProgram, startCli } from "./cli.ts";

let world: string;
let state: string;
let server: ModelServer | undefined;

beforeEach(() => {
  world = tempDir("projects");
  state = tempDir("state");
  fs.mkdirSync(at("p"));
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  fs.rmSync(world, { recursive: true, force: true });
  fs.rmSync(state, { recursive: true, force: true });
});

const at = (...names: string[]) => path.join(world, ...names);
const cli = (folder: string, ...args: string[]): Promise<Exited> => runCli(args, { cwd: at(folder), state });
const git = (folder: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: at(folder), stdio: "pipe" });
const home = (...names: string[]) => path.join(state, "holdfast", ...names);

function repository(folder: string): void {
  git(folder, "init", "-q");
  git(folder, "commit", "-q", "--allow-empty", "-m", "first");
}

/** What a folder reaches: its board, its contexts, its schedules; and what was said about it. */
async function reached(folder: string) {
  const [tasks, contexts, crons] = [
    await cli(folder, "tasks", "ls", "--json"),
    await cli(folder, "contexts", "ls", "--json"),
    await cli(folder, "cron", "ls", "--json"),
  ];
  const said = [tasks, contexts, crons].flatMap(({ stderr }) => stderr.split("\n").filter(Boolean));
  if (tasks.code !== 0) return { code: tasks.code, said: said.length };
  return {
    tasks: JSON.parse(tasks.stdout).map((one: { subject: string }) => one.subject),
    contexts: JSON.parse(contexts.stdout).map((one: { title: string }) => one.title),
    schedules: JSON.parse(crons.stdout).length,
    said,
  };
}

async function work(folder: string): Promise<void> {
  expect((await cli(folder, "tasks", "add", "a task")).code).toBe(0);
  expect((await cli(folder, "cron", "add", "every day at 9", "look")).code).toBe(0);
}

const everything = { tasks: ["a task"], contexts: ["look"], schedules: 1 };
const nothing = { tasks: [], contexts: [], schedules: 0 };

async function serve(script: Script): Promise<Record<string, string>> {
  server = await startModelServer({ script });
  return { OPENAI_BASE_URL: server.openaiUrl, OPENAI_API_KEY: "dummy" };
}
const MODEL = ["--model", "openai-compatible/mock", "--permission-mode", "bypassPermissions"];

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
    await cli("p", "tasks", "add", "a task");
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
    await cli("p", "tasks", "add", "a task");
    const running = startCli(["-p", "go", ...MODEL], { cwd: at("p"), state, env, stdin: "" });
    await server!.paused();
    git("p", "init", "-q");
    expect((await cli("p", "tasks", "add", "another")).stdout).toContain("task_2");
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
      const [listed] = JSON.parse((await cli(`${name}-new`, "contexts", "ls", "--json")).stdout);
      expect(listed).toMatchObject({ root: at(`${name}-new`), status: "completed" });
      const asked = JSON.stringify(server!.log().requests.at(-1)!.body);
      expect(asked).toContain(`${at(name)} is now ${at(`${name}-new`)}`);
      expect(server!.log().invalid).toEqual([]);
      expect((await cli(`${name}-new`, "contexts", "verify")).code).toBe(0);
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
    const [, older] = JSON.parse((await cli("p", "contexts", "ls", "--json")).stdout);
    await cli("p", "-p", "list Python files", "-r", older.id);
    fs.renameSync(at("p"), at("q"));
    const listed = JSON.parse((await cli("q", "contexts", "ls", "--json")).stdout) as { id: string; title: string }[];
    expect(listed.map((one) => one.title)).toEqual(["run `echo 2 > a.py`", "list Markdown files"]);
    const restored = await cli("q", "contexts", "restore", listed[0]!.id, "prompt 1", "--only", "files", "--force");
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
      const contexts = JSON.parse((await cli(`p${n + 1}`, "contexts", "ls", "--json")).stdout);
      expect(contexts.map((one: { root: string }) => one.root)).toEqual([at(`p${n + 1}`), at(`p${n + 1}`)]);
      const moves = [];
      for (const { id } of contexts) {
        const { events } = JSON.parse((await cli(`p${n + 1}`, "contexts", "show", id, "--json")).stdout);
        moves.push(events.filter((one: { type: string }) => one.type === "context.moved").length);
      }
      expect(moves).toEqual([n + 1, n + 1]);
    }
    expect(await reached("p3")).toMatchObject({ tasks: ["a task"], schedules: 1 });
    expect(JSON.parse((await cli("p3", "project", "ls", "--json")).stdout)).toHaveLength(1);
  });

  it("a context that a process works in stays as it is until that process is done", async () => {
    const env = await serve([{ text: "An answer in several pieces.", faults: [{ pauseAt: 1 }] }]);
    const running = startCli(["-p", "go", ...MODEL], { cwd: at("p"), state, env, stdin: "" });
    await server!.paused();
    fs.renameSync(at("p"), at("q"));
    const root = async () => JSON.parse((await cli("q", "contexts", "ls", "--json")).stdout)[0].root;
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

/** Mounts of its own: nothing outside sees them. */
const canMount = (() => {
  try {
    execFileSync("unshare", ["--mount", "sh", "-c", "mount --bind /tmp /mnt"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

/** Contract: on a build server the mounts must be there, or the tests fail. */
describe.skipIf(!canMount && process.env.CI !== "true")("mounts", () => {
  function inMounts(mounts: string, folder: string, args: string[], env: Record<string, string> = {}): Promise<Exited> {
    const script = `${mounts} && cd "$1" && shift && exec "$@"`;
    const command = ["--mount", "sh", "-ec", script, "sh", at(folder), process.execPath, bin, ...args];
    return runProgram("unshare", command, { cwd: world, state, env });
  }

  it("a bind mount shows the same contexts, tasks and schedules, beside the folder and in its stead", async () => {
    const env = await serve([
      { calls: [{ name: "bash", input: { command: "pwd >> effects.txt" } }] },
      { text: "ALL DONE" },
    ]);
    await work("p");
    fs.mkdirSync(at("b"));
    const bind = `mount --bind ${at("p")} ${at("b")}`;
    const beside = await inMounts(bind, "b", ["tasks", "ls"]);
    expect([beside.code, beside.stdout, beside.stderr.match(/found again/g)?.length]).toEqual([
      0,
      expect.stringContaining("a task"),
      1,
    ]);
    expect(await reached("p")).toEqual({ ...everything, said: [] });
    const opts = { cwd: at("p"), state, env: { ...env, HOLDFAST_CRASH_AT: "intent.durable:1" } };
    expect((await runCli(["-p", "go", ...MODEL], opts)).signal).toBe("SIGKILL");
    const hidden = `${bind} && mount -t tmpfs none ${at("p")}`;
    const instead = await inMounts(hidden, "b", ["-c", "-p", ...MODEL], env);
    expect([instead.code, instead.stdout.trim()]).toEqual([0, "ALL DONE"]);
    expect(fs.readFileSync(at("p/effects.txt"), "utf8")).toBe(`${at("b")}\n`);
    await cli("p", "tasks", "ls");
    const roots = JSON.parse((await cli("p", "contexts", "ls", "--json")).stdout).map(
      (one: { root: string }) => one.root,
    );
    expect(roots).toEqual([at("p"), at("p")]);
  });

  it("a read-only state directory says so in one line, and what is there can be read", async () => {
    await work("p");
    fs.mkdirSync(at("other"));
    const readOnly = `mount --bind ${state} ${state} && mount -o remount,ro,bind ${state}`;
    const fresh = await inMounts(readOnly, "other", ["tasks", "ls"]);
    expect([fresh.code, fresh.stderr]).toEqual([
      2,
      expect.stringMatching(/^holdfast: the state directory .* cannot be written .*--state.*\n$/),
    ]);
    const empty = `${readOnly} && export XDG_STATE_HOME=${state}/deeper/still`;
    expect((await inMounts(empty, "other", ["tasks", "ls"])).stderr).toMatch(/cannot be written .*read-only/i);
  });
});

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
    expect((await cli("evil", "tasks", "add", "mine")).stdout).toContain("task_1");
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
    expect((await cli("p", "project", "adopt", "new")).code).toBe(0);
    expect(await reached("p")).toEqual({ ...nothing, said: [] });
    expect((await cli("p", "project", "adopt", id!)).code).toBe(0);
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
    await cli("p", "project", "adopt", JSON.parse((await cli("p", "project", "ls", "--json")).stdout).at(-1).id);
    fs.rmSync(at("p"), { recursive: true });
    fs.mkdirSync(at("p"));
    expect((await ask("y\n")).stdout).toContain("a task");
    expect(await reached("p")).toEqual({ ...everything, said: [] });
  });
});

describe("holdfast project", () => {
  const projects = async (folder = "p") => JSON.parse((await cli(folder, "project", "ls", "--json")).stdout);

  it("lists whose state lies where, forgets the link and not the data, and adopts it again from anywhere", async () => {
    expect((await cli("p", "project", "ls")).stderr).toContain("No projects yet");
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
    const forgot = await cli("p", "project", "forget", own.id.slice(0, 8));
    expect([forgot.code, forgot.stdout]).toEqual([0, expect.stringContaining(own.stateDir)]);
    expect(await reached("p")).toEqual({ ...nothing, said: [] });
    expect((await projects()).map((one: { unlinked: boolean; here: boolean }) => [one.unlinked, one.here])).toEqual([
      [false, true],
      [true, false],
    ]);
    fs.mkdirSync(at("else"));
    expect((await cli("else", "project", "adopt", own.id)).code).toBe(0);
    expect(await reached("else")).toEqual({ ...everything, said: [] });
    for (const wrong of [["adopt", "0000-none"], ["forget", at("nowhere")], ["adopt"], ["remove", own.id]])
      expect([wrong, (await cli("p", "project", ...wrong)).code]).toEqual([wrong, 2]);
    expect(await reached("else")).toEqual({ ...everything, said: [] });
  });

  it("adopts by the path of a folder that is gone; its contexts work here from then on", async () => {
    fs.writeFileSync(at("p/a.py"), "1\n");
    await cli("p", "-p", "list Python files");
    execFileSync("cp", ["-a", at("p"), at("copy")]);
    fs.rmSync(at("p"), { recursive: true });
    expect((await cli("copy", "project", "adopt", at("p"))).code).toBe(0);
    const [context] = JSON.parse((await cli("copy", "contexts", "ls", "--json")).stdout);
    expect(context.root).toBe(at("copy"));
    expect((await cli("copy", "-c", "-p", "list Python files")).stdout).toContain("a.py");
  });

  it("names the state of a folder of the same name that is gone: it may have come from another disk", async () => {
    await work("p");
    fs.mkdirSync(at("disk"));
    execFileSync("cp", ["-a", at("p"), at("disk/p")]); // as mv does between file systems
    fs.rmSync(at("p"), { recursive: true });
    const first = await cli("disk/p", "tasks", "ls");
    const [, id] = /not there any more.*holdfast project adopt ([0-9a-f]{8})/.exec(first.stderr) ?? [];
    expect((await reached("disk/p")).tasks).toEqual([]);
    expect((await cli("disk/p", "project", "adopt", id!)).code).toBe(0);
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
      expect((await cli("p", "contexts", "verify", "--repair")).code).toBe(0);
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
    await cli("p", "tasks", "add", "a task", "--state", file);
    fs.mkdirSync(at("q"));
    expect((await cli("q", "tasks", "ls", "--state", file)).stdout).toContain("a task");
    fs.writeFileSync(at("project.json"), "{");
    expect((await cli("q", "tasks", "ls", "--state", file)).stdout).toContain("a task");
    expect((await cli("q", "project", "ls", "--state", file)).code).toBe(2);
  });
});

function write(folder: string, name: string, text: string): void {
  fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
  fs.writeFileSync(path.join(folder, name), text);
}
