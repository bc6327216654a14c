// Requests 1, 2, 4, 5 and 6 of the specification, offline, in both languages, as a user sees them: each is killed half-way and taken up,
// and what was asked for has happened, once. Request 3: team-request.test.ts; 7 and 8: knowledge-requests.test.ts.
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { openScenario } from "./project.ts";

const root = path.join(import.meta.dirname, "../..");
const LANGUAGES = ["English", "Japanese"] as const;

const FILES = {
  "main.py": "print('hi')\n",
  "src/app.py": "x = 1\n",
  "README.md": "# Demo\n\n## Use\n",
  // An install that needs no network, and says how often it ran.
  "package.json": JSON.stringify({ scripts: { test: "node --test", install: "echo installed >> installs.txt" } }),
  ".npmrc": "offline=true\nupdate-notifier=false\n",
};

/** Every call that came to an end, with who made it. */
const ended = async ({ events }: Awaited<ReturnType<typeof openScenario>>): Promise<string[]> =>
  (await events())
    .filter(({ type }) => type === "tool.finished")
    .map(({ actor, data }) => `${actor} ${(data as { name: string }).name}`);

const masked = (text: string): string => text.trim().replaceAll(/(job|sch)_\w+/g, "$1_ID");

const TODO = {
  English: {
    words: "Create a todo list for inspecting this repo, then list Python files",
    // The list has been written, and the files were found: no result of it is recorded.
    point: "effect.done:2",
    answer: `Todo list (3 of 3 done):
- [x] Find the Python files (**/*.py)
- [x] Count them by folder
- [x] Report what was found

2 Python files:
- main.py
- src/app.py
By folder: . 1, src 1`,
  },
  Japanese: {
    words: "このリポジトリを調べるための TODO リストを作成して、その後 Python ファイルを一覧表示して",
    point: "results.durable:1",
    answer: `TODO リスト（3 件中 3 件完了）:
- [x] Python ファイルを探す (**/*.py)
- [x] フォルダーごとに数える
- [x] わかったことを報告する

Python ファイル 2 件:
- main.py
- src/app.py
フォルダー別: . 1, src 1`,
  },
};

const SERVER = {
  English: {
    words: "Connect to the docs MCP server and search for agent loop",
    // Connected, and not more: the server died with the process.
    point: "results.durable:1",
    found: "Found by docs for agent loop:",
  },
  Japanese: {
    words: "docs の MCP サーバーに接続して agent loop を検索して",
    // The search was asked for, and not sent.
    point: "reply.taken:2",
    found: "docs で agent loop を検索した結果:",
  },
};

const REMINDER = {
  English: {
    words: "remind me of the meeting in 3 minutes.",
    answer: "I will remind you: the meeting",
    said: "Reminder: the meeting",
  },
  Japanese: { words: "3分後に会議をリマインドして", answer: "お知らせします: 会議", said: "リマインダー: 会議" },
};

const INSTALL = {
  English: {
    words: "Run npm install in the background and continue reading README.md",
    point: "job.spawned:1",
    answer: [
      "`npm install` runs in the background: [Background job job_ID started]\n\nREADME.md: 3 lines\nTitle: Demo\nFirst headings: Use",
      "Background job job_ID completed (exit code 0).",
    ],
  },
  Japanese: {
    words: "npm install をバックグラウンドで実行して、README.md を読み続けて",
    point: "results.durable:1",
    answer: [
      "`npm install` をバックグラウンドで実行中です: [Background job job_ID started]\n\nREADME.md: 3 行\n題名: Demo\n最初の見出し: Use",
      "バックグラウンドジョブ job_ID: 完了（終了コード 0）。",
    ],
  },
};

const SUBTASK = {
  English: {
    words: "Use a subtask to find the test framework of this project",
    // In the child, before its second reply.
    point: "model.before:3",
    answer: "Subtask “Find the test framework of this project” answered:\nTest framework: node:test\n",
  },
  Japanese: {
    words: "サブタスクを使ってこのプロジェクトのテストフレームワークを調べて",
    // The child has answered; nobody has heard it.
    point: "turn.ended:1",
    answer: "サブタスク「このプロジェクトのテストフレームワークを調べて」の答え:\nテストフレームワーク: node:test\n",
  },
};

for (const language of LANGUAGES) {
  test(`${language}: a todo list is written, worked off and closed; the files are found`, async () => {
    const { words, point, answer } = TODO[language];
    const scenario = await openScenario(FILES);
    const { code, stdout } = await scenario.killed(point, [words]);
    expect([code, masked(stdout)]).toEqual([0, answer]);
    expect(await ended(scenario)).toEqual(["lead todo_write", "lead glob", "lead todo_write"]);
  });

  test(`${language}: the docs server is connected to and searched, also by a process that finds it gone`, async () => {
    const { words, point, found } = SERVER[language];
    const scenario = await openScenario(FILES);
    const docs = { command: "node", args: [path.join(root, "examples/docs-server/server.mjs")] };
    const flags = ["--mcp-config", JSON.stringify({ mcpServers: { docs } }), "--allowedTools", "mcp__docs"];
    const { code, stdout } = await scenario.killed(point, [words, ...flags], { args: flags });
    expect([code, stdout]).toEqual([0, expect.stringContaining(found)]);
    expect(stdout.slice(stdout.indexOf(found))).toContain("architecture.md");
    expect(await ended(scenario)).toEqual(["lead connect_mcp", "lead mcp__docs__search"]);
  });

  test(`${language}: a reminder is set, and said once, without a word from anyone, by the process that is there then`, async () => {
    const { words, answer, said } = REMINDER[language];
    const scenario = await openScenario(FILES);
    const later = {
      NODE_OPTIONS: `--require=${path.join(root, "test/crash/shift-clock.cjs")}`,
      HOLDFAST_TEST_CLOCK_MS: String(4 * 60_000),
    };
    const { code, stdout } = await scenario.killed("results.durable:1", [words], { args: ["--stay"], env: later });
    expect([code, stdout]).toEqual([0, expect.stringMatching(new RegExp(`^${answer}\n[\\s\\S]*\n\n${said}\n`))]);
    expect([stdout.split(said).length, await ended(scenario)]).toEqual([2, ["lead schedule_cron"]]);
    const fired = (await scenario.events()).filter(({ type }) => type === "cron.fired");
    expect(fired.map(({ data }) => data)).toMatchObject([{ skipped: 0, next: null }]);
  });

  test(`${language}: a command runs once beside the reading, and its end is told once`, async () => {
    const { words, point, answer } = INSTALL[language];
    const scenario = await openScenario(FILES);
    const { code, stdout } = await scenario.killed(point, [words, "--allowedTools", "Bash(npm install)"], {
      args: ["--stay"],
    });
    expect([code, answer.map((part) => masked(stdout).split(part).length)]).toEqual([0, [2, 2]]);
    expect(fs.readFileSync(path.join(scenario.opts.cwd, "installs.txt"), "utf8")).toBe("installed\n");
    expect((await ended(scenario)).sort()).toEqual(["lead bash", "lead read_file"]);
  });

  test(`${language}: a subtask finds the test framework; its work goes on, and its answer comes once`, async () => {
    const { words, point, answer } = SUBTASK[language];
    const scenario = await openScenario(FILES);
    const { code, stdout } = await scenario.killed(point, [words]);
    expect([code, stdout]).toEqual([0, expect.stringContaining(answer)]);
    const calls = await ended(scenario);
    const child = calls.find((call) => call.endsWith(" glob"))!.split(" ")[0];
    expect(calls).toEqual([`${child} glob`, `${child} grep`, `${child} read_file`, "lead task"]);
  });
}
