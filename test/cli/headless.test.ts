import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import type { ScriptRound } from "../../src/testing/model-server-script.ts";
import { KEYS } from "../environment.ts";
import { tempDir } from "../house.ts";
import { runCli, startCli } from "./cli.ts";

let cwd: string;
let state: string;
let server: ModelServer | undefined;

beforeEach(() => {
  cwd = tempDir("project");
  state = tempDir("state");
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  fs.rmSync(cwd, { recursive: true, force: true });
  fs.rmSync(state, { recursive: true, force: true });
});

const cli = (args: string[], more: { env?: Record<string, string>; stdin?: string } = {}) =>
  runCli(args, { cwd, state, ...more });
const serving = async (script: Parameters<typeof startModelServer>[0]) => {
  server = await startModelServer(script);
  return {
    OPENAI_BASE_URL: server.openaiUrl,
    OPENAI_API_KEY: KEYS.OPENAI_API_KEY,
    ANTHROPIC_BASE_URL: server.anthropicUrl,
    ANTHROPIC_API_KEY: KEYS.ANTHROPIC_API_KEY,
  };
};

describe("holdfast -p, offline", () => {
  it("makes a todo list and lists Python files with the rehearsal model, and says that it is one", async () => {
    fs.writeFileSync(path.join(cwd, "main.py"), "print(1)\n");
    fs.mkdirSync(path.join(cwd, "lib"));
    fs.writeFileSync(path.join(cwd, "lib/part.py"), "x = 2\n");
    const { code, stdout, stderr } = await cli([
      "-p",
      "Create a todo list for inspecting this repo, then list Python files",
    ]);
    expect(code).toBe(0);
    expect(stderr).toContain("offline rehearsal model, not an AI");
    expect(stderr).toMatch(/● todo_write/);
    expect(stderr).toMatch(/● glob \*\*\/\*\.py/);
    expect(stdout).toContain("main.py");
    expect(stdout).toContain("lib/part.py");
  });

  it("understands the same in Japanese", async () => {
    fs.writeFileSync(path.join(cwd, "main.py"), "print(1)\n");
    const { code, stdout } = await cli([
      "-p",
      "このリポジトリを調べるためのTODOリストを作成し、Pythonファイルを一覧表示して",
    ]);
    expect(code).toBe(0);
    expect(stdout).toContain("main.py");
  });

  it("runs a command in the background, reads on, and leaves nothing behind that jobs does not list", async () => {
    fs.writeFileSync(path.join(cwd, "README.md"), "# A project\n\nWords.\n");
    const { code, stdout, stderr } = await cli([
      "-p",
      "Run `sleep 0.2; echo installed` in the background and continue reading README.md",
    ]);
    expect(code).toBe(0);
    expect(`${stdout}${stderr}`).toMatch(/job_/);
    expect(stdout).toContain("A project");
    expect((await cli(["jobs", "ls", "--json"])).code).toBe(0);
  });

  it("says in one line what it understands when it does not", async () => {
    const { code, stdout } = await cli(["-p", "Explain quantum chromodynamics"]);
    expect(code).toBe(0);
    expect(stdout).toContain("offline rehearsal model");
  });
});

describe("holdfast -p with a server", () => {
  for (const [model, api] of [
    ["anthropic/claude-test", "anthropic"],
    ["openai/gpt-test", "openai"],
    ["openai-responses/gpt-test", "openai-responses"],
  ] as const) {
    it(`does the same over the ${api} wire`, async () => {
      fs.writeFileSync(path.join(cwd, "main.py"), "print(1)\n");
      const todos = (status: string) => [{ content: "look", status }];
      const env = await serving({
        script: [
          { calls: [{ name: "todo_write", input: { todos: todos("in_progress") } }] },
          { calls: [{ name: "glob", input: { pattern: "**/*.py" } }] },
          { text: "One Python file: main.py" },
        ],
      });
      const { code, stdout, stderr } = await cli(["-p", "Create a todo list …", "--model", model], { env });
      expect({ code, stdout, invalid: server!.log().invalid, apis: server!.log().requests.map((r) => r.api) }).toEqual({
        code: 0,
        stdout: "One Python file: main.py\n",
        invalid: [],
        apis: [api, api, api],
      });
      expect(stderr).toContain("main.py");
    });
  }

  it("prints one json object with result, usage and denials", async () => {
    const env = await serving({
      script: [
        {
          calls: [{ name: "write_file", input: { path: "/etc/holdfast-test", content: "x" } }],
          usage: { input: 10, output: 5 },
        },
        { text: "It was refused.", usage: { input: 20, output: 7 } },
      ],
    });
    const { code, stdout } = await cli(
      ["-p", "write there", "--output-format", "json", "--model", "openai-compatible/mock"],
      { env },
    );
    const result = JSON.parse(stdout);
    expect(code).toBe(4); // nothing else came of it
    expect(result).toMatchObject({
      type: "result",
      subtype: "success",
      is_error: false,
      num_turns: 2,
      result: "It was refused.",
      total_cost_usd: 0,
      modelUsage: { "openai-compatible/mock": { inputTokens: 30, outputTokens: 12, costUSD: 0, costBasis: "unknown" } },
      usage: { input_tokens: 30, output_tokens: 12 },
      permission_denials: [
        { tool_name: "Write", tool_use_id: "c1", tool_input: { file_path: "/etc/holdfast-test", content: "x" } },
      ],
    });
    expect(fs.existsSync("/etc/holdfast-test")).toBe(false);
  });

  it("says of an answer that is none what became of it: cut off to the end, refused, empty; and what hooks say, in json too", async () => {
    const told = { type: "command", command: `echo '{"systemMessage":"look here"}'` };
    fs.mkdirSync(`${state}/.config/holdfast`, { recursive: true });
    const settings = { hooks: { SessionStart: [{ hooks: [told] }] } };
    fs.writeFileSync(`${state}/.config/holdfast/settings.json`, JSON.stringify(settings));
    const first = `data: ${JSON.stringify({ choices: [{ delta: { content: "" }, finish_reason: "content_filter" }] })}\n\n`;
    const rounds = (round: number): Record<string, ScriptRound> => ({
      LONG: { text: `part ${round} `, finish: "length" },
      FILTERED: { chunks: [first, "data: [DONE]\n\n"] },
      EMPTY: { reasoning: "hm", text: "" },
    });
    const env = await serving({
      script: ({ body, round }) =>
        Object.entries(rounds(round)).find(([word]) => JSON.stringify(body.messages).includes(word))![1],
    });
    const ask = (...args: string[]) => cli(["-p", "--model", "openai-compatible/mock", ...args], { env });
    const long = "the answer of openai-compatible/mock reached its output limit 4 times and is not whole: ";
    const [json, text] = [await ask("--json", "LONG"), await ask("LONG")];
    expect([json.code, JSON.parse(json.stdout), json.stderr]).toEqual([
      1,
      expect.objectContaining({
        ...{ subtype: "error_during_execution", is_error: true, stop_reason: "max_tokens", num_turns: 4 },
        ...{ result: "part 0 part 1 part 2 part 3 ", errors: [expect.stringContaining(long)] },
      }),
      expect.stringMatching(new RegExp(`holdfast: SessionStart:startup hook says: look here\n[^]*${long}`)),
    ]);
    expect([text.code, text.stdout.trim(), text.stderr]).toEqual([
      1,
      "part 0 part 1 part 2 part 3",
      expect.stringContaining(long),
    ]);
    const filtered = await ask("--json", "FILTERED");
    expect([filtered.code, JSON.parse(filtered.stdout).errors[0]]).toEqual([
      1,
      expect.stringMatching(/^openai-compatible\/mock will not answer this /),
    ]);
    const empty = await ask("--json", "EMPTY");
    expect([empty.code, empty.stderr]).toEqual([0, expect.stringContaining("The answer is empty: the model said")]);
  });

  it("exits 3 at the round limit and 1 with a wrong key, each with one line and how to go on", async () => {
    const env = await serving({
      script: ({ body }) =>
        body.model === "bad"
          ? { faults: [{ status: 401, message: "invalid x-api-key" }] }
          : { calls: [{ name: "glob", input: { pattern: `*.${Math.random()}` } }] },
    });
    const limit = await cli(["-p", "go", "--max-rounds", "2", "--model", "openai-compatible/mock"], { env });
    const auth = await cli(["-p", "hello", "--model", "openai-compatible/bad"], { env });
    expect([limit.code, auth.code]).toEqual([3, 1]);
    expect(limit.stderr).toMatch(
      /stopped after 2 rounds, its limit \(--max-rounds, --max-turns\).*\nTake it up again with: holdfast -p -r ctx_/,
    );
    expect(auth.stderr).toMatch(/invalid x-api-key/);
    expect(server!.log().requests.filter((r) => r.body.model === "bad")).toHaveLength(1);
  });

  it("interrupts cleanly at Ctrl-C, exits 130, and -c takes the context up again", async () => {
    const env = await serving({
      script: [{ calls: [{ name: "bash", input: { command: "echo begun; sleep 30" } }] }, { text: "as before" }],
    });
    const running = startCli(["-p", "wait", "--model", "openai-compatible/mock", "--output-format", "stream-json"], {
      cwd,
      state,
      env,
    });
    await new Promise<void>((resolve) =>
      running.child.stdout!.on("data", (d) => String(d).includes('"assistant"') && setTimeout(resolve, 300)),
    );
    running.child.kill("SIGINT");
    const first = await running.exited;
    expect(first.code).toBe(130);
    expect(first.stderr).toMatch(/holdfast -p -r ctx_/);
    const second = await cli(["-p", "-c", "go on", "--model", "openai-compatible/mock"], { env });
    expect({ code: second.code, stdout: second.stdout, invalid: server!.log().invalid }).toEqual({
      code: 0,
      stdout: "as before\n",
      invalid: [],
    });
  });
});

describe("wrong usage", () => {
  const cases: [string, string[], RegExp][] = [
    ["an unknown flag", ["-p", "x", "--nonsense"], /--nonsense/],
    ["a bad number", ["-p", "x", "--max-rounds", "many"], /--max-rounds takes a whole number/],
    ["an unknown format", ["-p", "x", "--output-format", "xml"], /text, json, stream-json/],
    ["live lines without their format", ["-p", "x", "--include-partial-messages"], /needs --output-format stream-json/],
    ["an unknown context", ["-p", "-r", "ctx_nothere", "x"], /no context "ctx_nothere"/],
    ["nothing to continue", ["-p", "-c"], /no context to go on with/],
    ["an unknown provider", ["-p", "x", "--model", "nowhere/model"], /nowhere/],
    ["a missing key", ["-p", "x", "--model", "anthropic/claude"], /ANTHROPIC_API_KEY/],
    ["a missing directory", ["-p", "x", "--cwd", "/does/not/exist"], /not a directory/],
  ];
  for (const [what, args, says] of cases) {
    it(`gets one clear line and exit code 2: ${what}`, async () => {
      const { code, stdout, stderr } = await cli(args);
      expect({ code, stdout, lines: stderr.trim().split("\n").length }).toEqual({ code: 2, stdout: "", lines: 1 });
      expect(stderr).toMatch(says);
    });
  }
});
