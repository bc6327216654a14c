import { describe, expect, it } from "vitest";
import { type Intent, isContinuation, understand } from "../../src/models/rehearsal/request.ts";

const list = (label: string, pattern: string, path?: string): Intent => ({
  kind: "list",
  files: path === undefined ? { label, pattern } : { label, pattern, path },
});
const python = list("Python", "**/*.py");
const todo = (subject: string): Intent => ({ kind: "todo", subject });
const read = (path: string): Intent => ({ kind: "read", path });
const run = (command: string, background = false): Intent => ({ kind: "run", command, background });
const search = (text: string, path?: string): Intent =>
  path === undefined ? { kind: "search", text } : { kind: "search", text, path };
const write = (path: string, content: string): Intent => ({ kind: "write", path, content });
const edit = (path: string, oldText: string, newText: string, all = false): Intent => ({
  kind: "edit",
  path,
  oldText,
  newText,
  all,
});
const report: Intent = { kind: "report" };
const server = (query?: string): Intent => ({ kind: "server", server: "docs", query });
const skill: Intent = { kind: "skill", name: "code-review" };
const lastCommit = run("git show --stat HEAD");

const ENGLISH: [string, Intent[]][] = [
  ["Create a todo list for inspecting this repo, then list Python files", [todo("inspecting this repo"), python]],
  [
    "create a TO-DO list for inspecting this repo AND THEN list all the python files.",
    [todo("inspecting this repo"), python],
  ],
  [
    "Please list the Python files after creating a todo list for inspecting this repo",
    [todo("inspecting this repo"), python],
  ],
  ["1. Make a todo list to inspect the repo\n2. Find the Python files", [todo("inspect the repo"), python]],
  [
    "Create a todo list: buy milk, walk the dog and read a book",
    [{ kind: "todo", subject: "", items: ["buy milk", "walk the dog", "read a book"] }],
  ],
  ["could you list TypeScript files?", [list("TypeScript", "**/*.{ts,tsx}")]],
  ["Which Python files are there?", [python]],
  ["show me the Markdown files in docs", [list("Markdown", "**/*.md", "docs")]],
  ["find all *.go files", [list("*.go", "**/*.go")]],
  ["list src/**/*.ts", [list("src/**/*.ts", "src/**/*.ts")]],
  ["List Python files, but first create a todo list for inspecting this repo", [todo("inspecting this repo"), python]],
  ["how many Python files are there?", [python]],
  ["List all files", [list("", "**/*")]],
  ["find foo.ts", [list("**/foo.ts", "**/foo.ts")]],
  ["list Python files and tell me the result", [python, report]],
  ["Run npm install in the background and continue reading README.md", [run("npm install", true), read("README.md")]],
  ["In the background, run npm install and read README.md", [run("npm install", true), read("README.md")]],
  ["run `npm install` in the background while reading the README", [run("npm install", true), read("README.md")]],
  ["Start npm install in the background; then keep reading README.md", [run("npm install", true), read("README.md")]],
  ['run echo "a and b" && ls -la .', [run('echo "a and b" && ls -la .')]],
  ['Execute "npm test".', [run("npm test")]],
  ["read package.json and src/a.ts", [read("package.json"), read("src/a.ts")]],
  ['read "my notes.txt"', [read("my notes.txt")]],
  ["Create a file café.txt containing `x`", [write("café.txt", "x\n")]],
  ["read заметки/день.md and Ölçü.md", [read("заметки/день.md"), read("Ölçü.md")]],
  ["list Markdown files in café", [list("Markdown", "**/*.md", "café")]],
  ["Read the file README.md and summarize it", [read("README.md")]],
  ["what's in package.json?", [read("package.json")]],
  ["search for agent loop", [search("agent loop")]],
  ["grep TODO in src", [search("TODO", "src")]],
  ["look for “read the file” in this repo", [search("read the file")]],
  ["search README.md for install", [search("install", "README.md")]],
  ["where is createHarness defined?", [search("createHarness")]],
  [
    "Use a subtask to find the test framework of this project",
    [{ kind: "subtask", prompt: "Find the test framework of this project" }],
  ],
  [
    "find the test framework of this project using a subagent",
    [{ kind: "subtask", prompt: "Find the test framework of this project" }],
  ],
  ["With a subtask, list Go files", [{ kind: "subtask", prompt: "List Go files" }]],
  ["What test framework does this project use?", [{ kind: "framework" }]],
  ["write notes.txt with hello world", [write("notes.txt", "hello world\n")]],
  ["Create a file todo.txt containing buy milk and make tea", [write("todo.txt", "buy milk and make tea\n")]],
  ["write `hi` to out/x.txt, then show it", [write("out/x.txt", "hi\n"), read("out/x.txt")]],
  ["create an empty file x.md", [write("x.md", "")]],
  ["replace foo with bar in a.txt", [edit("a.txt", "foo", "bar")]],
  ["in a.txt, replace `foo x` with `bar`", [edit("a.txt", "foo x", "bar")]],
  ["edit a.txt and replace foo with bar", [edit("a.txt", "foo", "bar")]],
  ["change all foo to bar in src/a.ts", [edit("src/a.ts", "foo", "bar", true)]],
  ["Connect to the docs MCP server and search for agent loop", [server("agent loop")]],
  ["connect to the MCP server called docs", [server()]],
  ["connect to docs over MCP, then list Python files", [server(), python]],
  ["search for MCP", [search("MCP")]],
  ["Load the code-review skill and review the last commit", [skill, lastCommit]],
  ["I prefer tabs. Remember that.", [{ kind: "remember", words: "I prefer tabs" }]],
  ["remember that I prefer tabs", [{ kind: "remember", words: "I prefer tabs" }]],
  ["What do you remember?", [{ kind: "recall" }]],
];

const JAPANESE: [string, Intent[]][] = [
  [
    "このリポジトリを調べるためのTODOリストを作成して、その後Pythonファイルを一覧表示して",
    [todo("このリポジトリを調べる"), python],
  ],
  [
    "このリポジトリを調査するtodoリストを作ってから、Python のファイルを列挙してください。",
    [todo("このリポジトリを調査する"), python],
  ],
  [
    "リポジトリを調べるＴｏＤｏリストを作り、次にPythonファイルをリストアップして",
    [todo("リポジトリを調べる"), python],
  ],
  ["TODOリスト: 買い物、掃除 を作って", [{ kind: "todo", subject: "", items: ["買い物", "掃除"] }]],
  ["TypeScriptファイルの一覧", [list("TypeScript", "**/*.{ts,tsx}")]],
  ["src の中の Markdown ファイルを見せて", [list("Markdown", "**/*.md", "src")]],
  ["すべてのファイルを一覧にして", [list("", "**/*")]],
  ["Pythonファイルを列挙して、結果を教えて", [python, report]],
  ["npm install をバックグラウンドで実行して、README.md を読み続けて", [run("npm install", true), read("README.md")]],
  ["バックグラウンドで npm install を実行しながら README.md を読んで", [run("npm install", true), read("README.md")]],
  ["バックグラウンドで、npm install を実行して。README.md も読んで。", [run("npm install", true), read("README.md")]],
  ["`npm test` を実行して", [run("npm test")]],
  ["README.mdを読んでください", [read("README.md")]],
  ["「agent loop」を検索して", [search("agent loop")]],
  ["src から createHarness を探して", [search("createHarness", "src")]],
  ["foo を grep して", [search("foo")]],
  [
    "サブタスクを使って、このプロジェクトのテストフレームワークを調べて",
    [{ kind: "subtask", prompt: "このプロジェクトのテストフレームワークを調べて" }],
  ],
  ["テストフレームワークは何ですか？", [{ kind: "framework" }]],
  ["a.txt に「こんにちは」と書いて、それを読んで", [write("a.txt", "こんにちは\n"), read("a.txt")]],
  ["「やあ」という内容の b.txt を作成して", [write("b.txt", "やあ\n")]],
  ["a.txt の「foo」を「bar」に置き換えて", [edit("a.txt", "foo", "bar")]],
  ["a.txtのfooをbarに置換して", [edit("a.txt", "foo", "bar")]],
  ["メモ.txt に「こんにちは」と書いて", [write("メモ.txt", "こんにちは\n")]],
  ["「メモ.txt」に「こんにちは」と書いて", [write("メモ.txt", "こんにちは\n")]],
  ["ノート/memo.md に「a」と書いて", [write("ノート/memo.md", "a\n")]],
  ["議事録.md の「a」を「b」に置き換えて", [edit("議事録.md", "a", "b")]],
  ["議事録2.mdのfooをbarに置換して", [edit("議事録2.md", "foo", "bar")]],
  ["メモ.txtを読んで", [read("メモ.txt")]],
  ["src/はじめに.md を読んで", [read("src/はじめに.md")]],
  ["a.mdとメモ.txtとb.mdを読んで", [read("a.md"), read("メモ.txt"), read("b.md")]],
  ["ファイルa.txtを読んで", [read("a.txt")]],
  ["「やあ」という内容のb.txtを作成して", [write("b.txt", "やあ\n")]],
  ["docs の MCP サーバーに接続して agent loop を検索して", [server("agent loop")]],
  ["docs の MCP サーバーに接続して", [server()]],
  ["docs という MCP に接続して、agent loop を検索して", [server("agent loop")]],
  ["code-review スキルを読み込んで、最後のコミットをレビューして", [skill, lastCommit]],
  ["タブが好きです。覚えておいて。", [{ kind: "remember", words: "タブが好きです" }]],
  ["何を覚えている？", [{ kind: "recall" }]],
  ["docs/の中のa.mdを読んで", [read("docs/"), read("a.md")]],
];

describe("understanding a request", () => {
  it.each(ENGLISH)("reads %j", (text, intents) => expect(understand(text)).toEqual({ lang: "en", intents }));
  it.each(JAPANESE)("reads %j", (text, intents) => expect(understand(text)).toEqual({ lang: "ja", intents }));

  it.each([
    "hello",
    "How do I run the tests?",
    "run the tests",
    "list large files",
    "find the bug",
    "connect to the MCP server",
    "Don't run npm install",
    "run npm install but don't read README.md",
    "npm install を実行しないで",
    "README.md を読まないでください",
    "Sing a song and read README.md",
    "大きいファイルを一覧して",
    "私のメモ.txt を読んで",
    "srcのメモ.txtに「a」と書いて",
    "テストを実行して",
    "コーヒーを入れて、README.md を読んで",
  ])("does not guess at %j", (text) => {
    const { intents, unknown } = understand(text);
    expect({ intents, understood: unknown === undefined }).toEqual({ intents: [], understood: false });
  });

  it("stops at the part that it does not understand", () => {
    expect([
      understand("Read a.md and make me a sandwich, then run `ls`"),
      understand("a.md を読んで、コーヒーを入れて"),
    ]).toEqual([
      { lang: "en", intents: [read("a.md")], unknown: "make me a sandwich" },
      { lang: "ja", intents: [read("a.md")], unknown: "コーヒーを入れて" },
    ]);
  });

  it("tells a continuation from a request", () => {
    const texts = [
      "continue",
      "Please go on.",
      "続けてください。",
      "",
      "continue reading README.md",
      "go",
      "続けて a.md を読んで",
    ];
    expect(texts.map(isContinuation)).toEqual([true, true, true, true, false, false, false]);
  });
});
