// Going back, branching off and moving contexts, through the command line.
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openContexts } from "../../src/contexts/index.ts";
import { scratch } from "../turn.ts";
import { bin, runCli, runProgram, startCli } from "./cli.ts";

function setUp() {
  const opts = { cwd: scratch(onTestFinished), state: scratch(onTestFinished) };
  const at = (name: string) => path.join(opts.cwd, name);
  const script = (rounds: string) => {
    const file = path.join(opts.state, `script-${Math.random()}.yaml`);
    fs.writeFileSync(file, `rounds:\n${rounds}`);
    return ["--model", `rehearsal:${file}`, "--permission-mode", "acceptEdits"];
  };
  const cli = async (...args: string[]) => {
    const done = await runCli(args, opts);
    expect([done.stderr, done.code]).toEqual([done.stderr, 0]);
    return done.stdout;
  };
  const json = async (...args: string[]) => JSON.parse(await cli(...args, "--json"));
  return { opts, at, script, cli, json };
}

const write = (path: string, content: string) =>
  `  - calls:\n      - { name: write_file, input: { path: ${path}, content: "${content}" } }\n`;

test("every prompt is a checkpoint with its files; a restore brings them back, undo takes it back, git is untouched", async () => {
  const { at, script, cli, json } = setUp();
  fs.writeFileSync(at("kept.txt"), "as it was");
  const two = script(`${write("a.txt", "first")}  - text: one\n${write("b.txt", "second")}  - text: two\n`);
  await cli("-p", "make a", ...two);
  const [{ id }] = await json("contexts", "ls");
  await cli("-p", "-r", id, "make b", ...two);
  fs.rmSync(at("kept.txt"));
  const names = (await json("contexts", "checkpoints", id)).map((c: { name: string }) => c.name);
  expect(names).toEqual(["prompt 1", "prompt 2"]);
  await cli("contexts", "restore", id, "prompt 2", "--only", "files");
  expect(fs.readdirSync(at("")).sort()).toEqual(["a.txt", "kept.txt"]);
  await cli("contexts", "undo", id);
  expect(fs.readdirSync(at("")).sort()).toEqual(["a.txt", "b.txt"]);
  await cli("contexts", "restore", id, "prompt 1");
  expect(fs.readdirSync(at("")).sort()).toEqual(["kept.txt"]);
  expect(await cli("contexts", "show", id)).not.toContain("make b");
});

test("a restore over what somebody else changed is refused by name; --force goes on, undo brings it back", async () => {
  const { opts, at, script, cli, json } = setUp();
  fs.writeFileSync(at("mine.txt"), "as it was");
  await cli("-p", "make a", ...script(`${write("a.txt", "by the agent")}  - text: one\n`));
  const [{ id }] = await json("contexts", "ls");
  await sleep(100);
  fs.writeFileSync(at("mine.txt"), "by hand");
  const refused = await runCli(["contexts", "restore", id, "prompt 1"], opts);
  expect([refused.code, refused.stdout]).toEqual([1, ""]);
  expect(refused.stderr).toContain(
    "  mine.txt\nholdfast: this would overwrite a file that somebody else changed since: look at it, then add --force, or --keep-changed to leave it as it is",
  );
  expect([fs.readdirSync(at("")).sort(), (await json("contexts", "checkpoints", id)).length]).toEqual([
    ["a.txt", "mine.txt"],
    1,
  ]);
  const forced = await runCli(["contexts", "restore", id, "prompt 1", "--force"], opts);
  expect([fs.readdirSync(at("")), fs.readFileSync(at("mine.txt"), "utf8")]).toEqual([["mine.txt"], "as it was"]);
  expect(forced.stderr).toMatch(
    /^A file that somebody else had changed was overwritten; as it was, all is in checkpoint \d+ \(before restoring prompt 1\):\n {2}mine\.txt\n/,
  );
  fs.writeFileSync(at("a.txt"), "my precious work");
  const unsure = await runCli(["contexts", "undo", id], opts);
  expect([unsure.code, unsure.stderr]).toEqual([
    1,
    "  a.txt\nholdfast: this would overwrite a file that somebody else changed since: look at it, then add --force, or --keep-changed to leave it as it is\n",
  ]);
  const undone = await runCli(["contexts", "undo", id, "--keep-changed"], opts);
  const files = () => ["a.txt", "mine.txt"].map((name) => fs.readFileSync(at(name), "utf8"));
  expect([undone.code, files()]).toEqual([0, ["my precious work", "by hand"]]);
  // What is offered exists, and works as it is printed.
  const [, offered = ""] = /^Take it back with: holdfast (.*)$/m.exec(undone.stderr) ?? [];
  const again = await runCli([...offered.split(" "), "--force"], { ...opts, cwd: opts.state });
  expect([again.code, offered, files()]).toEqual([
    0,
    expect.stringMatching(`^contexts restore ${id} \\d+ --cwd ${opts.cwd}$`),
    ["my precious work", "as it was"],
  ]);
  await cli("contexts", "undo", id);
  const none = await runCli(["contexts", "undo", id], opts);
  expect([none.code, none.stderr]).toEqual([
    2,
    `holdfast: there is no restore to take back in ${id}; what was there before each restore and undo is a checkpoint: see \`holdfast contexts checkpoints ${id} --cwd ${opts.cwd}\`\n`,
  ]);
});

test("contexts diff shows what is in files and values, bounded; --stat names only", async () => {
  const { opts, at, script, cli, json } = setUp();
  const lines = Array.from({ length: 600 }, (_, i) => `line ${i}`).join("\n");
  fs.writeFileSync(at("kept.txt"), "one\ntwo\nthree\n");
  fs.writeFileSync(at("logo.bin"), Buffer.from([1, 0, 2]));
  fs.writeFileSync(at("tool.sh"), "echo\n");
  fs.symlinkSync("kept.txt", at("link"));
  await cli("-p", "make a", ...script(`${write("a.txt", "by the agent")}  - text: one\n`));
  const [{ id }] = await json("contexts", "ls");
  fs.writeFileSync(at("kept.txt"), "one\n2\nthree\n");
  fs.writeFileSync(at("logo.bin"), Buffer.from([1, 0, 2, 3]));
  fs.chmodSync(at("tool.sh"), 0o755);
  fs.rmSync(at("link"));
  fs.symlinkSync("a.txt", at("link"));
  fs.writeFileSync(at("long.txt"), `${lines}\n`);
  const shared = await openContexts({ cwd: opts.cwd, state: path.join(opts.state, "holdfast") });
  await (await shared.get(id)).shareAll({ plan: { steps: ["a"] }, big: "x".repeat(300_000) });
  await shared.close();
  const shown = await cli("contexts", "diff", id, "prompt 1");
  expect(
    shown
      .replace(/^(?:\+line \d+| [a-z]+)\n/gm, "")
      .trim()
      .split("\n"),
  ).toEqual([
    "+ data big  0 → 300002 bytes",
    "  too long to show",
    "+ data plan  0 → 15 bytes",
    "@@ -0,0 +1,5 @@",
    "+{",
    '+  "steps": [',
    '+    "a"',
    "+  ]",
    "+}",
    "+ file a.txt",
    "--- /dev/null",
    "+++ b/a.txt",
    "@@ -0,0 +1,1 @@",
    "+by the agent",
    "+ file long.txt",
    "--- /dev/null",
    "+++ b/long.txt",
    "@@ -0,0 +1,600 @@",
    "… 203 more lines",
    "~ file kept.txt",
    "--- a/kept.txt",
    "+++ b/kept.txt",
    "@@ -1,3 +1,3 @@",
    "-two",
    "+2",
    "~ file link",
    "--- a/link",
    "+++ b/link",
    "@@ -1,1 +1,1 @@",
    "-link to kept.txt",
    "+link to a.txt",
    "~ file logo.bin  binary, 3 → 4 bytes",
    "~ file tool.sh  mode 644 → 755",
  ]);
  const { patches, added } = await json("contexts", "diff", id, "prompt 1");
  expect([
    patches.map((one: { path: string; kind: string }) => `${one.kind} ${one.path}`),
    added.map(({ key, new: value }: { key: string; new?: unknown }) => [key, value]),
  ]).toEqual([
    ["added a.txt", "added long.txt", "changed kept.txt", "changed link", "changed logo.bin", "changed tool.sh"],
    [
      ["big", undefined],
      ["plan", { steps: ["a"] }],
    ],
  ]);
  expect((await cli("contexts", "diff", id, "prompt 1", "--stat")).split("\n").slice(1, 4)).toEqual([
    "+ data plan  0 → 15 bytes",
    "+ file a.txt",
    "+ file long.txt",
  ]);
});

test("contexts ls --all shows every project; one that cannot be read is a line. contexts rm wants a yes or --force", async () => {
  const { opts, script, cli } = setUp();
  const say = script("  - text: one\n");
  await cli("-p", "first", ...say);
  const others = await Promise.all(
    ["second", "third"].map(async (prompt) => {
      const cwd = scratch(onTestFinished);
      expect((await runCli(["-p", prompt, ...say], { ...opts, cwd })).code).toBe(0);
      return cwd;
    }),
  );
  const all = async () => JSON.parse((await runCli(["contexts", "ls", "--all", "--json"], opts)).stdout);
  const seen = (await all()) as { id: string; title: string; project: { folder: string } }[];
  expect(Object.fromEntries(seen.map(({ title, project }) => [title, project.folder]))).toEqual({
    first: opts.cwd,
    second: others[0],
    third: others[1],
  });
  const { id } = seen.find(({ title }) => title === "second")!;
  const refused = await runCli(["contexts", "rm", id.slice(0, 14)], { ...opts, cwd: others[0]! });
  expect([refused.code, refused.stderr]).toEqual([
    2,
    `holdfast: ${id} (second; 1 round, completed) would be gone for good: add --force, or keep a copy with \`holdfast contexts export ${id} FILE\`\n`,
  ]);
  expect((await runCli(["contexts", "rm", id, "--force"], { ...opts, cwd: others[0]! })).stdout).toBe(
    `Removed ${id}\n`,
  );
  const projects = path.join(opts.state, "holdfast/projects");
  const store = fs
    .readdirSync(projects)
    .find((name) => fs.readFileSync(path.join(projects, name, "project.json"), "utf8").includes(others[1]!))!;
  fs.writeFileSync(path.join(projects, store, "ledger.db"), "not a database at all".repeat(500));
  for (const name of fs.readdirSync(path.join(projects, store)).filter((one) => /-wal$|-shm$/.test(one)))
    fs.rmSync(path.join(projects, store, name));
  const broken = await runCli(["contexts", "ls", "--all"], opts);
  expect([broken.code, broken.stdout.trim().split("\n").length, broken.stdout]).toEqual([
    0,
    2, // its heading, and one
    expect.stringContaining("first"),
  ]);
  expect(broken.stderr).toMatch(
    new RegExp(
      `^holdfast: project \\w{8}, ${others[1]}: the store is damaged: .* \\(holdfast contexts verify --repair --cwd ${others[1]}\\)$`,
      "m",
    ),
  );
});

/** Runs the command that a run printed, as printed, from somewhere else. */
async function asPrinted({ stderr }: { stderr: string }, opts: { cwd: string; state: string }) {
  const line = /^Take it back with: (holdfast .*)$/m.exec(stderr)![1]!;
  const script = `holdfast() { "${process.execPath}" "${bin}" "$@"; }; ${line}`;
  const done = await runProgram("bash", ["-c", script], opts);
  expect([line, done.stderr, done.code]).toEqual([line, done.stderr, 0]);
  return { ...done, line };
}

test("the lines that restore and undo print take them back as printed, from another directory, and no more than that", async () => {
  const { opts, at, script, cli, json } = setUp();
  const state = path.join(opts.state, "a state");
  const two = [...script(`${write("a.txt", "first")}  - text: one\n  - text: two\n`), "--state", state];
  await cli("-p", "make a", ...two);
  const [{ id }] = await json("contexts", "ls", "--state", state);
  await cli("-p", "-r", id, "and?", ...two);
  const elsewhere = { cwd: scratch(onTestFinished), state: scratch(onTestFinished) };
  const files = () => fs.readdirSync(at(""));
  const shown = () => cli("contexts", "show", id, "--state", state);
  const long = "n".repeat(200);
  await cli("contexts", "checkpoint", id, long, "--state", state);
  fs.rmSync(at("a.txt"));
  const named = [long, "--only", "files", "--state", path.relative(opts.cwd, state)];
  let last = await runCli(["contexts", "restore", id, ...named, "--force"], opts);
  const after = [[last.code, files()]];
  const lines: string[] = [];
  for (let i = 0; i < 4; i++) {
    const { line, ...next } = await asPrinted(last, elsewhere);
    lines.push(line);
    after.push([next.code, files()]);
    last = next;
  }

  const there = (_: unknown, i: number) => [0, i % 2 === 0 ? ["a.txt"] : []];
  expect(after).toEqual(Array.from({ length: 5 }, there));
  const places = `--cwd ${opts.cwd} --state '${state}'`;
  const [undo, restore] = [`contexts undo ${id}`, `contexts restore ${id} N --only files`];
  const position = (line: string) => line.replace(/(ctx_\w+) \d+/, "$1 N");
  expect(lines.map(position)).toEqual([undo, restore, undo, restore].map((words) => `holdfast ${words} ${places}`));
  expect(await shown()).toContain("and?");
  const checkpoints = (await json("contexts", "checkpoints", id, "--state", state)) as { name: string }[];
  const made = ["restoring", "undoing", "restoring", "undoing", "restoring"].map((what) => `before ${what} n`);
  expect(checkpoints.slice(-5).map(({ name }) => name.replace(/n{100,}$/, "n"))).toEqual(made);
});

test("the line that an undo prints goes over a person's file only when it is told to, however often one goes there and back", async () => {
  const { opts, at, script, cli, json } = setUp();
  fs.writeFileSync(at("mine.txt"), "as it was");
  await cli("-p", "make a", ...script(`${write("a.txt", "by the agent")}  - text: one\n`));
  const [{ id }] = await json("contexts", "ls");
  await sleep(100);
  fs.writeFileSync(at("mine.txt"), "by hand");
  await cli("contexts", "restore", id, "prompt 1", "--force");
  const undone = await runCli(["contexts", "undo", id], opts);
  expect(fs.readFileSync(at("mine.txt"), "utf8")).toBe("by hand");
  const [, line = ""] = /^Take it back with: holdfast (.*)$/m.exec(undone.stderr)!;
  const refused = await runCli(line.split(" "), opts);
  expect([refused.code, refused.stderr, fs.readFileSync(at("mine.txt"), "utf8")]).toEqual([
    1,
    expect.stringMatching(
      /^ {2}mine\.txt\nholdfast: this would overwrite a file that somebody else changed since: .*--force/,
    ),
    "by hand",
  ]);
  await cli(...line.split(" "), "--force");
  expect([fs.readdirSync(at("")), fs.readFileSync(at("mine.txt"), "utf8")]).toEqual([["mine.txt"], "as it was"]);
});

test("an imported context works in the project that it was imported into", async () => {
  const { opts, script, cli, json } = setUp();
  await cli("-p", "first", ...script("  - text: one\n"));
  const [{ id }] = await json("contexts", "ls");
  const file = path.join(opts.state, "out.holdfast");
  await cli("contexts", "export", id, file);
  const other = { cwd: scratch(onTestFinished), state: scratch(onTestFinished) };
  await runCli(["contexts", "import", file], other);
  const listed = JSON.parse((await runCli(["contexts", "ls", "--json"], other)).stdout);
  expect(listed.map((one: { id: string; root: string }) => [one.id, one.root])).toEqual([[id, other.cwd]]);
  const made = await runCli(
    ["-p", "-r", id, "make it", ...script(`  - text: one\n${write("b.txt", "here")}  - text: made\n`)],
    other,
  );
  expect([made.code, fs.readdirSync(opts.cwd), fs.readdirSync(other.cwd)]).toEqual([0, [], ["b.txt"]]);
});

test("a fork goes on beside the first timeline", async () => {
  const { script, cli, json } = setUp();
  const say = script("  - text: one\n  - text: two\n");
  await cli("-p", "first", ...say);
  const [{ id }] = await json("contexts", "ls");
  const forked = (await json("contexts", "fork", id)).id;
  await cli("-p", "-r", forked, "only here", ...say);
  expect(await cli("contexts", "show", forked)).toContain("only here");
  expect(await cli("contexts", "show", id)).not.toContain("only here");
});

test("an export comes back the same elsewhere; a flipped byte is refused by its position", async () => {
  const { opts, script, cli, json } = setUp();
  await cli("-p", "first", ...script("  - text: one\n"));
  const [{ id }] = await json("contexts", "ls");
  const file = path.join(opts.state, "out.holdfast");
  const out = await json("contexts", "export", id, file);
  const other = { ...opts, state: scratch(onTestFinished) };
  const imported = await runCli(["contexts", "import", file, "--json"], other);
  expect(JSON.parse(imported.stdout)).toMatchObject({ id, hash: out.hash });
  expect((await runCli(["contexts", "verify"], other)).code).toBe(0);
  const bytes = fs.readFileSync(file);
  bytes[bytes.length >> 1]! ^= 1;
  fs.writeFileSync(file, bytes);
  const refused = await runCli(["contexts", "import", file], { ...opts, state: scratch(onTestFinished) });
  expect([refused.code === 0, refused.stderr]).toEqual([false, expect.stringMatching(/line \d+|byte \d+/)]);
});

test("a context whose process was killed can be taken up at once, and says where it stood", async () => {
  const { opts, script, json } = setUp();
  const slow = script("  - text: a long answer\n    delay_ms: 20000\n");
  const running = startCli(["-p", "first", ...slow], opts);
  while ((await json("contexts", "ls"))[0]?.status !== "running") await sleep(50);
  expect(await json("contexts", "resumable")).toEqual([]);
  running.child.kill("SIGKILL");
  await running.exited;
  const [found] = await json("contexts", "resumable");
  expect(found).toMatchObject({ status: "interrupted", title: "first", interruptedAt: expect.any(Number) });
  await runCli(["contexts", "checkpoint", found.id, "here"], opts);
  const { stdout } = await runCli(["contexts", "resumable"], opts);
  expect(stdout).toMatch(/^ctx_\w+ {2}interrupted \S+Z {2}here {2}first\n$/);
});

test("contexts gc removes what is older than the user's settings say, and never what has a time of its own", async () => {
  const { opts, script, cli, json } = setUp();
  await cli("-p", "first", ...script("  - text: one\n"));
  const [{ id }] = await json("contexts", "ls");
  expect((await json("contexts", "gc", "--dry-run")).removed).toEqual([]);
  const settings = path.join(opts.state, ".config/holdfast/settings.json");
  fs.mkdirSync(path.dirname(settings), { recursive: true });
  fs.writeFileSync(settings, JSON.stringify({ contexts: { ttl: "30d" } }));
  expect((await json("contexts", "gc")).removed).toEqual([]);
  fs.writeFileSync(settings, JSON.stringify({ contexts: { ttl: "0.00001m" } }));
  const { removed } = await json("contexts", "gc");
  expect(removed.map((one: { id: string; ttlMs: number }) => [one.id, one.ttlMs])).toEqual([[id, 1]]);
  expect(await json("contexts", "ls")).toEqual([]);
  // Any command takes what is past its time: one that has read the settings also what says nothing itself.
  const own = await openContexts({ cwd: opts.cwd, state: path.join(opts.state, "holdfast") });
  await own.create({ task: "short", ttlMs: 0 });
  await own.create({ task: "long" });
  const { store } = own;
  expect((await json("contexts", "gc", "--dry-run")).removed.length).toEqual(2);
  const listed = await runCli(["contexts", "ls", "--json"], opts);
  expect([JSON.parse(listed.stdout).length, listed.stderr]).toEqual([
    2,
    "A context was removed: its time to live had passed\n",
  ]);
  const second = await runCli(["-p", "second", ...script("  - text: one\n")], opts);
  expect(second.stderr).toMatch(/\n2 contexts were removed: their time to live had passed\n$/);
  const left: string[] = [];
  for await (const { ledger } of store.list({ prefix: "ctx_" })) left.push(ledger);
  expect(left).toEqual([]);
  await own.close();
});
