// `npm run record [NAME …]`: plays the scenarios with the offline model, and keeps what was recorded: one file each in recordings/.
// A file that is there already belongs to a release and stays: it has to replay on every later version. Remove it to record it anew.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type CliOptions, runCli, startCli } from "../cli/cli.ts";

const root = path.join(import.meta.dirname, "../..");
const recordings = path.join(import.meta.dirname, "recordings");
/** The same for everyone: it stands in what is recorded. */
const PLACE = "/tmp/holdfast-recording";

const FILES: Record<string, string> = {
  "main.py": "print('hi')\n",
  "test_main.py": "def test(): pass\n",
  "README.md": "# Demo\n\n## Use\n",
  "AGENTS.md": "Use tabs.\n",
  "docs/AGENTS.md": "Short sentences.\n",
  "docs/long.txt": Array.from({ length: 300 }, (_, i) => `line ${i} of a long text that says little`).join("\n"),
  "package.json": JSON.stringify({ scripts: { test: "node --test", install: "echo installed >> installs.txt" } }),
  ".npmrc": "offline=true\nupdate-notifier=false\n",
};

interface World extends CliOptions {
  run(args: string[], env?: Record<string, string>): Promise<void>;
  /** Killed at that point, and taken up. */
  killed(point: string, args: string[], again?: string[], env?: Record<string, string>): Promise<void>;
  script(name: string, rounds: unknown[]): string;
  json(...args: string[]): Promise<unknown>;
}

function openWorld(name: string): World {
  const dir = path.join(PLACE, name);
  fs.rmSync(dir, { recursive: true, force: true });
  const opts = { cwd: path.join(dir, "project"), state: path.join(dir, "state") };
  fs.mkdirSync(opts.state, { recursive: true });
  for (const [file, text] of Object.entries(FILES)) {
    fs.mkdirSync(path.dirname(path.join(opts.cwd, file)), { recursive: true });
    fs.writeFileSync(path.join(opts.cwd, file), text);
  }
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd: opts.cwd });
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "first");
  const run = async (args: string[], env: Record<string, string> = {}) => {
    const { code, signal, stderr } = await runCli(args, { ...opts, env });
    const isKilled = env.HOLDFAST_CRASH_AT !== undefined && signal === "SIGKILL";
    const REFUSED = 4; // a call was
    if (code !== 0 && code !== REFUSED && !isKilled)
      throw new Error(`${name}: ${args.join(" ")} gave ${code ?? signal}: ${stderr}`);
  };
  return {
    ...opts,
    run,
    async killed(point, args, again = [], env = {}) {
      await run(["-p", ...args], { HOLDFAST_CRASH_AT: point });
      await run(["-p", "-c", ...again], env);
    },
    script(file, rounds) {
      const at = path.join(dir, `${file}.yaml`);
      fs.writeFileSync(at, JSON.stringify({ rounds }));
      return `rehearsal:${at}`;
    },
    json: async (...args) => JSON.parse((await runCli([...args, "--json"], opts)).stdout),
  };
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const from = Date.now(); !(await holds()); await sleep(200))
    if (Date.now() - from > 120_000) throw new Error("it did not come to that");
}

const call = (name: string, input: object) => ({ calls: [{ name, input }] });
const read = (file: string) => call("read_file", { path: file });

/** By the name of the file. */
const SCENARIOS: Record<string, (world: World) => Promise<void>> = {
  "todo-killed": ({ killed }) =>
    killed("effect.done:2", ["Create a todo list for inspecting this repo, then list Python files"]),
  async "edits-and-denials"({ run }) {
    await run([
      "-p",
      "Create a file notes.txt containing `foo`, then run `ls; echo hi`",
      "--permission-mode",
      "acceptEdits",
    ]);
    await run(["-p", "-c", "Replace `foo` with `bar` in notes.txt", "--permission-mode", "acceptEdits"]);
    await run(["-p", "-c", "Run `rm -rf /etc/x`", "--disallowedTools", "Bash(ls *)"]);
    await run(["-p", "-c", "--trust", "Run `ls -l` and read docs/long.txt"]);
  },
  "command-killed": ({ killed }) =>
    killed(
      "intent.durable:1",
      ["Run `sleep 1; echo done`", "--permission-mode", "bypass"],
      ["--permission-mode", "bypass"],
    ),
  "job-killed": ({ killed }) =>
    killed(
      "job.spawned:1",
      ["Run npm install in the background and continue reading README.md", "--allowedTools", "Bash(npm install)"],
      ["--stay"],
    ),
  "reminder-killed": ({ killed }) =>
    killed("results.durable:1", ["remind me of the meeting in 3 minutes."], ["--stay"], {
      NODE_OPTIONS: `--require=${path.join(root, "test/crash/shift-clock.cjs")}`,
      HOLDFAST_TEST_CLOCK_MS: String(4 * 60_000),
    }),
  "subagent-killed": ({ killed }) =>
    killed("reply.taken:2", ["Use a subtask to find the test framework of this project"]),
  async compaction({ run, script }) {
    const model = script("long", [
      call("todo_write", { todos: [{ content: "read all", status: "in_progress" }] }),
      ...Array.from({ length: 12 }, (_, i) => ({ text: `round ${i}`, ...read(i % 2 ? "docs/long.txt" : "README.md") })),
      { text: "all read" },
    ]);
    await run(["-p", "Read it again and again", "--model", model, "--context-window", "24000"]);
    await run(["-p", "-c", "And?", "--model", model, "--context-window", "24000"]);
  },
  async commands({ run }) {
    await run(["-p", "Read docs/long.txt"]);
    for (const words of ["Read README.md", "Read docs/long.txt again", "hello", "and now"])
      await run(["-p", "-c", words]);
    for (const words of ["/compact keep what was said", "go on", "/compact undo", "go on"])
      await run(["-p", "-c", words]);
  },
  async team(world) {
    const { json, run } = world;
    const flags = ["--stay", "--permission-mode", "acceptEdits"];
    const request =
      "Create two tasks, create worktrees for them, then spawn alice and bob. Ask them to submit plans before claiming tasks.";
    const first = startCli(["-p", request, ...flags], world);
    const plans = async () => (await json("team", "plans")) as { requestId: string; by: string }[];
    await until(async () => (await plans()).length === 2);
    first.child.kill("SIGKILL");
    await first.exited;
    const second = startCli(["-p", "-c", ...flags], world);
    for (const { requestId } of await plans()) await run(["team", "approve", requestId]);
    const { code, stderr } = await second.exited;
    if (code !== 0) throw new Error(`team: ${stderr}`);
  },
  async workflow({ run, cwd }) {
    fs.cpSync(path.join(root, "examples/three-phase"), path.join(cwd, "flow"), { recursive: true });
    await run(["workflow", "run", "flow/workflow.yaml"]);
  },
};

const wanted = process.argv.slice(2);
for (const [name, play] of Object.entries(SCENARIOS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const file = path.join(recordings, `${name}.jsonl`);
  if (fs.existsSync(file)) continue;
  const world = openWorld(name);
  await play(world);
  fs.mkdirSync(recordings, { recursive: true });
  const [context] = (await world.json("contexts", "ls")) as { id: string }[];
  if (!context) throw new Error(`${name}: nothing was recorded`);
  await world.run(["contexts", "export", "--as-test", context.id, file]);
  fs.writeFileSync(file.replace(".jsonl", ".expected.json"), "[]\n");
  console.log(`${name}: ${fs.statSync(file).size} bytes`);
}
