import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import type { Script } from "../../src/testing/model-server-script.ts";
import { runCli } from "../cli/cli.ts";
import { KEYS } from "../environment.ts";
import { tempDir } from "../house.ts";

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

const serving = async (script: Script) => {
  server = await startModelServer({ script });
  return { OPENAI_BASE_URL: server.openaiUrl, OPENAI_API_KEY: KEYS.OPENAI_API_KEY };
};
const run = (args: string[], env: Record<string, string>) => runCli(["-p", ...args], { cwd, state, env });
const typesSent = () => server.log().requests.map((r) => r.body.input.map((item: { type: string }) => item.type));

it("works over the Responses wire, the reasoning sent back to its own model and to no other", async () => {
  fs.writeFileSync(path.join(cwd, "a.txt"), "one line\n");
  const env = await serving([
    {
      reasoning: { text: "a plan first", signature: "gAAA" },
      calls: [{ name: "todo_write", input: { todos: [{ content: "look", status: "in_progress" }] } }],
    },
    { reasoning: { text: "", signature: "gBBB" }, calls: [{ name: "read_file", input: { path: "a.txt" } }] },
    { text: "It has one line." },
    { text: "As I said." },
  ]);
  const asked = ["Look at a.txt", "--model", "openai-responses/mock", "--output-format", "stream-json"];
  const first = await run(asked, env);
  const lines = first.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const said = lines.filter((line) => line.type === "assistant").map((line) => line.message.content);
  expect({ code: first.code, said: said.map((parts) => parts.map((part: { type: string }) => part.type)) }).toEqual({
    code: 0,
    said: [["thinking", "tool_use"], ["tool_use"], ["text"]],
  });
  const second = await run(["-c", "Again?", "--model", "openai-responses/other"], env);
  expect({ code: second.code, stdout: second.stdout }).toEqual({ code: 0, stdout: "As I said.\n" });

  const { requests, invalid } = server.log();
  expect(invalid).toEqual([]);
  expect(requests.map((r) => ({ api: r.api, model: r.model, key: r.headers.authorization }))).toEqual([
    ...Array(3).fill({ api: "openai-responses", model: "mock", key: `Bearer ${KEYS.OPENAI_API_KEY}` }),
    { api: "openai-responses", model: "other", key: `Bearer ${KEYS.OPENAI_API_KEY}` },
  ]);
  const round = ["reasoning", "function_call", "function_call_output"];
  expect(typesSent()).toEqual([
    ["message"],
    ["message", ...round],
    ["message", ...round, ...round],
    ["message", ...round.slice(1), ...round.slice(1), "message", "message"],
  ]);
  expect(requests[1]?.body.input[1]).toEqual({
    type: "reasoning",
    id: "rs_0",
    summary: [{ type: "summary_text", text: "a plan first" }],
    encrypted_content: "gAAA",
  });
  expect(JSON.stringify(requests[2]?.body.input.at(-1))).toContain("one line");
});

it("is what openai/NAME speaks on OpenAI's own host, and there alone", async () => {
  const env = await serving([{ text: "hi" }]);
  const through = { HTTP_PROXY: server.url, OPENAI_API_KEY: KEYS.OPENAI_API_KEY };
  const codes = [];
  for (const [model, more] of [
    ["openai/gpt-test", { ...through, OPENAI_BASE_URL: "http://api.openai.com/v1" }],
    ["openai/gpt-test", { ...through, OPENAI_BASE_URL: "http://resource.openai.azure.com/openai/v1" }],
    ["openai-compatible/gpt-test", { ...through, OPENAI_BASE_URL: "http://api.openai.com/v1" }],
    ["openai/gpt-test", env],
  ] as const) {
    codes.push((await run(["Hello", "--model", model], more)).code);
  }
  expect(codes).toEqual([0, 0, 0, 0]);
  expect(server.log().requests.map((r) => `${r.api} at ${r.headers.host}`)).toEqual([
    "openai-responses at api.openai.com",
    "openai at resource.openai.azure.com",
    "openai at api.openai.com",
    `openai at ${new URL(server.url).host}`,
  ]);
});
