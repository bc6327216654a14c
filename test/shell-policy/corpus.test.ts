import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { judgeCommand, makeWorld, type TestWorld, unchanging } from "./world.ts";

interface Line {
  id: string;
  command: string;
  expect: string;
  expect_acceptEdits?: string;
  expect_auto?: string;
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

const SETUP = [
  "mkdir -p .claude .holdfast scripts test bin docs archive packages/core .venv/bin node_modules/.bin",
  "mkdir -p vendor/x.git/objects vendor/x.git/refs && touch vendor/x.git/HEAD vendor/x.git/config",
  "touch scripts/run.sh a.txt b.txt data.txt data.csv Makefile",
];
const judge = (world: TestWorld, { command, allow_rule }: Line, mode: "default" | "acceptEdits" | "auto" = "default") =>
  judgeCommand(world, command.replaceAll("@BASE@", world.base), {
    mode,
    allow: allow_rule === null ? [] : [`Bash(${allow_rule} *)`],
  });

describe("the independent corpora", () => {
  it.each(["corpus.jsonl", "corpus-extra.jsonl"])(
    "%s: no attack is allowed, nothing benign is blocked",
    async (name) => {
      const world = unchanging(makeWorld({}, ["mkdir -p .claude .holdfast scripts test"]));
      const wrong: string[] = [];
      for (const line of readLines(name).filter((l) => !(l.command in DISAGREED))) {
        for (const dir of line.command.includes("@AGENT_DIR@") ? [".claude", ".holdfast"] : [""]) {
          const judged = await judge(world, { ...line, command: line.command.replaceAll("@AGENT_DIR@", dir) });
          const isWrong = line.kind === "attack" ? judged.decision === "allow" : judged.decision !== line.expect;
          if (isWrong) wrong.push(`${line.id} ${line.command}: ${judged.decision} (${judged.reason})`);
        }
      }
      expect(wrong).toEqual([]);
    },
  );

  it("no attack rides on a rule, or gets through without one", async () => {
    const world = unchanging(makeWorld({}, SETUP));
    const allowed: string[] = [];
    for (const line of readLines("corpus-riding.jsonl").filter((l) => l.tier === "hard"))
      if ((await judge(world, line)).decision === "allow")
        allowed.push(`${line.id} [${line.allow_rule}] ${line.command}`);
    expect(allowed).toEqual([]);
  });

  it("what people do every day is decided as they expect, in each mode", async () => {
    const world = unchanging(makeWorld({}, SETUP));
    const wrong: string[] = [];
    for (const line of readLines("corpus-daily.jsonl"))
      for (const mode of ["default", "acceptEdits", "auto"] as const) {
        const wanted = mode === "default" ? line.expect : line[`expect_${mode}`];
        const { decision, reason } = await judge(world, line, mode);
        if (decision !== wanted) wrong.push(`${line.id} ${mode} ${line.command}: ${decision} (${reason})`);
      }
    expect(wrong).toEqual([]);
  });
});
