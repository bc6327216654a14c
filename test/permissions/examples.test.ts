import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { judgeCommand, judgeFile, makeWorld } from "./world.ts";

interface Example {
  id: string;
  expect: string;
  kind: "attack" | "benign";
  tier: "hard" | "soft";
}
interface CommandExample extends Example {
  command: string;
  allow_rule: string | null;
}
interface PathExample extends Example {
  tool: "read" | "write" | "edit";
  path: string;
  setup: string[];
}

function readLines<T>(name: string): T[] {
  const lines = fs
    .readFileSync(path.join(import.meta.dirname, name), "utf8")
    .trim()
    .split("\n");
  return lines.map((line) => JSON.parse(line) as T);
}

const TOOLS = { read: "read_file", write: "write_file", edit: "edit_file" };
const AGENT_DIRS = [".claude", ".holdfast"];

describe("the shared policy examples", () => {
  it.each(AGENT_DIRS)("are decided as the policy says, with %s as the agent's directory", async (dir) => {
    const world = makeWorld();
    const wrong: string[] = [];
    for (const example of readLines<CommandExample>("examples.jsonl")) {
      const command = example.command.replaceAll("@AGENT_DIR@", dir);
      const allow = example.allow_rule === null ? [] : [`Bash(${example.allow_rule} *)`];
      const judged = await judgeCommand(world, command, { allow });
      if (judged.decision !== example.expect)
        wrong.push(`${example.id} ${command}: ${judged.decision} ${judged.reason}`);
    }
    expect(wrong).toEqual([]);
  });

  it.each(AGENT_DIRS)("of paths are decided as the policy says, with %s as the agent's directory", async (dir) => {
    const wrong: string[] = [];
    for (const example of readLines<PathExample>("path-examples.jsonl")) {
      const world = makeWorld();
      const fill = (text: string) =>
        text.replaceAll("@BASE@", world.base).replaceAll("@WS@", world.root).replaceAll("@AGENT_DIR@", dir);
      for (const line of example.setup) execFileSync("sh", ["-c", fill(line)], { cwd: world.root });
      const judged = await judgeFile(world, TOOLS[example.tool], { path: fill(example.path) }, { mode: "acceptEdits" });
      if (judged.decision !== example.expect)
        wrong.push(`${example.id} ${example.path}: ${judged.decision} ${judged.reason}`);
    }
    expect(wrong).toEqual([]);
  });
});
