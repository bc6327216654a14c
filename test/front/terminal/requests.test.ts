// The seed's requests typed at a real terminal, in both languages: killed half-way, gone on with by `holdfast -c`, and the end is the same.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { scratch } from "../../turn.ts";
import { hasTmux, startTmux, type Tmux } from "./tmux.ts";

const root = path.join(import.meta.dirname, "../../..");
const FILES = {
  "main.py": "print('hi')\n",
  "README.md": "# Demo\n\n## Use\n",
  "package.json": JSON.stringify({ scripts: { test: "node --test", install: "echo installed >> installs.txt" } }),
  ".npmrc": "offline=true\nupdate-notifier=false\n",
};
const docs = { command: "node", args: [path.join(root, "examples/docs-server/server.mjs")] };
const SERVER = ["--mcp-config", JSON.stringify({ mcpServers: { docs } })];

interface Request {
  words: string;
  /** Where it is killed. */
  point: string;
  end: RegExp;
  args?: string[];
  /** What a person does on the way, where somebody is asked. */
  answers?: (terminal: Tmux) => Promise<void>;
  proof?: (cwd: string) => void;
}

/** The question as it is on the screen, answered once it has stood there. */
async function allow(terminal: Tmux): Promise<void> {
  await terminal.until("[y] yes, this once");
  await sleep(1_800);
  terminal.keys("y");
}

const installedOnce = (cwd: string) =>
  expect(fs.readFileSync(path.join(cwd, "installs.txt"), "utf8")).toBe("installed\n");

const REQUESTS: Record<string, Request> = {
  "todo list": {
    words: "Create a todo list for inspecting this repo, then list Python files",
    point: "effect.done:2",
    end: /1 Python file[\s\S]*main\.py[\s\S]*^>/m,
  },
  "todo list, in Japanese": {
    words: "このリポジトリを調べるための TODO リストを作成して、その後 Python ファイルを一覧表示して",
    point: "reply.taken:2",
    end: /main\.py[\s\S]*^>/m,
  },
  "docs server": {
    words: "Connect to the docs MCP server and search for agent loop",
    point: "results.durable:1",
    args: SERVER,
    end: /architecture\.md[\s\S]*^>/m,
    answers: allow,
  },
  "docs server, in Japanese": {
    words: "docs の MCP サーバーに接続して agent loop を検索して",
    point: "results.durable:1",
    args: SERVER,
    end: /architecture\.md[\s\S]*^>/m,
    answers: allow,
  },
  reminder: {
    words: "remind me of the meeting in 5 seconds",
    point: "results.durable:1",
    end: /Reminder: the meeting[\s\S]*^>/m,
  },
  "reminder, in Japanese": {
    words: "5秒後に会議をリマインドして",
    point: "results.durable:1",
    end: /リマインダー: 会議[\s\S]*^>/m,
  },
  "background install": {
    words: "Run npm install in the background and continue reading README.md",
    point: "job.spawned:1",
    args: ["--allowedTools", "Bash(npm install)"],
    end: /Background job job_\w+ completed \(exit code 0\)[\s\S]*^>/m,
    proof: installedOnce,
  },
  "background install, in Japanese": {
    words: "npm install をバックグラウンドで実行して、README.md を読み続けて",
    point: "results.durable:1",
    args: ["--allowedTools", "Bash(npm install)"],
    end: /完了（終了コード 0）[\s\S]*^>/m,
    proof: installedOnce,
  },
  subtask: {
    words: "Use a subtask to find the test framework of this project",
    point: "model.before:3",
    end: /Test framework: node:test[\s\S]*^>/m,
  },
  "subtask, in Japanese": {
    words: "サブタスクを使ってこのプロジェクトのテストフレームワークを調べて",
    point: "turn.ended:1",
    end: /テストフレームワーク: node:test[\s\S]*^>/m,
  },
};

const SAMPLE = ["todo list, in Japanese", "background install", "docs server"];
const chosen = Object.entries(REQUESTS).filter(([name]) => process.env.HOLDFAST_LONG || SAMPLE.includes(name));

function setUp() {
  const dir = scratch(onTestFinished);
  const cwd = path.join(fs.realpathSync(scratch(onTestFinished)), "proj");
  fs.mkdirSync(cwd);
  for (const [name, text] of Object.entries(FILES)) fs.writeFileSync(path.join(cwd, name), text);
  for (const words of [
    ["init", "-q"],
    ["add", "."],
    ["commit", "-qm", "first"],
  ])
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...words], { cwd });
  const start = (args: string[], env = {}) => {
    const terminal = startTmux({ dir, cwd, args, env, rows: 45 });
    onTestFinished(() => terminal.close());
    return terminal;
  };
  return { cwd, start };
}

describe.runIf(hasTmux)("typed at a terminal, killed and gone on with", { timeout: 90_000 }, () => {
  test.each(chosen)("%s", async (_, { words, point, end, args = [], answers, proof }) => {
    const { cwd, start } = setUp();
    const first = start(args, { HOLDFAST_CRASH_AT: point });
    await first.until(/^>/m);
    await first.until("Things to try");
    first.type(words);
    await first.until("ended with 137");
    first.close();
    const again = start(["-c", ...args]);
    await answers?.(again);
    const shown = await again.until(end, { ms: 40_000 });
    expect(shown).not.toContain("✗");
    proof?.(cwd);
    again.keys("C-d");
    await again.until("ended with 0");
  });

  test.each(["English", "Japanese"])(
    "a team, %s: one plan approved, one rejected in the team view, killed half-way",
    async (language) => {
      if (language === "Japanese" && !process.env.HOLDFAST_LONG) return;
      const words = {
        English:
          "Create two tasks, create worktrees for them, then spawn alice and bob. Ask them to submit plans before claiming tasks.",
        Japanese:
          "タスクを2つ作り、それぞれにワークツリーを作って、alice と bob を起動してください。タスクを取る前に計画を提出するよう頼んでください。",
      }[language]!;
      const { start } = setUp();
      const mode = ["--permission-mode", "acceptEdits"];
      const first = start(mode);
      await first.until("Things to try");
      first.type(words);
      await first.until("2 unreviewed plans", { ms: 40_000 }).catch(() => first.until("2 teammates"));
      await sleep(1_000);
      process.kill(first.pid(), "SIGKILL");
      await first.until("ended with 137");
      first.close();
      const again = start(["-c"]);
      await again.until("2 teammates", { ms: 30_000 });
      again.keys("C-t");
      await again.until(/alice +waits for you/, { ms: 30_000 });
      again.keys("Down");
      again.keys("a"); // shows the plan
      await again.until(/lines \d+–\d+ of/);
      again.keys("a");
      await again.until(/plan_alice_\w+ approved/);
      await again.until(/bob +waits for you/);
      again.keys("Down");
      again.keys("r");
      await sleep(300);
      again.type("say more about the risks");
      await again.until(/plan_bob_\w+ rejected/, { ms: 30_000 });
      await again.until(/task-1 +\d+ commits?, 1 file/, { ms: 40_000 });
      expect(again.screen()).toMatch(/bob +waits for you/); // a new plan
      again.keys("Escape");
      await sleep(500); // Escape with another key right behind it would be Alt
      again.keys("C-d");
      const left = await again.until("ended with 0", { ms: 30_000 });
      expect(left).toContain("Nothing of it runs while no host does");
    },
  );
});
