// The rehearsal model as evaluator: conditions it understands are judged by what was done; all others it says it cannot judge.
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runCli } from "../cli/cli.ts";
import { scratch } from "../turn.ts";

const WRITE = "Create a file notes.txt containing `hello`";

async function goal(condition: string, prompt: string, model = "rehearsal", files: Record<string, string> = {}) {
  const [cwd, state] = [scratch(onTestFinished), scratch(onTestFinished)];
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(cwd, name), text);
  const flags = ["--permission-mode", "acceptEdits", "--allowedTools", "Bash(true)", "Bash(false)"];
  const { code, stdout } = await runCli(
    ["-p", "--goal", condition, prompt, "--model", model, "--output-format", "json", ...flags],
    { cwd, state },
  );
  const { verdict, why, judgements } = JSON.parse(stdout).goal;
  return [code, verdict, why.replace(/^.* in between: /, ""), judgements];
}

test.each([
  ["the file notes.txt exists", WRITE, [0, "met", "notes.txt is there", 1]],
  ["notes.txt が存在する", "notes.txt に「こんにちは」と書いて", [0, "met", "notes.txt is there", 1]],
  ["`other.txt` exists.", WRITE, [1, "not_reached", "nobody has looked whether other.txt is there", 3]],
  ["the file gone.txt exists", "Read gone.txt", [1, "not_reached", "gone.txt could not be opened", 3]],
  ["`true` passes", "Run `true`", [0, "met", "true ended with exit code 0", 1]],
  ["`false` passes", "Run `false`", [1, "not_reached", "false ended with exit code 1", 3]],
  ["true が成功する", "`true` を実行して", [0, "met", "true ended with exit code 0", 1]],
  ["all todos are done", "Create a todo list: one, two", [1, "not_reached", "2 of 2 todos are open", 3]],
  [
    "すべてのTODOが完了している",
    "TODO リスト: 一つ目、二つ目 を作って",
    [1, "not_reached", "2 of 2 todos are open", 3],
  ],
  [
    "all todos are done",
    "Create a todo list for inspecting this repo, then list Python files",
    [0, "met", "every item of the todo list is completed", 1],
  ],
  ["the code is beautiful", WRITE, [1, "impossible", "the rehearsal model cannot judge this", 1]],
])("%s: %s", async (condition, prompt, expected) => {
  expect(await goal(condition, prompt)).toEqual(expected);
});

test.each([
  ["/goal the file notes.txt exists", [0, "met", "notes.txt is there", 1]],
  ["/goal `true` passes", [0, "met", "true ended with exit code 0", 1]],
])("%s, said alone, is looked at", async (said, expected) => {
  const [cwd, state] = [scratch(onTestFinished), scratch(onTestFinished)];
  fs.writeFileSync(path.join(cwd, "notes.txt"), "hello\n");
  const args = ["-p", said, "--model", "rehearsal", "--output-format", "json", "--allowedTools", "Bash(true)"];
  const { code, stdout } = await runCli(args, { cwd, state });
  const { verdict, why, judgements } = JSON.parse(stdout).goal;
  expect([code, verdict, why, judgements]).toEqual(expected);
});

test("a script says what the evaluator says after a round; where it does not, the rehearsal model judges", async () => {
  const dir = scratch(onTestFinished);
  const file = path.join(dir, "script.yaml");
  fs.writeFileSync(
    file,
    `rounds:
  - text: I have begun.
    verdict: not yet, because the second part is missing
  - calls: [{ name: write_file, input: { path: a.txt, content: x } }]
  - text: I am done.
    verdict: met, because both parts are there
`,
  );
  expect(await goal("both parts are there", "go", `rehearsal:${file}`)).toEqual([0, "met", "both parts are there", 2]);
  fs.writeFileSync(file, "rounds: [{ text: Done. }]");
  expect(await goal("the code is beautiful", "go", `rehearsal:${file}`)).toEqual([
    ...[1, "impossible", "the rehearsal model cannot judge this", 1],
  ]);
});
