// A repository for a test, its worktrees, and an agent with the tools on them.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { createTasks } from "../../src/mechanisms/tasks/index.ts";
import { entering } from "../../src/mechanisms/tasks/task-tree.ts";
import { createWorktrees, openWorktrees, type WorktreesOptions } from "../../src/mechanisms/worktrees/index.ts";
import { openWorld } from "../tasks/world.ts";
import { scratch, testTurn } from "../turn.ts";

export const git = (cwd: string, ...args: string[]): string =>
  execFileSync("git", ["-c", "user.name=n", "-c", "user.email=e@x", "-c", "init.defaultBranch=main", ...args], {
    cwd,
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOME: "/nonexistent", GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();

export function put(dir: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
    if (text.startsWith("#!")) chmodSync(join(dir, name), 0o755);
  }
}

export const text = (...path: string[]): string => readFileSync(join(...path), "utf8");

/** A repository with one commit. */
export function makeRepository(dir: string, files: Record<string, string> = { "a.txt": "one\n" }): string {
  mkdirSync(dir, { recursive: true });
  git(dir, "init", "-q");
  put(dir, files);
  git(dir, "add", "-A");
  git(dir, "commit", "-qm", "one");
  return dir;
}

export function commit(dir: string, files: Record<string, string>): void {
  put(dir, files);
  git(dir, "add", "-A");
  git(dir, "commit", "-qm", "work");
}

export interface SetUp extends WorktreesOptions {
  files?: Record<string, string>;
  link?: string[];
  agent?: string;
}

export async function setUp({ files, link, agent, ...more }: SetUp = {}) {
  const base = scratch(onTestFinished);
  const root = makeRepository(join(base, "project"), files);
  const dir = join(base, "state/worktrees");
  const { board, dispose } = await openWorld();
  onTestFinished(dispose);
  const worktrees = openWorktrees({ dir, root, link });
  const opened = async () => board;
  const turn = testTurn(
    [
      createTasks({ board: opened, placeOf: worktrees.placeOf }),
      createWorktrees({ worktrees, offer: true, board: opened, enter: entering, ...more }),
    ],
    { root, agent },
  );
  const says = async (name: string, input: unknown): Promise<string> => {
    const { content, isError } = await turn.call(name, input);
    return `${isError ? "! " : ""}${content}`;
  };
  return { base, root, dir, board, worktrees, turn, says, at: (name: string) => join(dir, name) };
}
