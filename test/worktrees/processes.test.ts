// Worktrees and processes: kill -9 at every step, in the middle of a checkout, several at once; and the command line as a user has it.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openProject } from "../../src/contexts/project.ts";
import { openStore } from "../../src/ledger/open-store.ts";
import type { StoredEvent } from "../../src/ledger/store.ts";
import { startModelServer } from "../../src/testing/model-server.ts";
import type { Script } from "../../src/testing/model-server-script.ts";
import { bin } from "../cli/cli.ts";
import { KEYS } from "../environment.ts";
import { tempDir } from "../house.ts";
import { git, makeRepository, put, text } from "./world.ts";

const LONG = process.env.HOLDFAST_LONG === "1";
const call = (name: string, input: object) => ({ calls: [{ name, input }] });
const G = "git -c user.name=n -c user.email=e@x";

interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  out: string;
  said: string;
}

async function setUp(script: Script, files?: Record<string, string>) {
  const base = tempDir("worktrees");
  const root = makeRepository(join(base, "project"), files);
  const server = await startModelServer({ script });
  const env = { PATH: process.env.PATH, HOME: join(base, "home"), XDG_STATE_HOME: join(base, "state") };
  const models = { OPENAI_BASE_URL: server.openaiUrl, OPENAI_API_KEY: KEYS.OPENAI_API_KEY };
  put(base, { "home/.keep": "" });
  onTestFinished(async () => {
    await server.close();
    rmSync(base, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  });
  const start = (args: string[], more: Record<string, string> = {}): { child: ChildProcess; ended: Promise<Ended> } => {
    const child = spawn(process.execPath, [bin, ...args], {
      cwd: root,
      env: { ...env, ...models, ...more },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let out = "";
    let said = "";
    child.stdout.on("data", (data) => {
      out += data;
    });
    child.stderr.on("data", (data) => {
      said += data;
    });
    return {
      child,
      ended: new Promise((done) => child.on("close", (code, signal) => done({ code, signal, out, said }))),
    };
  };
  const go = ["--stay", "--model", "openai-compatible/mock", "--permission-mode", "bypass"];
  const project = () => openProject({ cwd: root, env });
  const events = async (): Promise<StoredEvent[]> => {
    const store = await openStore(project().ledgers);
    const all: StoredEvent[] = [];
    for await (const { ledger } of store.list({ prefix: "ctx_" }))
      for await (const e of store.read(ledger)) all.push(e);
    await store.close();
    return all;
  };
  return {
    base,
    root,
    start,
    events,
    trees: join(project().stateDir, "worktrees"),
    prompt: (more?: Record<string, string>) => start(["-p", "Go", ...go], more),
    resume: () => start(["-c", "-p", ...go]),
    command: async (...args: string[]) => (await start(args).ended).out.trimEnd(),
  };
}

const WORK: Script = [
  call("create_task", { subject: "Write it" }),
  call("create_worktree", { name: "api", task_id: "1" }),
  call("claim_task", { task_id: "1" }),
  call("bash", { command: `echo w > w.txt && ${G} add -A && ${G} commit -qm two && pwd` }),
  call("complete_task", { task_id: "1" }),
  call("bash", { command: "git merge -q holdfast/api && pwd" }),
  call("remove_worktree", { name: "api" }),
  { text: "All done." },
];

const of = (events: StoredEvent[], type: string) => events.filter((e) => e.type === type);

test("the whole way through the command line: what its end and `tasks show` say, and taking it over", {
  timeout: 60_000,
}, async () => {
  const { base, start, prompt, command, events, trees, root } = await setUp([
    ...(WORK as object[]).slice(0, 5),
    call("keep_worktree", { name: "api", note: "please look" }),
    { text: "Kept." },
  ] as Script);
  put(base, { "home/.gitconfig": "[user]\n\tname = n\n\temail = e@x\n" });
  const { out, code, said } = await prompt().ended;
  const typed = (...words: string[]) => `holdfast worktrees ${words.join(" ")} --cwd ${root}`;
  expect([code, out.trim(), said.trim().split("\n").at(-1)]).toEqual([
    0,
    "Kept.",
    `The worktree api: 1 commit. See it: ${typed("diff", "api")} · take it over: ${typed("merge", "api")}`,
  ]);
  const tree = join(trees, "api");
  const results = of(await events(), "tool.finished").map(
    (e) => (e.data as { content: { text: string }[] }).content[0]!.text,
  );
  expect(results[3]).toBe(tree);
  expect([text(tree, "w.txt"), existsSync(join(root, "w.txt")), git(root, "status", "--porcelain")]).toEqual([
    "w\n",
    false,
    "",
  ]);
  const shown = await command("tasks", "show", "1");
  expect(shown).toContain(
    [
      `worktree api in ${tree}`,
      `  branch holdfast/api at ${git(root, "rev-parse", "holdfast/api").slice(0, 10)}: 1 commit in no other branch and no remote; kept for review: please look`,
      `  to see it: ${typed("diff", "api")}`,
      `  to take it over: ${typed("merge", "api")}`,
    ].join("\n"),
  );
  expect(JSON.parse(await command("tasks", "show", "1", "--json"))).toMatchObject({
    worktree: "api",
    worktreeState: { path: tree, unmerged: 1, untracked: 0, kept: "please look" },
  });
  // Uncommitted work is taken along when told; killed on the way, the next one ends the same.
  put(tree, { "rest.txt": "r\n", "a.txt": "two\n" });
  put(root, { "mine.txt": "mine\n" });
  const merge = (point: string) => start(["worktrees", "merge", "api", "--commit"], { HOLDFAST_CRASH_AT: point }).ended;
  for (const point of ["worktree.committed", "worktree.merging"]) {
    expect((await merge(point)).signal).toBe("SIGKILL");
    expect([git(root, "status", "--porcelain"), git(root, "rev-list", "--count", "HEAD")]).toEqual([
      "?? mine.txt",
      "1",
    ]);
  }
  expect(JSON.parse(await command("worktrees", "ls", "--json"))).toMatchObject([
    { name: "api", ahead: 2, behind: 0, agent: "lead", tasks: [{ id: "task_1", status: "completed" }] },
  ]);
  const stays = await start(["worktrees", "rm", "api"]).ended;
  expect([stays.code, stays.said]).toEqual([
    1,
    "holdfast: the worktree api stays: 2 commits in no other branch and no remote. First merge it (holdfast worktrees merge api) or push it\n",
  ]);
  expect(await command("worktrees", "merge", "api", "--commit")).toBe(
    `Merged 2 commits of holdfast/api (3 files) into main, now at ${git(root, "rev-parse", "--short=10", "HEAD")}`,
  );
  expect([git(root, "log", "-1", "--format=%s"), text(root, "rest.txt"), git(root, "status", "--porcelain")]).toEqual([
    "Write it (task_1)",
    "r\n",
    "?? mine.txt",
  ]);
  expect(await command("worktrees", "rm", "api")).toContain("Removed the worktree api; its branch holdfast/api stays");
  expect([existsSync(tree), git(root, "worktree", "list").split("\n").length]).toEqual([false, 1]);
});

const POINTS = [
  ...["added", "checked-out", "linked", "made", "judged", "unlocked", "removed"].map((name) => `worktree.${name}`),
  ...(LONG
    ? [1, 2, 3, 4, 5].flatMap((n) => [`intent.durable:${n}`, `effect.done:${n + 1}`, `results.before:${n}`])
    : []),
  "intent.durable:1",
  "effect.done:2",
  "effect.done:3",
];

test.each(POINTS)("killed at %s and resumed, everything is there once", { timeout: 60_000 }, async (point) => {
  const { prompt, resume, events, trees, root, command } = await setUp(WORK);
  const first = await prompt({ HOLDFAST_CRASH_AT: point }).ended;
  expect(first.signal).toBe("SIGKILL");
  const { out, code } = await resume().ended;
  expect([code, out.trim()]).toEqual([0, expect.stringContaining("All done.")]);
  const all = await events();
  const count = (type: string) => of(all, type).length;
  expect({
    created: count("worktree.created"),
    removed: count("worktree.removed"),
    entered: count("task.entered"),
    left: count("task.left"),
    errors: of(all, "tool.finished")
      .filter((e) => (e.data as { isError: boolean }).isError)
      .map((e) => JSON.stringify(e.data)),
  }).toEqual({ created: 1, removed: 1, entered: 1, left: 1, errors: [] });
  expect([readdirSync(trees), text(root, "w.txt"), git(root, "worktree", "list").split("\n").length]).toEqual([
    [".locks", ".settings"],
    "w\n",
    1,
  ]);
  expect(git(root, "rev-list", "--count", "holdfast/api")).toBe("2");
  expect(JSON.parse(await command("tasks", "show", "1", "--json"))).toMatchObject({
    status: "completed",
    worktree: "api",
    worktreeState: null,
  });
});

test("killed in the middle of a checkout: git ends on its own, and nobody goes in before", {
  timeout: 60_000,
}, async () => {
  const { base, prompt, resume, trees, events } = await setUp(WORK, {
    "a.txt": "one\n",
    ".gitattributes": "a.txt filter=slow\n",
  });
  put(base, {
    "home/.gitconfig": `[filter "slow"]\n\tsmudge = "touch ${base}/begun; sleep 2; touch ${base}/over; cat"\n`,
  });
  const { child, ended } = prompt();
  while (!existsSync(join(base, "begun"))) await sleep(10);
  child.kill("SIGKILL");
  await ended;
  expect(existsSync(join(base, "over"))).toBe(false);
  const { out } = await resume().ended;
  expect(out).toContain("All done.");
  expect(existsSync(join(base, "over"))).toBe(true);
  expect(of(await events(), "tool.finished").map((e) => (e.data as { isError: boolean }).isError)).toEqual(
    Array(7).fill(false),
  );
  expect(readdirSync(trees)).toEqual([".locks", ".settings"]);
});

test("a checkout that was cut off with its git (power) is finished", { timeout: 60_000 }, async () => {
  const { prompt, resume, root, trees, events } = await setUp(WORK);
  await prompt({ HOLDFAST_CRASH_AT: "worktree.checked-out" }).ended;
  put(join(root, ".git/worktrees/api"), { "index.lock": "", index: "" });
  rmSync(join(trees, "api/a.txt"));
  expect((await resume().ended).out).toContain("All done.");
  expect(of(await events(), "worktree.created").length).toBe(1);
});

test("a removal that was cut off with its git is finished", { timeout: 60_000 }, async () => {
  const { prompt, resume, trees } = await setUp(WORK);
  await prompt({ HOLDFAST_CRASH_AT: "worktree.unlocked" }).ended;
  for (const name of ["a.txt", ".git"]) rmSync(join(trees, "api", name));
  expect((await resume().ended).out).toContain("All done.");
  expect(readdirSync(trees)).toEqual([".locks", ".settings"]);
});

test("work that appears while a removal lies interrupted survives it", { timeout: 60_000 }, async () => {
  const { prompt, resume, trees, events } = await setUp(WORK);
  await prompt({ HOLDFAST_CRASH_AT: "worktree.unlocked" }).ended;
  put(join(trees, "api"), { precious: "x" });
  expect((await resume().ended).out).toContain("All done.");
  expect(text(trees, "api/precious")).toBe("x");
  const last = of(await events(), "tool.finished").at(-1)!.data as { content: { text: string }[] };
  expect(last.content[0]!.text).toContain("1 untracked");
});

function child(root: string, dir: string, verb: string, names: string[]): Promise<string[]> {
  const running = spawn(process.execPath, [join(import.meta.dirname, "children/tools.ts"), root, dir, verb, ...names]);
  let out = "";
  for (const stream of [running.stdout, running.stderr])
    stream.on("data", (data) => {
      out += data;
    });
  return new Promise((done) => running.on("close", () => done(out.trim().split("\n").filter(Boolean))));
}

// Once, on a busy machine, one of the four was refused to all: the cause is not known yet, and what was said is shown should it come again.
test("of several processes that make the same ones, one makes each; none is torn", {
  timeout: 60_000,
  retry: 1,
}, async () => {
  const base = tempDir("worktrees");
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const root = makeRepository(join(base, "project"));
  const dir = join(base, "trees");
  const names = ["a", "b", "c", "d"];
  const orders = [names, names.toReversed(), names, names.toReversed(), names, names];
  const said = (await Promise.all(orders.map((order) => child(root, dir, "make", order)))).flat();
  expect(said.filter((line) => !line.startsWith("!")).sort(), said.join("\n")).toEqual(
    names.map((name) => `make ${name}`),
  );
  const refused = said.filter((line) => line.startsWith("!"));
  expect(refused.filter((line) => !/^! (there is a worktree|the branch)/.test(line))).toEqual([]);
  expect(refused.length).toBe(20);
  for (const name of names) expect(git(join(dir, name), "status", "--porcelain")).toBe("");
  put(join(dir, "c"), { precious: "x" });
  const gone = (await Promise.all(orders.map((order) => child(root, dir, "remove", order)))).flat();
  expect(gone.filter((line) => line.startsWith("remove")).sort()).toEqual(["remove a", "remove b", "remove d"]);
  expect(text(dir, "c/precious")).toBe("x");
  expect(git(root, "for-each-ref", "--format=%(refname:short)", "refs/heads/holdfast").split("\n")).toEqual(
    names.map((name) => `holdfast/${name}`),
  );
});
