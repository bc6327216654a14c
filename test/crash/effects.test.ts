// Effects that a kill cut off, through the command line as users have it: a real key in the environment, hooks, redaction.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import { noUsage } from "../../src/models/model.ts";
import type { ScriptRequest, ScriptRound } from "../../src/testing/model-server-script.ts";
import { type Exit, lookAt, openWorld, until, type Way, type World } from "./driver.ts";
import { shiftedClock } from "./environments.ts";

/** As long as real ones are: redaction is at work. */
const KEY = `sk-proj-${"Zm9sZGZhc3Q0Mg".repeat(8)}`;
const call = (name: string, input: object) => ({ calls: [{ name, input }] });
const OTHER_PROMPT = "Something else entirely";
const END = { text: "ALL DONE" };
const FLAGS = ["--model", "openai-compatible/mock", "--permission-mode", "bypass"];

interface Cut {
  world: World;
  /** How the killed process ended. */
  killed: Exit;
  context: string;
  resume(way?: Way): Promise<Exit>;
  /** What the model saw as the results, in order. */
  results(): string[];
  text(name: string): string;
}

/** A run that is killed at a point; a git repository, a hook after every call. */
async function cutAt(
  point: string,
  script: ScriptRound[],
  opts: { flags?: string[]; hooks?: object; way?: Way } = {},
): Promise<Cut> {
  const rounds = [...script, END];
  const isOther = (body: unknown) => JSON.stringify(body).includes(OTHER_PROMPT);
  const answer = ({ round, body }: ScriptRequest) =>
    isOther(body) ? { text: "Nothing to it." } : rounds[Math.min(round, rounds.length - 1)]!;
  const world = await openWorld(answer, { flags: opts.flags ?? FLAGS });
  onTestFinished(() => world.close());
  const { project, dir } = world;
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=n", "-c", "user.email=e@x", ...args], {
      cwd: project,
      env: { PATH: process.env.PATH, HOME: dir },
    });
  git("init", "-q", "-b", "main");
  fs.writeFileSync(path.join(project, "notes.txt"), "one\ntwo\n");
  git("add", "-A");
  git("commit", "-qm", "first");
  const after = { PostToolUse: [{ hooks: [{ type: "command", command: `echo told >> ${dir}/told` }] }] };
  fs.mkdirSync(path.join(dir, ".config/holdfast"), { recursive: true });
  fs.writeFileSync(path.join(dir, ".config/holdfast/settings.json"), JSON.stringify({ hooks: opts.hooks ?? after }));
  const env = { OPENAI_API_KEY: KEY };
  const way = { ...opts.way, env: { ...env, ...opts.way?.env, HOLDFAST_CRASH_AT: point } };
  const killed = await world.run(["-p", "Go"], way);
  const context = (await world.look()).contexts[0]!.id;
  return {
    world,
    killed,
    context,
    resume: (way = {}) => world.run(["-p", "-r", context], { ...way, env: { ...env, ...way.env } }),
    results: () =>
      world.server
        .log()
        .requests.at(-1)!
        .body.messages.filter((m: { role: string }) => m.role === "tool")
        .map((m: { content: string }) => m.content),
    text: (name) => (fs.existsSync(path.join(project, name)) ? fs.readFileSync(path.join(project, name), "utf8") : ""),
  };
}

test.each<[string, ScriptRound[], (cut: Cut) => void]>([
  [
    "bash",
    [call("bash", { command: "echo ran >> effects; echo said" })],
    ({ text }) => expect(text("effects")).toBe("ran\n"),
  ],
  [
    "write_file",
    [call("write_file", { path: "new.txt", content: "n\n" })],
    ({ text }) => expect(text("new.txt")).toBe("n\n"),
  ],
  [
    "edit_file",
    [
      call("read_file", { path: "notes.txt" }),
      call("edit_file", { path: "notes.txt", old_text: "two", new_text: "2" }),
    ],
    ({ text }) => expect(text("notes.txt")).toBe("one\n2\n"),
  ],
])(
  "%s, killed when only its intent was durable: it is done once, and its result is its own",
  async (_, script, judge) => {
    const cut = await cutAt("intent.durable", script);
    const { code, stdout } = await cut.resume();
    expect([cut.killed.signal, code, stdout]).toEqual(["SIGKILL", 0, "ALL DONE\n"]);
    judge(cut);
    for (const result of cut.results()) expect(result).not.toBe("");
    expect(fs.readFileSync(path.join(cut.world.dir, "told"), "utf8")).toBe("told\n".repeat(script.length));
  },
);

const trees = (cut: Cut) =>
  execFileSync("git", ["worktree", "list", "--verbose"], { cwd: cut.world.project, encoding: "utf8" });

test.each([
  ["create_worktree", 1, (cut: Cut) => expect(trees(cut)).toMatch(/worktrees\/api .*\[holdfast\/api\]/)],
  ["keep_worktree", 2, (cut: Cut) => expect(trees(cut)).toContain("please look")],
  ["remove_worktree", 3, (cut: Cut) => expect(trees(cut).trim().split("\n").length).toBe(1)],
] as const)("%s, killed when only its intent was durable: it is done", { timeout: 60_000 }, async (_, n, judge) => {
  const steps = [
    call("create_worktree", { name: "api" }),
    call("keep_worktree", { name: "api", note: "please look" }),
    call("remove_worktree", { name: "api" }),
  ];
  const cut = await cutAt(`intent.durable:${n}`, steps.slice(0, n), { flags: ["--stay", ...FLAGS] });
  const { code, stdout } = await cut.resume();
  expect([cut.killed.signal, code, stdout]).toEqual(["SIGKILL", 0, "ALL DONE\n"]);
  judge(cut);
  for (const result of cut.results()) expect(result).not.toBe("");
});

const stateDir = ({ world: { dir } }: Cut): string =>
  path.join(dir, path.dirname(fs.globSync("state/**/ledger.db", { cwd: dir })[0]!));
const jobsDir = (cut: Cut): string => path.join(stateDir(cut), "jobs");
const jobsIn = (cut: Cut): string[] => fs.readdirSync(jobsDir(cut)).filter((name) => name.startsWith("job_"));

/** Everything that is kept of jobs, as if so much time had gone by. */
function age(cut: Cut, days: number): void {
  const at = Date.now() / 1000 - days * 86_400;
  const dir = jobsDir(cut);
  const names = fs.readdirSync(dir, { recursive: true, encoding: "utf8" }).map((name) => path.join(dir, name));
  for (const name of [...names, dir]) if (fs.existsSync(name)) fs.utimesSync(name, at, at); // a supervisor that ends takes its own away
}

/** Somebody else works in the project meanwhile. */
const another = (cut: Cut) => cut.world.run(["-p", OTHER_PROMPT], { env: { OPENAI_API_KEY: KEY } });

const BASH = [call("bash", { command: "echo ran >> effects; echo its own words; exit 3" })];

test("a command that ended, eight days later: its real result, run once, though another run has swept", async () => {
  const cut = await cutAt("job.ended", BASH);
  age(cut, 8);
  expect((await another(cut)).stdout).toBe("Nothing to it.\n");
  const { code } = await cut.resume();
  expect([cut.killed.signal, code, cut.text("effects")]).toEqual(["SIGKILL", 0, "ran\n"]);
  expect(cut.results().at(-1)).toMatch(/^its own words\n\[exit code 3\]/);
  expect(jobsIn(cut)).toEqual([]); // its result is recorded
});

test("a command whose directory somebody took away is unknown, and not run again", async () => {
  const cut = await cutAt("job.ended", BASH);
  for (const name of jobsIn(cut)) fs.rmSync(path.join(jobsDir(cut), name), { recursive: true });
  const { code } = await cut.resume();
  expect([code, cut.text("effects")]).toEqual([0, "ran\n"]);
  expect(cut.results().at(-1)).toContain("is gone; whether the command ran is unknown");
});

test("a job in the background that ended and was not reported keeps its output, however long that takes", async () => {
  const background = call("bash", { command: "echo its own words", run_in_background: true });
  const cut = await cutAt("results.durable:2", [background, call("read_file", { path: "notes.txt" })]);
  await until(() => fs.existsSync(path.join(jobsDir(cut), jobsIn(cut)[0]!, "exit")));
  age(cut, 80);
  await another(cut);
  const { code } = await cut.resume();
  const seen = JSON.stringify(cut.world.server.log().requests.at(-1)!.body);
  expect([code, seen.includes("<status>completed</status>"), seen.includes("its own words\\n</output>")]).toEqual([
    0,
    true,
    true,
  ]);
});

test("what was planned and never intended goes after a day", async () => {
  const cut = await cutAt("intent.before", BASH);
  expect(jobsIn(cut).length).toBe(1);
  const { code } = await cut.resume(); // asks for nothing that was not intended: the call runs with an intent of its own
  expect([code, cut.text("effects"), jobsIn(cut).length]).toEqual([0, "ran\n", 1]);
  age(cut, 2);
  await another(cut);
  expect(jobsIn(cut)).toEqual([]);
});

const ADVICE = JSON.stringify({
  hookSpecificOutput: { hookEventName: "PreToolUse", additionalContext: "mind the gap" },
});

test.each([
  ["intent.durable", 2], // nothing had begun: it is done now, so what holds now decides
  ["job.ended", 1],
  ["effect.done", 1],
])(
  "what a PreToolUse hook added stands beside the result, also when the kill came at %s; it is asked once for each time that something is begun",
  async (point, times) => {
    const hook = { type: "command", command: `echo asked >> "$HOME/asked"; echo '${ADVICE}'` };
    const cut = await cutAt(point, BASH, { hooks: { PreToolUse: [{ hooks: [hook] }] } });
    const { code } = await cut.resume();
    const asked = fs.readFileSync(path.join(cut.world.dir, "asked"), "utf8");
    expect([cut.killed.signal, code, cut.text("effects"), asked]).toEqual([
      ...["SIGKILL", 0, "ran\n"],
      "asked\n".repeat(times),
    ]);
    expect(cut.results().at(-1)?.split('<note from="hook">\nmind the gap\n</note>')).toHaveLength(2);
  },
);

test.each([
  ["write_file", call("write_file", { path: "new.txt", content: "n\n" })],
  ["bash", call("bash", { command: "echo n > new.txt" })],
])("%s that had not begun is judged anew by the rules of who goes on", async (_, script) => {
  const cut = await cutAt("intent.durable", [script]);
  const deny = ["--permission-mode", "default", "--disallowedTools", "Bash, Write, Edit"];
  const { code } = await cut.world.run(["-p", "-r", cut.context, ...deny], { env: { OPENAI_API_KEY: KEY } });
  expect([cut.killed.signal, code, cut.text("new.txt")]).toEqual(["SIGKILL", 4, ""]);
  expect(cut.results().at(-1)).toMatch(/^Refused: /);
});

test("an intent that somebody else wrote into the ledger writes and reads nothing that is not allowed", async () => {
  const cut = await cutAt("intent.durable", [call("write_file", { path: "new.txt", content: "n\n" })]);
  const { dir, project } = cut.world;
  const outside = path.join(dir, "outside.txt");
  const secret = path.join(project, ".env");
  fs.writeFileSync(secret, "SECRET=line-of-env\n");
  const store = await openSqliteStore(fs.globSync(path.join(dir, "state/**/ledger.db"))[0]!);
  const write = { path: outside, content: "x\n" };
  const parts = [
    { type: "call", id: "c2", name: "write_file", input: write },
    { type: "call", id: "c3", name: "read_file", input: { path: secret } },
  ];
  const grants = { judged: outside, paths: [outside], outside: [{ path: outside, isOpen: true }] };
  const intent = { path: outside, before: null, after: "0".repeat(64), said: "written" };
  const open = { callId: "c1", name: "write_file", content: [], isError: true, durationMs: 0 };
  const reply = { model: "openai-compatible/mock", finish: "calls", usage: noUsage(), parts };
  const events = [
    { type: "tool.finished", data: open },
    { type: "reply.received", data: reply },
    {
      type: "tool.started",
      data: { callId: "c2", name: "write_file", input: write, effect: "reconcile", cwd: project, grants, intent },
    },
    {
      type: "tool.started",
      data: { callId: "c3", name: "read_file", input: { path: secret }, effect: "read", cwd: project },
    },
  ].map((event) => ({ ...event, actor: "lead" }));
  await store.append([{ ledger: cut.context, events }]);
  await store.close();
  const { code } = await cut.world.run(["-p", "-r", cut.context, "--permission-mode", "plan"], {
    env: { OPENAI_API_KEY: KEY },
  });
  expect([code, fs.existsSync(outside)]).toEqual([4, false]);
  expect(cut.results().filter((text) => text.startsWith("Refused: "))).toHaveLength(2);
  expect(cut.results().join("\n")).not.toContain("line-of-env");
});

test('"in an hour" counts from when it was asked, not from the resume', async () => {
  const write = { name: "write_file", input: { path: "new.txt", content: "n" } };
  const later = { name: "schedule_cron", input: { when: "in 1 hour", prompt: "look again" } };
  const cut = await cutAt("intent.durable", [{ calls: [write, later] }]);
  const killedAt = Date.now();
  expect((await cut.resume({ env: shiftedClock(60_000) })).code).toBe(0);
  const { events } = (await lookAt(stateDir(cut))).contexts[0]!;
  const due = events.flatMap((e) => (e.type === "cron.created" ? [(e.data as { next: number }).next] : []));
  expect(due.map((at) => at <= killedAt + 3_601_000)).toEqual([true]);
});

const inNamespace = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", '"$@"; exit $?', "sh"];
const canUnshare = (() => {
  try {
    execFileSync("unshare", ["--pid", "--mount", "--fork", "--mount-proc", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

test.runIf(canUnshare || process.env.CI)(
  "a full state disk: a command that ended has ended, with its exit code, and the model is told of the output",
  { timeout: 60_000 },
  async () => {
    const fill = "head -c 30000000 /dev/zero | tr '\\0' x; echo ran >> effects; exit 3";
    const world = await openWorld([call("bash", { command: fill }), END], { flags: ["--stay", ...FLAGS] });
    onTestFinished(() => world.close());
    const state = path.join(world.dir, "state");
    fs.mkdirSync(state);
    const small = ["unshare", "--mount", "sh", "-c", `mount -t tmpfs -o size=4m none ${state} && exec "$@"`, "sh"];
    const exit = await world.run(["-p", "Go"], { wrap: small, env: { OPENAI_API_KEY: KEY } });
    const seen: string = world.server.log().requests.at(-1)!.body.messages.at(-1).content;
    expect([exit.hung, exit.code, exit.stdout]).toEqual([false, 0, "ALL DONE\n"]);
    expect(seen.slice(-70)).toContain("x\n[exit code 3]\n[the disk was full: output may be missing]");
  },
);

test("few descriptors: the output of a command is there, and the next one runs where it went", async () => {
  const steps = [
    call("bash", { command: "mkdir sub; cd sub; echo its own words" }),
    call("bash", { command: "basename $PWD" }),
  ];
  const few = ["sh", "-c", 'ulimit -n 200; exec "$@"', "sh"];
  const cut = await cutAt("never", steps, { way: { wrap: few } });
  expect([cut.killed.code, cut.results()]).toEqual([0, ["its own words", "sub"]]);
});

test("300 MB of output: its first and last bytes are shown, and exactly how many were not kept, whoever prints them", {
  timeout: 60_000,
}, async () => {
  const slowly = "for i in 1 2 3 4 5; do yes | head -c 60000000; sleep .2; done; echo END";
  const cut = await cutAt("never", [
    call("bash", { command: "yes | head -c 300000000; echo END" }),
    call("bash", { command: `setsid -w sh -c '${slowly}'` }), // no longer in the group of its command
  ]);
  expect(cut.results().length).toBe(2);
  const said = "\n[297902852 bytes of its output were not kept, only the first and the last 1048576]";
  for (const seen of cut.results()) {
    expect(seen.length).toBeLessThan(40_000);
    expect(seen.slice(0, 4)).toBe("y\ny\n");
    expect(seen.slice(-(said.length + 7))).toBe(`y\ny\nEND${said}`);
    expect(seen).not.toContain("the whole");
  }
});

test.runIf(canUnshare || process.env.CI)(
  "long output where files have no holes: both ends are shown, and about how much was not kept",
  { timeout: 60_000 },
  async () => {
    const print = "for i in 1 2 3 4; do yes | head -c 60000000; sleep .3; done; echo END";
    const world = await openWorld([call("bash", { command: print }), END], { flags: ["--stay", ...FLAGS] });
    onTestFinished(() => world.close());
    const state = path.join(world.dir, "state");
    fs.mkdirSync(state);
    const bare = ["unshare", "--mount", "sh", "-c", `mount -t ramfs none ${state} && exec "$@"`, "sh"];
    const exit = await world.run(["-p", "Go"], { wrap: bare, env: { OPENAI_API_KEY: KEY } });
    const seen: string = world.server.log().requests.at(-1)!.body.messages.at(-1).content;
    expect([exit.hung, exit.code, exit.stdout, seen.slice(0, 4)]).toEqual([false, 0, "ALL DONE\n", "y\ny\n"]);
    expect(seen.slice(-110)).toMatch(
      /y\ny\nEND\n\[about 23\d{7} bytes of its output were not kept, only the first and the last 1048576\]$/,
    );
  },
);

test.runIf(canUnshare || process.env.CI)(
  "killed in one pid namespace and resumed in another: a file that is there is found, and so is a command's result",
  { timeout: 60_000 },
  async () => {
    const steps = [
      call("write_file", { path: "new.txt", content: "n\n" }),
      call("bash", { command: "echo ran >> effects; echo its own words; (exit 3)" }),
    ];
    const each = async (point: string) => {
      const cut = await cutAt(point, steps, { way: { wrap: inNamespace, env: { HOLDFAST_LEASE_MS: "1500" } } });
      const { code } = await cut.resume({ wrap: inNamespace, env: { HOLDFAST_LEASE_MS: "1500" } });
      const [wrote, ran] = cut.results();
      expect({ point, code, file: cut.text("new.txt"), effects: cut.text("effects"), wrote, ran }).toEqual({
        point,
        code: 0,
        file: "n\n",
        effects: "ran\n",
        wrote: expect.stringMatching(/new\.txt/),
        ran: "its own words\n[exit code 3]",
      });
    };
    await Promise.all(["effect.done:1", "intent.durable:1", "job.ended:1", "intent.durable:2"].map(each));
  },
);

test.runIf(canUnshare || process.env.CI)(
  "a holder that died in a namespace which is seen from here is not waited for",
  { timeout: 60_000 },
  async () => {
    const env = { HOLDFAST_LEASE_MS: "600000" };
    const steps = [call("write_file", { path: "new.txt", content: "n\n" })];
    const cut = await cutAt("effect.done", steps, { way: { wrap: inNamespace, env } });
    const { hung, code } = await cut.resume({ env });
    expect([hung, code, cut.text("new.txt")]).toEqual([false, 0, "n\n"]);
    expect(cut.results().at(-1)).not.toContain("unknown");
  },
);
