// A project with a home, and commands in their sandbox.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, onTestFinished } from "vitest";
import { createJobs } from "../../src/mechanisms/jobs/index.ts";
import { createSandbox, type SandboxOptions } from "../../src/mechanisms/jobs/sandbox.ts";
import { probeSandbox } from "../../src/mechanisms/jobs/sandbox-state.ts";
import { scratch, type TestTurn, testTurn } from "../turn.ts";

export const state = probeSandbox(scratch((clean) => beforeAll(() => clean)));
export const works = state.works || process.env.CI === "true"; // under CI a missing sandbox fails, it does not skip

interface Setup {
  /** Made before the first command. */
  files?: Record<string, string>;
  sandbox?: Partial<SandboxOptions>;
}

export function setUp({ files = {}, sandbox = {} }: Setup = {}) {
  if (!state.works) throw new Error(state.why);
  const base = scratch(onTestFinished);
  const root = join(base, "project");
  const home = join(base, "home");
  for (const dir of [root, home]) mkdirSync(dir);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(base, name, ".."), { recursive: true });
    writeFileSync(join(base, name), text);
  }
  const enclose = createSandbox(state.bwrap, { root, home, dir: join(base, "private"), ...sandbox });
  const turn = granting(testTurn([createJobs({ dir: join(base, "jobs"), sandbox: enclose })], { root }));
  const run = async (command: string) => {
    const { content } = await turn.call("bash", { command });
    return content as string;
  };
  const text = (name: string) => (existsSync(join(base, name)) ? readFileSync(join(base, name), "utf8") : undefined);
  return { base, root, home, turn, run, text, sandbox: enclose };
}

/** The same over what is there already, with its project in `project`. */
export function setUpOver(base: string, sandbox: Partial<SandboxOptions>) {
  if (!state.works) throw new Error(state.why);
  const root = join(base, "project");
  const enclose = createSandbox(state.bwrap, {
    root,
    home: join(base, "home"),
    dir: join(base, "private"),
    ...sandbox,
  });
  const turn = granting(testTurn([createJobs({ dir: join(base, "jobs"), sandbox: enclose })], { root }));
  return { run: async (command: string) => (await turn.call("bash", { command })).content as string };
}

/** There is no gate here: a command that speaks of git is one that the gate has taken for git, the worst case for what is protected. */
function granting<T extends Pick<TestTurn, "call">>(turn: T): T {
  const { call } = turn;
  turn.call = (name, input, opts) => {
    const isGit = /\bgit\b/.test(String((input as { command?: unknown } | null)?.command));
    return call.call(turn, name, input, { ...opts, grants: { ...(isGit ? { git: true } : {}), ...opts?.grants } });
  };
  return turn;
}

export const gitInit = (root: string) => execFileSync("git", ["init", "-q"], { cwd: root });
