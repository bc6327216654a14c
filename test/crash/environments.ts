// The second dimension of the matrix: where, when and in what the process runs that is killed, and the one that takes up its work.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import type { HookEvent } from "../../src/claude-code/hook-events.ts";
import { CI_VARIABLES, harmlessHooks, KEYS } from "../environment.ts";
import type { Exit, Way, World } from "./driver.ts";
import type { MatrixScenario } from "./matrix-scenarios.ts";

export interface Environment {
  name: string;
  /** For every process. */
  env?: Way["env"];
  /** The user's settings besides the usual hooks. */
  settings?: object;
  /** Default: the project is a git repository with one commit. */
  git?: boolean;
  /** Before the first process. Contract: may leave contexts; they are not those of the scenario. */
  before?: (world: World) => Promise<void> | void;
  /** How the process runs that is killed. */
  first?: Way;
  /** After the kill, once. Contract: as `before`. */
  between?: (world: World, resume: () => Promise<Exit>) => Promise<void> | void;
  /** How those run that take it up. */
  resume?: (world: World) => Way & { words?: string[] };
  /** Take up the newest (`-c`) instead of that id. */
  newest?: boolean;
  /** Take up a workflow like a conversation. */
  byPrompt?: boolean;
  after?: (world: World) => void;
  fits?: (scenario: MatrixScenario) => boolean;
  /** A command whose supervisor ended with its namespace: nobody can know. */
  mayBeUnknown?: (scenario: MatrixScenario) => boolean;
  /** A tool whose own write fails says so to the model, and the turn goes on: nothing is promised then but that. */
  mayFail?: RegExp;
}

const WEEK_AND_A_DAY = 8 * 86_400_000;
const HOUR = 3_600_000;
const isRoot = process.getuid?.() === 0;

const git = (cwd: string, ...args: string[]): void => {
  execFileSync("git", ["-c", "user.name=n", "-c", "user.email=e@x", ...args], { cwd, stdio: "ignore" });
};

export function makeRepository(project: string): void {
  git(project, "init", "-q", "-b", "main");
  git(project, "add", "-A");
  git(project, "commit", "-qm", "first", "--allow-empty");
}

export const shiftedClock = (offMs: number): Way["env"] => ({
  NODE_OPTIONS: `--require=${path.join(import.meta.dirname, "shift-clock.cjs")}`,
  HOLDFAST_TEST_CLOCK_MS: String(offMs),
});

/** Somebody else's work in the same project: it leaves a context, and cleans up what is old. */
const another = async (world: World, env: Way["env"] = {}): Promise<void> => {
  const words = ["-p", "Create a todo list for inspecting this repo", "--model", "rehearsal"];
  const exit = await world.run(words, { env });
  if (exit.code !== 0) throw new Error(`another run failed: ${exit.stderr.slice(-400)}`);
};

const saying = (event: HookEvent, text: string) => {
  const answer = { hookSpecificOutput: { hookEventName: event, additionalContext: text } };
  return [{ hooks: [{ type: "command", command: `echo '${JSON.stringify(answer)}'` }] }];
};

const EVERY_KIND = {
  ...harmlessHooks([
    ...(["SessionStart", "SessionEnd", "Stop", "SubagentStart", "SubagentStop", "PermissionRequest"] as const),
    ...(["PostToolUseFailure", "TaskCreated", "TaskCompleted", "TeammateIdle"] as const),
  ]),
  UserPromptSubmit: saying("UserPromptSubmit", "told at the prompt"),
  PreToolUse: saying("PreToolUse", "told before the call"),
  PostToolUse: [
    ...saying("PostToolUse", "told after the call"),
    { hooks: [{ type: "command", command: ":", async: true }] },
  ],
};

const without = (names: object): Way["env"] =>
  Object.fromEntries(Object.keys(names).map((name) => [name, undefined])) as Way["env"];

/** Nothing but a stack is wrong with a reader that has gone or a disk under stdout that is full. */
const noStack = ({ stderr }: Exit) => (/^ +at /m.test(stderr) ? `a stack: ${stderr.slice(0, 300)}` : undefined);

const stateOf = (world: World): string => path.join(world.dir, "state");

function fill(folder: string): string {
  const file = path.join(folder, "filler");
  const to = fs.openSync(file, "w");
  try {
    for (let size = 1 << 20; size >= 512; size >>= 1) {
      try {
        for (;;) fs.writeSync(to, Buffer.alloc(size));
      } catch {
        // less of it
      }
    }
  } finally {
    fs.closeSync(to);
  }
  return file;
}

export const environments: Environment[] = [
  { name: "long secrets, CI variables, hooks" },
  {
    name: "bare: a short key, no hooks, no sandbox",
    env: { ...without(CI_VARIABLES), ...without(KEYS), OPENAI_API_KEY: "dummy" },
    settings: { hooks: {}, sandbox: { enabled: false } },
  },
  { name: "hooks of every kind", settings: { hooks: EVERY_KIND } },
  { name: "no git", git: false, fits: ({ name }) => name !== "worktree" },
  {
    name: "`git init` in between",
    git: false,
    between: ({ project }) => git(project, "init", "-q"),
    fits: ({ name }) => name !== "worktree",
  },
  {
    name: "moved in between",
    between: (world) => world.move(path.join(world.dir, "moved")),
    fits: ({ name }) => name !== "worktree", // git itself loses worktrees of a repository that is moved
  },
  {
    name: "taken up from another worktree",
    between: ({ project }) => git(project, "worktree", "add", "-q", "../other"),
    resume: ({ dir }) => ({ cwd: path.join(dir, "other") }),
    fits: ({ name }) => name !== "worktree", // it is counted there
  },
  {
    name: "taken up from another folder, by --cwd",
    between: ({ dir }) => void fs.mkdirSync(path.join(dir, "elsewhere"), { recursive: true }),
    resume: ({ dir, project }) => ({ cwd: path.join(dir, "elsewhere"), words: ["--cwd", project] }),
  },
  {
    name: "another pid namespace",
    env: { HOLDFAST_LEASE_MS: "1500" },
    resume: () => ({ wrap: ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"] }),
    fits: () => isRoot,
    mayBeUnknown: ({ effects }) => effects.length > 0,
  },
  {
    name: "a small disk, full in between",
    before(world) {
      fs.mkdirSync(stateOf(world));
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=16m", "tmpfs", stateOf(world)]);
    },
    async between(world, resume) {
      const filler = fill(stateOf(world));
      const { code, stderr } = await resume();
      fs.rmSync(filler);
      const said = stderr.split("\n").filter((line) => line.startsWith("holdfast: "));
      if (code !== 0 && !(said.length === 1 && /disk|no space/i.test(said[0]!)))
        throw new Error(`a full disk is not named in one line: ${stderr.slice(-400)}`);
    },
    mayFail: /ENOSPC|disk is full|unable to write file/, // the last is git's word for it
    after: (world) => void execFileSync("umount", ["-l", stateOf(world)]),
    fits: () => isRoot,
  },
  { name: "stdout closed after its first line", first: { stdout: "closed", complaint: noStack } },
  { name: "stdout on a full disk", first: { stdout: "full", complaint: noStack } },
  {
    name: "eight days later, others at work meanwhile",
    between: (world) => another(world, shiftedClock(WEEK_AND_A_DAY)),
    resume: () => ({ env: shiftedClock(WEEK_AND_A_DAY) }),
  },
  {
    name: "the clock set back two hours, taken up by -c",
    before: (world) => another(world),
    first: { env: shiftedClock(-2 * HOUR) },
    resume: () => ({ env: shiftedClock(-2 * HOUR) }),
    newest: true,
    fits: ({ workflow }) => !workflow,
  },
  { name: "a workflow, taken up by -p -r", byPrompt: true, fits: ({ workflow }) => workflow === true },
  {
    name: "few open files",
    first: { wrap: ["prlimit", "--nofile=200:200"] },
    resume: () => ({ wrap: ["prlimit", "--nofile=200:200"] }),
  },
];

/** Started by another build, taken up by this one. Only where one is given: HOLDFAST_CRASH_OTHER_CLI=…/bin/holdfast.js */
const other = process.env.HOLDFAST_CRASH_OTHER_CLI;
if (other)
  environments.push({
    name: "another version began it",
    first: { cli: other },
    // Who answers has this version: both would make the same project at the same moment.
    fits: ({ name }) => name !== "approval",
    mayBeUnknown: ({ effects }) => effects.length > 0, // 4888304 recorded a command before there was a place for it
  });

export const environment = (name: string): Environment => {
  const found = environments.find((e) => e.name.includes(name));
  if (!found) throw new Error(`no environment "${name}"`);
  return found;
};
