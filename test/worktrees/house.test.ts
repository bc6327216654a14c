// An agent in a worktree through the whole house: what claims, completes and releases do to where it works.
import { existsSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openContexts } from "../../src/contexts/index.ts";
import type { HarnessOptions } from "../../src/harness-options.ts";
import { killJob, listJobs } from "../../src/mechanisms/jobs/job-dir.ts";
import { probeSandbox } from "../../src/mechanisms/jobs/sandbox-state.ts";
import { openBoard } from "../../src/mechanisms/tasks/index.ts";
import type { Item } from "../../src/models/model.ts";
import type { Script } from "../../src/testing/model-server-script.ts";
import { openHouse, tempDir } from "../house.ts";
import { git, makeRepository, put, text } from "./world.ts";

const sandbox = probeSandbox(tempDir("probe"));
const works = sandbox.works || process.env.CI === "true";
const call = (name: string, input: object) => ({ calls: [{ name, input }] });
const bash = (command: string) => call("bash", { command });
const END = { text: "Done." };

async function setUp(script: Script, more: Partial<HarnessOptions> & { files?: Record<string, string> } = {}) {
  const { files, ...options } = more;
  const dir = join(tempDir("trees"), "worktrees");
  const house = await openHouse(script, { worktrees: { dir, offer: true }, ...options });
  onTestFinished(async () => {
    await house.close();
    rmSync(dir, { recursive: true, force: true });
  });
  makeRepository(house.root, files);
  const run = async (prompt = "Go", harness = house.harness) => {
    const { result, taken, context } = await harness.run(prompt);
    await result;
    const { items, cwd, root } = taken.agent.turn.state;
    await taken.release();
    return { said: resultsOf(items), cwd, root, context, items };
  };
  return { ...house, dir, run };
}

const resultsOf = (items: readonly Item[]): string[] =>
  items.flatMap((i) => (i.kind === "result" ? [i.content.map((c) => (c.type === "text" ? c.text : "")).join("")] : []));

const TASK = [call("create_task", { subject: "Write it" }), call("create_worktree", { name: "api", task_id: "1" })];
const CLAIM = call("claim_task", { task_id: "1" });

test("a claim takes the agent into the worktree, completing brings it back, and the main tree is as it was", async () => {
  const { run, root, dir } = await setUp([
    ...TASK,
    CLAIM,
    bash("pwd"),
    call("write_file", { path: "new.txt", content: "n\n" }),
    call("read_file", { path: "a.txt" }),
    call("edit_file", { path: "a.txt", old_text: "one", new_text: "two" }),
    call("glob", { pattern: "*.txt" }),
    call("grep", { pattern: "two" }),
    bash("mkdir sub && cd sub"),
    bash("pwd"),
    call("complete_task", { task_id: "1" }),
    bash("pwd; ls"),
    END,
  ]);
  const { said, cwd, root: own } = await run();
  const tree = join(dir, "api");
  expect(said[3]).toBe(tree);
  expect(said[7]).toBe("a.txt\nnew.txt");
  expect(said[8]).toContain("a.txt");
  expect(said[10]).toBe(join(tree, "sub"));
  expect(said[11]).toContain(`you are back in ${root}`);
  expect(said[12]).toBe(`${root}\na.txt`);
  expect([cwd, own]).toEqual([root, undefined]);
  expect([text(tree, "a.txt"), text(tree, "new.txt"), text(root, "a.txt")]).toEqual(["two\n", "n\n", "one\n"]);
  expect([existsSync(join(root, "new.txt")), git(root, "status", "--porcelain")]).toEqual([false, ""]);
});

test("what follows a claim in the same reply was judged in the other tree, and is not run", async () => {
  const { run, root, dir } = await setUp([
    ...TASK,
    { calls: [CLAIM.calls[0]!, bash("touch here").calls[0]!, { name: "read_file", input: { path: "a.txt" } }] },
    { calls: [{ name: "complete_task", input: { task_id: "1" } }, bash("rm a.txt").calls[0]!] },
    END,
  ]);
  const { said } = await run();
  expect(said.slice(3, 5)).toEqual([
    expect.stringContaining("Not run: an earlier call of this reply took you to another tree"),
    expect.stringContaining("Not run"),
  ]);
  expect(said[6]).toContain("Not run");
  expect([existsSync(join(root, "here")), existsSync(join(dir, "api/here")), text(root, "a.txt")]).toEqual([
    false,
    false,
    "one\n",
  ]);
});

test("releasing brings it back too", async () => {
  const { run, root } = await setUp([
    ...TASK,
    CLAIM,
    call("update_task", { task_id: "1", status: "pending" }),
    bash("pwd"),
    END,
  ]);
  const { said } = await run();
  expect(said[3]).toContain(`you are back in ${root}`);
  expect(said[4]).toBe(root);
});

test("a claim whose worktree is not there is refused before it is made, and the task can have another", async () => {
  const { run, store, root } = await setUp([
    CLAIM,
    bash("pwd"),
    call("create_worktree", { name: "api", task_id: "1" }),
    CLAIM,
    END,
  ]);
  const board = await openBoard(store);
  await board.create([{ subject: "Other" }], { agent: "user" });
  await board.update("1", { worktree: "nowhere" }, { agent: "user" });
  const { said } = await run();
  expect(said.slice(0, 2)).toEqual([
    "the worktree nowhere is not there: make it with create_worktree, or free the task of it",
    root,
  ]);
  expect((await board.get("1")).history.filter((h) => h.what.startsWith("claimed")).length).toBe(1);
  expect(said[3]).toContain("you now work in the worktree");
});

test("without worktrees a task that wants one is not done in place", async () => {
  const { run, store } = await setUp([CLAIM, END], { worktrees: undefined });
  const board = await openBoard(store);
  await board.create([{ subject: "Other" }], { agent: "user" });
  await board.update("1", { worktree: "api" }, { agent: "user" });
  expect((await run()).said[0]).toBe("task_1 is to be done in the worktree api, and there are no worktrees here");
  expect((await board.get("1")).status).toBe("pending");
});

test("an agent whose task is no longer its own is brought back at its next round, with a note", async () => {
  let release: () => Promise<unknown> = async () => undefined;
  const { run, root, dir, store, events } = await setUp(
    [...TASK, CLAIM, bash("sleep 0.2; touch mine"), bash("pwd"), END],
    {
      inProcessHooks: [
        {
          event: "PostToolUse",
          matcher: "Bash",
          run: async () => {
            await release();
            return undefined;
          },
        } as never,
      ],
    },
  );
  const board = await openBoard(store);
  release = async () => {
    if ((await board.get("1")).status === "in_progress")
      await board.release("1", { agent: "user" }, "somebody else does it");
  };
  const { said, items, context } = await run();
  expect(said[4]).toBe(root);
  const notes = items.flatMap((i) =>
    i.kind === "user" ? i.content.map((c) => (c.type === "text" ? c.text : "")) : [],
  );
  expect(notes.find((n) => n.includes("no longer yours"))).toBe(
    `<note from="tasks">\ntask_1 is no longer yours (user released: somebody else does it): you are back in ${root}; what you left there is still in ${join(dir, "api")}\n</note>`,
  );
  expect((await events(context)).filter((e) => e.type === "task.left").length).toBe(1);
  expect(existsSync(join(dir, "api/mine"))).toBe(true);
});

test("a restore takes the agent out, its own task takes it in again; in a fork the task is not its own", async () => {
  const { harness, store, server, run, root, dir } = await setUp([...TASK, { text: "made" }]);
  const { context: id } = await run("Make it");
  const contexts = await openContexts({ store });
  const context = await contexts.get(id);
  await context.checkpoint("before the claim");
  const go = async (on: string) => {
    const { result, taken } = await harness.run("Go on", { context: on });
    await result;
    const { root: tree, cwd, state } = taken.agent.turn;
    await taken.release();
    return { tree, cwd, said: resultsOf(state.items).at(-1) };
  };
  server.setScript([...TASK, { text: "made" }, CLAIM, { text: "claimed" }, bash("pwd"), END]);
  const tree = join(dir, "api");
  expect(await go(id)).toMatchObject({ tree, cwd: tree });
  await context.checkpoint("in it");
  await context.restore("before the claim", { conversation: true });
  const again = await harness.host.open(id);
  expect(again.state.slices.transcript).toMatchObject({ agents: { lead: { cwd: root } } });
  server.setScript([...TASK, { text: "made" }, bash("pwd"), END]);
  expect(await go(id)).toEqual({ tree, cwd: tree, said: tree });
  const fork = await context.fork("in it");
  server.setScript([...TASK, { text: "made" }, CLAIM, { text: "claimed" }, bash("pwd"), END]);
  expect(await go(fork.id)).toEqual({ tree: root, cwd: root, said: root });
});

test("a running task, its agent and its jobs keep the worktree", async () => {
  const { run, dir, state } = await setUp([
    ...TASK,
    CLAIM,
    call("bash", { command: "sleep 30", run_in_background: true }),
    call("remove_worktree", { name: "api" }),
    call("complete_task", { task_id: "1" }),
    call("remove_worktree", { name: "api" }),
    call("list_jobs", {}),
    END,
  ]);
  const { said } = await run();
  expect(said[4]).toBe(
    "the worktree api stays: you work there on task_1: complete or release it first; 1 running job in it: see list_jobs, job_kill. Nothing was changed",
  );
  expect(said[6]).toBe("the worktree api stays: 1 running job in it: see list_jobs, job_kill. Nothing was changed");
  expect(existsSync(join(dir, "api/a.txt"))).toBe(true);
  for (const { jobId } of listJobs(join(state, "jobs"))) await killJob(join(state, "jobs"), jobId);
});

test("an agent of another context that is in it and not done keeps it, until it is done", async () => {
  const first = await setUp([...TASK, CLAIM, { text: "waiting", faults: [] }]);
  const { context } = await first.run();
  const board = await openBoard(first.store);
  await board.release("1", { agent: "user" }); // its agent does not know yet
  await first.store.append([
    {
      ledger: context,
      events: [
        {
          type: "input.received",
          actor: "user",
          data: { inputId: "i9", agent: "lead", content: [{ type: "text", text: "go on" }], origin: "user" },
        },
      ],
    },
  ]);
  first.server.setScript([call("remove_worktree", { name: "api" }), END]);
  const { said } = await first.run("Remove it");
  expect(said[0]).toBe(`the worktree api stays: ${context}/lead is in it. Nothing was changed`);
  first.server.setScript([...TASK, CLAIM, { text: "waiting" }, { text: "I am back." }]);
  const again = await first.harness.run(undefined, { context });
  await again.result;
  expect(again.taken.agent.turn.root).toBe(first.root);
  await again.taken.release();
  first.server.setScript([call("remove_worktree", { name: "api" }), END]);
  expect((await first.run("Remove it")).said[0]).toContain("removed the worktree api");
});

test("in a worktree the rules of the project hold, and the main tree is for reading", async () => {
  const house = await setUp([], { permissionMode: undefined });
  const rule = (rule: string) => ({ text: rule, source: "test", base: house.root });
  put(house.root, { ".env": "SECRET=1" });
  const main = (name: string) => join(house.root, name);
  house.server.setScript([
    ...TASK,
    CLAIM,
    call("write_file", { path: "src/x.ts", content: "x" }),
    call("write_file", { path: "config/x", content: "x" }),
    call("write_file", { path: "lib/x", content: "x" }),
    call("write_file", { path: main("src/y.ts"), content: "y" }),
    bash(`echo y > ${main("src/y.ts")}`),
    call("read_file", { path: main("a.txt") }),
    call("read_file", { path: main(".env") }),
    call("write_file", { path: ".git", content: "gitdir: /x" }),
    call("read_file", { path: "/etc/hostname" }),
    END,
  ]);
  const judge = (allow: string[], deny: string[]) =>
    house.again({
      permissions: { policy: { mode: "default", ask: [], allow: allow.map(rule), deny: deny.map(rule) } },
    });
  const { said } = await house.run("Go", await judge(["Edit(/src/**)", "Bash"], ["Edit(/config/**)"]));
  const inMain = expect.stringContaining("it is in the main tree, and you work in a worktree");
  expect(said.slice(3)).toEqual([
    expect.stringContaining("Created src/x.ts"),
    expect.stringContaining("the rule Edit(/config/**) denies it"),
    expect.stringContaining("needs approval"),
    inMain,
    inMain,
    expect.stringContaining("one"),
    expect.stringContaining("it may hold secrets"),
    expect.stringContaining("git's own files are protected"),
    expect.stringContaining("it reads outside the project"),
  ]);
  expect([existsSync(join(house.dir, "api/src/x.ts")), existsSync(main("src/y.ts"))]).toEqual([true, false]);
  const any = await setUp([], { permissionMode: undefined });
  any.server.setScript([...TASK, CLAIM, call("write_file", { path: join(any.root, "y.ts"), content: "y" }), END]);
  const everything = { mode: "default" as const, ask: [], allow: [rule("Edit"), rule("Write")], deny: [] };
  expect((await any.run("Go", await any.again({ permissions: { policy: everything } }))).said[3]).toEqual(inMain);
});

test.runIf(works)(
  "in the sandbox a command writes in its worktree, commits there, and only reads the main tree",
  async () => {
    if (!sandbox.works) throw new Error(sandbox.why);
    const house = await setUp([]);
    const harness = await house.again({
      sandbox: { bwrap: sandbox.bwrap, root: house.root, home: homedir(), dir: join(house.state, "private") },
    });
    const main = house.root;
    const other = join(house.dir, "other");
    const G = "git -c user.name=n -c user.email=e@x";
    const script = (name: string, content: string) => call("write_file", { path: name, content });
    house.server.setScript([
      ...TASK,
      call("create_worktree", { name: "other" }),
      bash("pwd"),
      CLAIM,
      script(
        "plain.sh",
        `cat ${main}/a.txt; echo w > w.txt; echo no > ${main}/a.txt; touch ${main}/new; echo no > ${other}/a.txt; cat ${other}/a.txt`,
      ),
      bash("pwd; bash plain.sh"), // in a script, where only the sandbox holds it
      bash(`${G} add -A && ${G} commit -qm two && git log --oneline | wc -l`),
      script(
        "git.sh",
        `rm -rf ${main}/.git/worktrees/other ${main}/.git/hooks; git worktree unlock ${other}; git config x.y z; echo no > ${main}/a.txt`,
      ),
      bash("bash git.sh"),
      call("complete_task", { task_id: "1" }),
      bash("pwd; echo m > back.txt; cat back.txt"),
      END,
    ]);
    const { said } = await house.run("Go", harness);
    const tree = join(house.dir, "api");
    expect(said[3]).toBe(main);
    const lines = said[6]!.split("\n");
    expect([lines[0], lines[1], lines.at(-1)]).toEqual([tree, "one", "one"]);
    expect(lines.filter((line) => line.includes("Read-only file system")).length).toBe(3);
    expect(said[7]).toBe("2");
    expect(said[9]).toContain("Read-only file system");
    expect(git(main, "worktree", "list", "--porcelain").match(/locked holdfast: in use/g)?.length).toBe(2);
    expect(said.at(-1)).toBe(`${main}\nm`);
    expect([text(tree, "w.txt"), text(main, "a.txt"), existsSync(join(main, "new"))]).toEqual(["w\n", "one\n", false]);
    expect([existsSync(join(main, ".git/hooks")), git(main, "config", "--list").includes("x.y")]).toEqual([
      true,
      false,
    ]);
  },
);
