// Requests 7 and 8 of the specification, offline, as a user sees them: what is to be remembered, and its use in a new context; a skill, and
// the review it is for. Each killed half-way, and taken up.
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { openScenario } from "./project.ts";

async function setUp() {
  const scenario = await openScenario({ "main.py": "print('hi')\n" });
  fs.cpSync("examples/skills", path.join(scenario.opts.state, ".claude/skills"), { recursive: true });
  return scenario;
}

const REMEMBER = { English: "I prefer tabs. Remember that.", Japanese: "タブが好きです。覚えておいて。" };
const RECALL = { English: "What do you remember?", Japanese: "何を覚えている？" };
const WORDS = { English: "I prefer tabs", Japanese: "タブが好きです" };
const REVIEW = {
  English: "Load the code-review skill and review the last commit",
  Japanese: "code-review スキルを読み込んで、最後のコミットをレビューして",
};

for (const language of ["English", "Japanese"] as const) {
  test(`${language}: what the user says is remembered once, over a kill, and used in a new context`, async () => {
    const { run, json, killed } = await setUp();
    const { code, stdout } = await killed("effect.done:1", [REMEMBER[language]]);
    expect([code, stdout.includes(WORDS[language])]).toEqual([0, true]);
    const all = (await json("memory", "ls")) as { text: string; from: { said: string } }[];
    expect(all.map(({ text, from }) => [text, from.said])).toEqual([[WORDS[language], "user"]]);
    expect((await run(["-p", RECALL[language]])).stdout).toContain(WORDS[language]);
  });

  test(`${language}: a skill is loaded and followed, over a kill`, async () => {
    const { killed } = await setUp();
    const { code, stdout } = await killed("reply.taken:2", [REVIEW[language]]);
    expect([code, stdout.includes("Code review"), stdout.includes("main.py")]).toEqual([0, true, true]);
  });
}
