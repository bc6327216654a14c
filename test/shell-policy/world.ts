// The world that the tests of the permission engine judge in: a project with a home and something outside.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";
import { realPath } from "../../src/file-access/paths.ts";
import { decideCall } from "../../src/shell-policy/engine.ts";
import type { Judgement, Policy, World } from "../../src/shell-policy/types.ts";

export interface TestWorld extends World {
  base: string;
}

let worlds = Date.now();

export function makeWorld(opts: Partial<World> = {}, setup: string[] = []): TestWorld {
  // No letters by chance: commands of the corpora replace letters of paths.
  const made = path.join(fs.realpathSync(os.tmpdir()), `permissions-${process.pid}-${worlds++}`);
  const base = path.join(made, "base");
  const [root, home] = [path.join(base, "proj"), path.join(base, "home")];
  for (const dir of ["proj/src", "proj/.git/hooks", "proj/docs", "home/.ssh", "outside/dir"]) {
    fs.mkdirSync(path.join(base, dir), { recursive: true });
  }
  for (const file of ["README.md", "package.json", ".env", "src/index.ts", "src/a.ts"]) {
    fs.writeFileSync(path.join(root, file), "x\n");
  }
  for (const line of setup) execFileSync("sh", ["-c", line], { cwd: root });
  onTestFinished(() => fs.rmSync(made, { recursive: true, force: true }));
  return {
    base,
    root,
    cwd: root,
    home,
    additionalDirectories: [],
    readable: [],
    sandboxed: true,
    realPath,
    kind,
    links: (at) => fs.statSync(at, { throwIfNoEntry: false })?.nlink ?? 1,
    trustedTools: [],
    ...opts,
  };
}

function kind(at: string): ReturnType<World["kind"]> {
  const stat = fs.statSync(at, { throwIfNoEntry: false });
  if (!stat) return "missing";
  return stat.isFile() ? "file" : stat.isDirectory() ? "directory" : "other";
}

/** For thousands of decisions in a world that does not change: each path is looked at once. */
export function unchanging(world: TestWorld): TestWorld {
  const once = <T>(look: (path: string) => T): ((path: string) => T) => {
    const known = new Map<string, T>();
    return (path) => {
      if (!known.has(path)) known.set(path, look(path));
      return known.get(path)!;
    };
  };
  return { ...world, realPath: once(world.realPath), kind: once(world.kind) };
}

export interface RuleTexts {
  mode?: Policy["mode"];
  allow?: string[];
  ask?: string[];
  deny?: string[];
}

export function makePolicy(world: World, rules: RuleTexts = {}): Policy {
  const texts = (list: string[] = []) => list.map((text) => ({ text, source: "test", base: world.root }));
  return { mode: rules.mode ?? "default", allow: texts(rules.allow), ask: texts(rules.ask), deny: texts(rules.deny) };
}

export function judgeCommand(world: World, command: string, rules: RuleTexts = {}): Promise<Judgement> {
  return decideCall(makePolicy(world, rules), { tool: "bash", effect: "job", input: { command } }, world);
}

export function judgeFile(world: World, tool: string, input: object, rules: RuleTexts = {}): Promise<Judgement> {
  const effect = ["read_file", "glob", "grep"].includes(tool) ? "read" : "reconcile";
  return decideCall(makePolicy(world, rules), { tool, effect, input }, world);
}

/** Those that were not decided so. */
export async function others(
  world: World,
  commands: string[],
  decision: string,
  rules: RuleTexts = {},
): Promise<string[]> {
  const wrong: string[] = [];
  for (const command of commands) {
    const judged = await judgeCommand(world, command, rules);
    if (judged.decision !== decision) wrong.push(`${command} → ${judged.decision} (${judged.reason})`);
  }
  return wrong;
}
