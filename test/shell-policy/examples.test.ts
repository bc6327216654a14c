import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { judgeCommand, judgeFile, makeWorld, unchanging } from "./world.ts";

interface Example {
  id: string;
  expect: string;
  kind: "attack" | "benign";
  tier: "hard" | "soft";
}
interface CommandExample extends Example {
  command: string;
  allow_rule: string | null;
  expect_acceptEdits?: string;
  expect_auto?: string;
}

/** Refused by the examples, asked by us. */
const ASKED = {
  "b275-tool-flags": "what find deletes inside the project is asked as rm is",
};
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

/** The older examples (b…) are matched to the word; of the newer ones only what is soft may be allowed. */
const isHeld = ({ id, tier, expect: wanted }: CommandExample, decision: string): boolean =>
  id.startsWith("b") && !(id in ASKED) ? decision === wanted : decision !== "allow" || tier === "soft";

const TOOLS = { read: "read_file", write: "write_file", edit: "edit_file" };
const AGENT_DIRS = [".claude", ".holdfast"];

describe("the shared policy examples", () => {
  it.each(AGENT_DIRS)("are decided as the policy says, with %s as the agent's directory", async (dir) => {
    const world = unchanging(makeWorld());
    const wrong: string[] = [];
    for (const example of readLines<CommandExample>("examples.jsonl")) {
      const command = example.command.replaceAll("@AGENT_DIR@", dir).replaceAll("@BASE@", world.base);
      const allow = example.allow_rule === null ? [] : [`Bash(${example.allow_rule} *)`];
      for (const mode of ["default", "acceptEdits", "auto"] as const) {
        const wanted = mode === "default" ? example.expect : example[`expect_${mode}`];
        if (wanted === undefined) continue;
        const { decision, reason } = await judgeCommand(world, command, { allow, mode });
        if (example.kind === "benign" ? decision !== wanted : !isHeld(example, decision))
          wrong.push(`${example.id} ${mode} ${command}: ${decision} ${reason}`);
      }
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
