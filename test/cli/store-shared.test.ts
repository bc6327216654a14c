// A store that several machines share, from the command line: who is waited for, whose worktrees there are, whose project a name is.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { openRedisStore } from "../../src/ledger/redis/index.ts";
import { openWorktrees } from "../../src/mechanisms/worktrees/index.ts";
import { hasRedis, type RedisServer, startRedis } from "../ledger/redis-server.ts";
import { scratch } from "../turn.ts";
import { type CliOptions, runCli, startCli, startInTerminal } from "./cli.ts";

const LEASE_MS = 1_500;

interface World {
  server: RedisServer;
  /** A folder with a repository, and a user's state of its own: a machine, as far as that knows. */
  machine(name: string, project?: string): CliOptions;
}

async function setUp(): Promise<World> {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const world = fs.realpathSync(scratch(onTestFinished));
  return {
    server,
    machine(name, project = "shop") {
      const cwd = path.join(world, name, "repository");
      fs.mkdirSync(cwd, { recursive: true });
      const git = (...args: string[]) =>
        execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd, stdio: "pipe" });
      git("init", "-q");
      git("commit", "-q", "--allow-empty", "-m", "first");
      const env = { HOLDFAST_STATE: server.url(project), HOLDFAST_LEASE_MS: String(LEASE_MS) };
      return { cwd, state: path.join(world, name, "home"), env };
    },
  };
}

const MODEL = ["--model", "rehearsal"];
const begin = async (opts: CliOptions, words = "hello") => {
  const { code, stderr } = await runCli(["-p", words, ...MODEL], opts);
  expect(code, stderr).toBe(0);
  const [info] = JSON.parse((await runCli(["contexts", "ls", "--json"], opts)).stdout) as { id: string }[];
  return info!.id;
};

const OTHER = { machine: "box-2", boot: "another", pid: 4711, startedAt: "1", interactive: false };

describe.runIf(hasRedis())("a store that several machines share", { timeout: 60_000 }, () => {
  test("who goes on with a context that another machine holds is told who, how long that is waited for, and what else can be done", async () => {
    const { server, machine } = await setUp();
    const here = machine("here");
    const context = await begin(here);
    const key = `hf:{shop}:lease:agent:${context}/lead`;
    const take = (renewals: number) =>
      server.cli("HSET", key, "holder", JSON.stringify(OTHER), "renewals", String(renewals), "lasts", String(LEASE_MS));
    take(100);
    const waiting = startCli(["-p", "-r", context, "go on", ...MODEL], here);
    let said = "";
    waiting.child.stderr!.on("data", (text) => (said += text));
    for (let n = 101; !said.includes("waiting"); n++) {
      take(n); // it lives
      await sleep(200);
    }
    const { code } = await waiting.exited; // that machine was seen no more
    expect([code, said.split("\n").filter((line) => line.includes("waiting"))]).toEqual([
      0,
      [
        `holdfast: process 4711 of another machine or container (box-2) is at work in ${context}: waiting until that lets it go or is gone, for 60 s at most; Ctrl-C ends the waiting, and a copy of it can be worked on at once: holdfast -p -r ${context} --fork-session --cwd ${here.cwd}`,
      ],
    ]);
  });

  test("worktrees of another machine are said to be there, and are refused here in one line; one that a person removed is gone everywhere", async () => {
    const { server, machine } = await setUp();
    const here = machine("here");
    const context = await begin(here);
    const store = await openRedisStore(server.url("shop"));
    onTestFinished(() => store.close());
    const tree = { name: "auth", path: "/there/state/worktrees/auth", branch: "holdfast/auth" };
    const moved = { cwd: "/there/project", home: "/there/project", machine: "box-2" };
    const told = (type: string, data: object) =>
      store.append([{ ledger: context, events: [{ type, v: 1, actor: "lead", data }] }]);
    await told("agent.moved", moved);
    await told("worktree.created", { ...tree, commit: "0".repeat(40) });
    const listed = await runCli(["worktrees", "ls"], here);
    const refused = [];
    for (const verb of ["show", "diff", "merge", "rm"]) refused.push(await runCli(["worktrees", verb, "auth"], here));
    await runCli(["tasks", "add", "Log in"], here);
    await runCli(["tasks", "update", "task_1", "worktree=auth"], here);
    const task = await runCli(["tasks", "show", "task_1"], here);
    await runCli(["tasks", "update", "task_1", "worktree="], here);
    const nobodys = await runCli(["worktrees", "diff", "nothing"], here);
    await told("worktree.removed", { ...tree, head: "0".repeat(40) });
    const [{ stateDir }] = JSON.parse((await runCli(["project", "ls", "--json"], here)).stdout);
    const trees = openWorktrees({ dir: path.join(stateDir, "worktrees"), root: here.cwd });
    const own = await trees.ensure("own", { from: here.cwd, mark: `${context}/lead` });
    await told("worktree.created", { name: "own", path: own, branch: "holdfast/own", commit: "0".repeat(40) });
    const removed = await runCli(["worktrees", "rm", "own"], here);
    const facts = [];
    for await (const { actor, data } of store.read(context, { types: ["worktree.removed"] })) facts.push([actor, data]);
    const after = await runCli(["worktrees", "ls"], here);
    expect({
      listed: listed.stdout.split("\n").map((line) => line.replace(/\s+/g, " ").trim()),
      refused: refused.map(({ code, stderr }) => [code, stderr]),
      nobodys: nobodys.stderr.includes("there is no worktree nothing"),
      task: task.stdout.includes(
        "worktree auth: on another machine (box-2), in /there/state/worktrees/auth\n  branch holdfast/auth: push it there",
      ),
      after: after.stdout,
      removed: removed.code,
      told: facts.at(-1),
    }).toEqual({
      listed: ["auth holdfast/auth no task lead on another machine (box-2)", "/there/state/worktrees/auth (there)", ""],
      refused: Array(4).fill([
        1,
        "holdfast: the worktree auth is on another machine (box-2), in /there/state/worktrees/auth: do that there, or push its branch holdfast/auth there and fetch it here\n",
      ]),
      nobodys: true,
      task: true,
      after: "",
      removed: 0,
      told: ["user", expect.objectContaining({ name: "own", path: own })],
    });
  });

  test("a clone on another machine joins without a question, and is told once what it joined", async () => {
    const { machine } = await setUp();
    const first = machine("first");
    const begun = await runCli(["-p", "hello", ...MODEL], first);
    const clone = machine("clone");
    const joined = await runCli(["contexts", "ls"], clone);
    const again = await runCli(["contexts", "ls"], clone);
    const own = [begun, await runCli(["contexts", "ls"], first)].map(({ stderr }) => stderr.includes("from now on"));
    expect([joined.code, joined.stderr.split("\n")[0], again.stderr.includes("from now on"), own]).toEqual([
      0,
      expect.stringMatching(
        /^holdfast: this folder works on redis:\/\/127\.0\.0\.1:\d+\/0\?project=shop from now on, which has 1 context from one machine \(this one\): if that is another repository's, give another project=NAME$/,
      ),
      false,
      [false, false],
    ]);
  });

  test("a name that another folder of this machine works under is refused, or asked about at a terminal; adopted it is one project", async () => {
    const { machine } = await setUp();
    const shop = machine("shop");
    await begin(shop);
    const web = { ...machine("web"), state: shop.state };
    const [{ id }] = JSON.parse((await runCli(["project", "ls", "--json"], shop)).stdout);
    const short = id.slice(0, 8);
    const refused = await runCli(["tasks", "add", "x"], web);
    const elsewhere = await runCli(["tasks", "ls"], { ...web, env: machine("web", "web").env! });
    const asked = startInTerminal(["tasks", "add", "x"], web);
    let seen = "";
    asked.child.stdout!.on("data", (text) => (seen += text));
    for (let i = 0; i < 400 && !seen.includes("Is this the same project?"); i++) await sleep(25);
    asked.child.stdin!.write("n\n");
    const denied = await asked.exited;
    const adopted = await runCli(["project", "adopt", short], web);
    const listed = await runCli(["contexts", "ls", "--json"], web);
    expect({
      refused: [refused.code, refused.stderr],
      elsewhere: elsewhere.code,
      denied: [denied.code, denied.stdout.includes(`is the project of ${shop.cwd} (${short})`)],
      adopted: adopted.code,
      listed: [listed.code, JSON.parse(listed.stdout).length],
    }).toEqual({
      refused: [
        2,
        expect.stringMatching(
          new RegExp(
            `^holdfast: redis://127.0.0.1:\\d+/0\\?project=shop is the project of ${shop.cwd} \\(${short}\\), which is another folder than this one: \`holdfast project adopt ${short}\` makes this folder one of it, another project=NAME in the address begins its own\n$`,
          ),
        ),
      ],
      elsewhere: 0,
      denied: [2, true],
      adopted: 0,
      listed: [0, 1],
    });
  });

  test("a folder that is gone keeps nobody from its project: a fresh clone joins it", async () => {
    const { machine } = await setUp();
    const shop = machine("shop");
    await begin(shop);
    fs.rmSync(shop.cwd, { recursive: true });
    const again = { ...machine("again"), state: shop.state };
    const { code, stderr } = await runCli(["contexts", "ls"], again);
    expect([code, stderr.includes("from now on, which has 1 context")]).toEqual([0, true]);
  });

  test("who goes on under another password is at the same place: what ran on is adopted, nothing is said of a crash, and the first process says why it stopped", async () => {
    const { server, machine } = await setUp();
    const as = (password: string): CliOptions => {
      const opts = machine("here");
      return {
        ...opts,
        env: { ...opts.env, HOLDFAST_STATE: server.url("shop").replace("//", `//default:${password}@`) },
      };
    };
    server.cli("CONFIG", "SET", "requirepass", "first");
    const script = path.join(path.dirname(as("").cwd), "script.yaml");
    const command = "sleep 5; echo it ran on";
    fs.writeFileSync(
      script,
      JSON.stringify({ rounds: [{ calls: [{ name: "bash", input: { command } }] }, { text: "ok" }] }),
    );
    const how = ["--model", `rehearsal:${script}`, "--permission-mode", "bypassPermissions"];
    const first = startCli(["-p", "go", ...how], as("first"));
    let shown = "";
    first.child.stderr!.on("data", (text) => (shown += text));
    for (let i = 0; i < 400 && !shown.includes("bash"); i++) await sleep(25);
    await sleep(500); // it runs
    server.cli("-a", "first", "CONFIG", "SET", "requirepass", "second");
    server.cli("-a", "second", "CLIENT", "KILL", "TYPE", "normal");
    const stopped = await first.exited;
    const [info] = JSON.parse((await runCli(["contexts", "ls", "--json"], as("second"))).stdout);
    const second = await runCli(["-p", "-r", info.id], as("second"));
    expect({
      stopped: [stopped.code, /is over: the store .* refuses this user \(WRONGPASS\)/.test(stopped.stderr)],
      second: [second.code, second.stdout],
      says: [/it ran on\n {2}adopted from a process that the store would not hear any more/.test(second.stderr)],
      crash: /crash|from now on/.test(second.stderr),
    }).toEqual({ stopped: [1, true], second: [0, "ok\n"], says: [true], crash: false });
  });

  test("nobody at the address is said within a second or so, after several tries", async () => {
    const { server, machine } = await setUp();
    const here = machine("here");
    await server.kill();
    const begun = performance.now();
    const { code, stderr } = await runCli(["contexts", "ls"], here);
    console.log(
      `ECONNREFUSED was said after ${Math.round(performance.now() - begun)} ms, the start of the process included`,
    );
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^holdfast: the store .* cannot be reached \(ECONNREFUSED\)/),
    ]);
  });
});

test("contexts ls --all with sqlite:FILE lists the contexts of that file; an id that is not in it is said so", async () => {
  const dir = fs.realpathSync(scratch(onTestFinished));
  const cwd = path.join(dir, "folder");
  fs.mkdirSync(cwd);
  const opts = { cwd, state: path.join(dir, "home") };
  const at = ["--state", `sqlite:${path.join(dir, "own", "work.db")}`];
  const none = await runCli(["contexts", "ls", "--all", "--json", ...at], opts);
  await runCli(["-p", "hello", ...MODEL, ...at], opts);
  const listed = await runCli(["contexts", "ls", "--all", "--json", ...at], opts);
  const here = await runCli(["contexts", "ls", "--json", ...at], opts);
  const unknown = await runCli(["contexts", "show", "ctx_nothing", ...at], opts);
  const adopt = await runCli(["project", "adopt", "new", ...at], opts);
  const [info] = JSON.parse(here.stdout);
  expect({
    none: [none.code, none.stdout],
    listed: JSON.parse(listed.stdout).map((one: { id: string; project: object }) => [one.id, one.project]),
    unknown: [unknown.code, unknown.stderr.includes("there is no context")],
    adopt: [adopt.code, adopt.stderr.includes("names the very file")],
  }).toEqual({
    none: [0, "[]\n"],
    listed: [[info.id, { id: expect.any(String), folder: cwd }]],
    unknown: [2, true],
    adopt: [2, true],
  });
});
