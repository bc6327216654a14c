// Requests 7 and 8 of the specification, offline, as a user sees them: what is to be remembered, and its use in a new context; a skill, and
// the review it is for. Each killed half-way, and taken up.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runCli } from "../cli/cli.ts";
import { scratch } from "../turn.ts";

function setUp() {
  const cwd = scratch(onTestFinished);
  const state = scratch(onTestFinished);
  fs.writeFileSync(path.join(cwd, "main.py"), "print('hi')\n");
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd, encoding: "utf8" });
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "first");
  fs.cpSync("examples/skills", path.join(state, ".claude/skills"), { recursive: true });
  const run = (args: string[], env: Record<string, string> = {}) => runCli(args, { cwd, state, env });
  /** The same, killed once at that point and taken up. */
  const killed = async (point: string, prompt: string) => {
    const first = await run(["-p", prompt], { HOLDFAST_CRASH_AT: point });
    expect(first.signal).toBe("SIGKILL");
    return run(["-p", "-c"]);
  };
  return { run, killed };
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
    const { run, killed } = setUp();
    const { code, stdout } = await killed("effect.done:1", REMEMBER[language]);
    expect([code, stdout.includes(WORDS[language])]).toEqual([0, true]);
    const all = JSON.parse((await run(["memory", "ls", "--json"])).stdout) as {
      text: string;
      from: { said: string };
    }[];
    expect(all.map(({ text, from }) => [text, from.said])).toEqual([[WORDS[language], "user"]]);
    expect((await run(["-p", RECALL[language]])).stdout).toContain(WORDS[language]);
  });

  test(`${language}: a skill is loaded and followed, over a kill`, async () => {
    const { killed } = setUp();
    const { code, stdout } = await killed("reply.taken:2", REVIEW[language]);
    expect([code, stdout.includes("Code review"), stdout.includes("main.py")]).toEqual([0, true, true]);
  });
}
