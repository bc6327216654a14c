import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import { bin, runCli, startCli } from "../cli/cli.ts";
import { KEYS } from "../environment.ts";
import { tempDir } from "../house.ts";
import { sdkTypes } from "./sdk-types.ts";

let cwd: string;
let state: string;
let server: ModelServer;

beforeEach(() => {
  cwd = tempDir("project");
  state = tempDir("state");
});
afterEach(async () => {
  await server.close();
  fs.rmSync(cwd, { recursive: true, force: true });
  fs.rmSync(state, { recursive: true, force: true });
});

const FLAGS = ["-p", "--output-format", "stream-json", "--model", "openai-compatible/mock"];
const env = () => ({ OPENAI_BASE_URL: server.openaiUrl, OPENAI_API_KEY: KEYS.OPENAI_API_KEY });
const linesOf = (stdout: string) =>
  stdout
    .trim()
    .split("\n")
    .map((l) => JSON.parse(l));
const userLine = (content: string | object[]) =>
  `${JSON.stringify({ type: "user", message: { role: "user", content } })}\n`;

describe("stream-json", () => {
  it("prints init, assistant, user and result lines with the names that wrappers know", async () => {
    fs.writeFileSync(`${cwd}/a.txt`, "hello\n");
    server = await startModelServer({
      script: [
        { text: "Looking.", calls: [{ name: "read_file", input: { path: "a.txt" } }] },
        { text: "It says hello." },
      ],
    });
    const { code, stdout } = await runCli([...FLAGS, "read it"], { cwd, state, env: env() });
    const lines = linesOf(stdout);
    expect(code).toBe(0);
    expect(lines.map((l) => [l.type, l.subtype])).toEqual([
      ["system", "init"],
      ["assistant", undefined],
      ["user", undefined],
      ["assistant", undefined],
      ["result", "success"],
    ]);
    expect(new Set(lines.map((l) => l.session_id)).size).toBe(1);
    expect(lines[0].tools).toEqual(
      expect.arrayContaining(["Bash", "Read", "Write", "Edit", "Glob", "Grep", "TodoWrite"]),
    );
    expect(lines[1].message.content).toEqual([
      { type: "text", text: "Looking.", citations: null },
      { type: "tool_use", id: "c1", name: "Read", input: { file_path: path.join(cwd, "a.txt") } },
    ]);
    expect(lines[2].message.content[0]).toMatchObject({ type: "tool_result", tool_use_id: "c1", is_error: false });
    expect(lines[4]).toMatchObject({ num_turns: 2, result: "It says hello.", is_error: false });
  });

  it("takes messages on stdin, one turn and one result each, in one context: each ends with its line feed, and nothing of it is dropped without a word", async () => {
    server = await startModelServer({ script: [{ text: "first" }, { text: "second" }] });
    const flags = [...FLAGS.slice(0, -1), "openai/gpt-5", "--input-format", "stream-json"];
    const running = startCli(flags, { cwd, state, env: env(), keepStdin: true });
    const data = Buffer.alloc(200_000, 7).toString("base64");
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data } };
    const elsewhere = { type: "image", source: { type: "url", url: "http://127.0.0.1/a.png" } };
    running.child.stdin!.write(userLine([{ type: "text", text: "one\u2028line" }, image, elsewhere, { type: "odd" }]));
    await new Promise<void>((resolve) =>
      running.child.stdout!.on("data", (d) => String(d).includes('"result"') && resolve()),
    );
    running.child.stdin!.end(userLine("two"));
    const { code, stdout, stderr } = await running.exited;
    const results = linesOf(stdout).filter((l) => l.type === "result");
    expect(code).toBe(0);
    expect(results.map((r) => r.result)).toEqual(["first", "second"]);
    const left = [
      'the image is not sent to the model: give its content, as {"type":"base64","media_type":…,"data":…}',
      'a part of type "odd" is not sent to the model',
    ];
    expect(stderr.trim().split("\n")).toEqual(left.map((why) => `holdfast: stdin: ${why}`));
    const sent = server.log().requests[0]!.body.messages.filter(({ role }: { role: string }) => role === "user");
    expect(sent.at(-1).content.filter(({ text }: { text?: string }) => !text?.includes("Today is"))).toEqual([
      { type: "text", text: "one\u2028line" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${data}` } },
      ...left.map((why) => ({ type: "text", text: `[${why}]` })),
    ]);
  });

  it("wakes the idle agent when a background job ends, with one notification", async () => {
    server = await startModelServer({
      script: [
        { calls: [{ name: "bash", input: { command: "sleep 1; echo ready", run_in_background: true } }] },
        { text: "started" },
        { text: "it is ready" },
      ],
    });
    const running = startCli([...FLAGS, "--input-format", "stream-json"], { cwd, state, env: env(), keepStdin: true });
    running.child.stdin!.write(userLine("start it"));
    let seen = "";
    await new Promise<void>((resolve) =>
      running.child.stdout!.on("data", (d) => {
        seen += d;
        if (seen.includes("it is ready") && seen.split('"type":"result"').length > 2) resolve();
      }),
    );
    running.child.stdin!.end();
    const { code, stdout } = await running.exited;
    const lines = linesOf(stdout);
    expect(code).toBe(0);
    expect(lines.filter((l) => l.subtype === "task_notification")).toHaveLength(1);
    expect(lines.filter((l) => l.type === "result").map((r) => r.result)).toEqual(["started", "it is ready"]);
  });

  it("answers each request of a program, interrupts by one, and passes over what is no message", async () => {
    server = await startModelServer({
      script: ({ body }) => {
        const isFirst = !JSON.stringify(body.messages).includes("two");
        return isFirst ? { calls: [{ name: "bash", input: { command: "sleep 60" } }] } : { text: "second" };
      },
    });
    const flags = [...FLAGS, "--input-format", "stream-json", "--dangerously-skip-permissions"];
    const { child, exited } = startCli(flags, { cwd, state, env: env(), keepStdin: true });
    const say = (line: object) => child.stdin!.write(`${JSON.stringify(line)}\n`);
    const ask = (id: string, request: object) => say({ type: "control_request", request_id: id, request });
    let seen = "";
    const until = (text: string) =>
      new Promise<void>((resolve) => {
        const look = () => seen.includes(text) && resolve();
        child.stdout!.on("data", (d) => {
          seen += d;
          look();
        });
        look();
      });
    say({ type: "keep_alive" });
    say({ type: "update_environment_variables", variables: {} });
    ask("r1", { subtype: "initialize", systemPrompt: [""], hooks: { PreToolUse: [{}] }, appendSystemPrompt: "Short." });
    ask("r2", { subtype: "set_model", model: "x" });
    ask("r3", { subtype: "interrupt" }); // nothing runs yet
    child.stdin!.write(userLine("one"));
    await until('"tool_use"');
    ask("r4", { subtype: "interrupt" });
    await until('"type":"result"');
    child.stdin!.end(userLine("two"));
    const { code, stdout, stderr } = await exited;
    const lines = linesOf(stdout);
    const named = lines.find((line) => line.subtype === "init").agents;
    expect(lines.filter((line) => line.type === "control_response").map((line) => line.response)).toEqual([
      {
        ...{ subtype: "success", request_id: "r1" },
        response: {
          commands: [],
          agents: named.map((name: string) => ({ name, description: expect.any(String) })),
          ...{ output_style: "default", available_output_styles: ["default"] },
          models: [
            { value: "openai-compatible/mock", displayName: "openai-compatible/mock", description: expect.any(String) },
          ],
          ...{ account: {}, claude_code_version: expect.any(String), hooks_applied: false },
        },
      },
      {
        ...{ subtype: "error", request_id: "r2" },
        error: "Holdfast does not do set_model over this protocol yet: use --model",
      },
      { subtype: "success", request_id: "r3", response: {} },
      { subtype: "success", request_id: "r4", response: {} },
    ]);
    const listed = await runCli(["contexts", "ls", "--json"], { cwd, state });
    expect(JSON.parse(listed.stdout)).toMatchObject([{ title: "one" }]);
    const results = lines.filter((line) => line.type === "result");
    expect([code, results.map((line) => [line.subtype, line.terminal_reason, line.result])]).toEqual([
      0,
      [
        ["error_during_execution", "aborted_tools", expect.any(String)],
        ["success", "completed", "second"],
      ],
    ]);
    expect(stderr.trim().split("\n")).toEqual([
      'holdfast: stdin, line 2: of type "update_environment_variables", and passed over',
      "holdfast: accepted without effect, given with initialize: appendSystemPrompt (use --append-system-prompt), hooks (use hooks in settings)",
    ]);
  });

  it("runs for Anthropic's own SDK, from its prompt to its result", async ({ skip }) => {
    const sdk = await sdkTypes();
    server = await startModelServer({ script: [{ text: "It says hello." }] });
    if (!sdk) return skip("the SDK cannot be fetched here");
    const { query } = await import(sdk.program);
    const paths = { HOME: state, XDG_STATE_HOME: state, PATH: `${path.dirname(process.execPath)}:${process.env.PATH}` };
    const options = {
      ...{ cwd, pathToClaudeCodeExecutable: bin, model: "openai-compatible/mock", env: { ...paths, ...env() } },
      ...{ maxTurns: 3, permissionMode: "plan" },
    };
    const said: [string, string | undefined][] = [];
    let answer = "";
    for await (const message of query({ prompt: "read it", options })) {
      said.push([message.type, message.subtype]);
      answer = message.result ?? answer;
    }
    expect([said, answer]).toEqual([
      [
        ["system", "init"],
        ["assistant", undefined],
        ["result", "success"],
      ],
      "It says hello.",
    ]);
  });

  it("gives one clear line for a message that is none", async () => {
    server = await startModelServer({ script: [] });
    const { code, stderr } = await runCli([...FLAGS, "--input-format", "stream-json"], {
      cwd,
      state,
      env: env(),
      stdin: "hello\n",
    });
    expect([code, stderr.trim().split("\n").length]).toEqual([2, 1]);
    expect(stderr).toContain("stdin, line 1: not a line of JSON");
  });
});
