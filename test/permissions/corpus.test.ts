import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { judgeCommand, makeWorld } from "./world.ts";

interface Line {
  id: string;
  command: string;
  expect: string;
  kind: "attack" | "benign";
  tier: "hard" | "soft";
  allow_rule: string | null;
}

/** Where we decide otherwise than the corpora, which were written independently. All are of the soft tier. */
const DISAGREED = {
  "git -C sub diff": "a directory of the same repository; with a .git of its own it is asked",
  "less README.md": "without a terminal a pager only prints",
  "gh pr list": "it reaches another machine",
  "mkdir -p .github/workflows": "continuous integration runs what lies there",
};

function readLines(name: string): Line[] {
  const lines = fs
    .readFileSync(path.join(import.meta.dirname, name), "utf8")
    .trim()
    .split("\n");
  return lines.map((line) => JSON.parse(line) as Line);
}

describe("the independent corpora", () => {
  it.each(["corpus.jsonl", "corpus-extra.jsonl"])(
    "%s: no attack is allowed, nothing benign is blocked",
    async (name) => {
      const world = makeWorld({}, ["mkdir -p .claude .holdfast scripts test"]);
      const wrong: string[] = [];
      for (const line of readLines(name).filter((l) => !(l.command in DISAGREED))) {
        for (const dir of [".claude", ".holdfast"]) {
          const allow = line.allow_rule === null ? [] : [`Bash(${line.allow_rule} *)`];
          const judged = await judgeCommand(world, line.command.replaceAll("@AGENT_DIR@", dir), { allow });
          const isWrong = line.kind === "attack" ? judged.decision === "allow" : judged.decision !== line.expect;
          if (isWrong) wrong.push(`${line.id} ${line.command}: ${judged.decision} (${judged.reason})`);
        }
      }
      expect(wrong).toEqual([]);
    },
  );
});
