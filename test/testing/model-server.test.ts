import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createOpenAI } from "../../src/models/openai.ts";
import { type ServerLog, startModelServer } from "../../src/testing/model-server.ts";
import { problemsOf } from "../../src/testing/model-server-check.ts";
import { asking, open, reply, user } from "../models/asking.ts";

test("the server runs as a process of its own, paused, released and read over HTTP", async () => {
  const dir = await mkdtemp(join(tmpdir(), "holdfast-"));
  await writeFile(join(dir, "script.json"), JSON.stringify([{ text: "hello", faults: [{ pauseAt: 2 }] }]));
  const main = new URL("../../src/testing/model-server-main.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [main, "--script", join(dir, "script.json")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const port = await new Promise<number>((done) =>
      child.stdout.once("data", (line) => done(JSON.parse(line).listening)),
    );
    const url = `http://127.0.0.1:${port}`;
    const log = async () => (await (await fetch(`${url}/__log`)).json()) as ServerLog;
    const call = reply(createOpenAI({ name: "m", baseUrl: `${url}/v1` }), asking([user("go")]));
    while ((await log()).paused.length === 0) await new Promise((done) => setTimeout(done, 5));
    await fetch(`${url}/__control`, { method: "POST", body: JSON.stringify({ release: 1 }) });
    expect((await call).answer.parts).toEqual([{ type: "text", text: "hello" }]);
    const [request] = (await log()).requests;
    expect(request).toMatchObject({ round: 0, attempt: 1, arrival: 1, status: 200, delivered: true, problems: [] });
  } finally {
    child.kill("SIGTERM");
    await new Promise((done) => child.once("close", done));
    await rm(dir, { recursive: true });
  }
});

test("a repeated request gets the same round again and is marked as a repeat", async () => {
  const server = await startModelServer({ script: [{ text: "first" }] });
  const model = open("anthropic", server);
  for (let i = 0; i < 2; i++) await reply(model, asking([user("go")]));
  expect(server.log().requests.map(({ round, attempt, repeatOf }) => ({ round, attempt, repeatOf }))).toEqual([
    { round: 0, attempt: 1, repeatOf: undefined },
    { round: 0, attempt: 2, repeatOf: 1 },
  ]);
  await server.close();
});

test("a script can be played by arrival", async () => {
  const server = await startModelServer({ script: [{ text: "a" }, { text: "b" }], match: "arrival" });
  const model = open("openai", server);
  const said = [];
  for (let i = 0; i < 2; i++) said.push((await reply(model, asking([user("go")]))).answer.parts);
  expect(said).toEqual([[{ type: "text", text: "a" }], [{ type: "text", text: "b" }]]);
  await server.close();
});

test("transcripts that a provider would refuse are listed", () => {
  const call = (id: string) => ({ id, type: "function", function: { name: "f", arguments: "{}" } });
  const openai = problemsOf("openai", {
    messages: [
      { role: "user", content: "go" },
      { role: "assistant", tool_calls: [call("c1"), call("c2")] },
      { role: "tool", tool_call_id: "c1", content: "1" },
      { role: "user", content: "hm" },
      { role: "tool", tool_call_id: "c3", content: "3" },
      { role: "assistant" },
    ],
  });
  expect(openai).toEqual([
    "message 3: call c2 has no result directly after it",
    "message 4: result c3 has no open call",
    "message 5: an empty assistant message",
  ]);
  const sealed = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" };
  const responses = problemsOf("openai-responses", {
    input: [
      { role: "user", content: [] },
      { type: "reasoning", id: "rs_0", summary: [] },
      { type: "function_call", call_id: "c1", name: "f", arguments: "{" },
      { type: "function_call", call_id: "c2", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: "1" },
      { type: "function_call_output", call_id: "c1", output: "1" },
      { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
      sealed,
      { type: "function_call_output", call_id: "c1", output: [] },
      sealed,
    ],
  });
  expect(responses).toEqual([
    "the response would be stored",
    "item 0: an empty user message",
    "item 1: reasoning without its content",
    "item 2: the arguments of c1 are not JSON",
    "item 5: result c1 has no open call",
    "item 6: call c2 has no result before it",
    "item 6: call id c1 is used twice",
    "item 8: reasoning rs_1 has nothing of the model's after it",
    "item 8: a result without content",
    "item 10: reasoning rs_1 has nothing of the model's after it",
  ]);
  const anthropic = problemsOf("anthropic", {
    messages: [
      { role: "user", content: "go" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "x" },
          { type: "tool_use", id: "c1", name: "f", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "text", text: " " },
          { type: "tool_result", tool_use_id: "c2", content: "2" },
        ],
      },
      { role: "user", content: [] },
    ],
  });
  expect(anthropic).toEqual([
    "message 1: thinking without a signature",
    "message 2: call c1 has not exactly one result",
    "message 2: result c2 has no open call",
    "message 2: a result after other content",
    "message 2: an empty text",
    "message 3: two user messages in a row",
    "message 3: no content",
  ]);
});

test("thinking that led to calls is wanted back unchanged while they are answered, and not once a person has spoken", async () => {
  const thinking = { type: "thinking", thinking: "hm", signature: "signed" };
  const call = { type: "tool_use", id: "c1", name: "look", input: {} };
  const server = await startModelServer({
    script: [
      { reasoning: { text: "hm", signature: "signed" }, calls: [{ name: "look", input: {} }] },
      { text: "seen" },
    ],
  });
  const ask = (...messages: object[]) =>
    fetch(`${server.anthropicUrl}/v1/messages`, {
      method: "POST",
      body: JSON.stringify({ model: "mock", messages: [{ role: "user", content: "go" }, ...messages] }),
    });
  const note = { type: "text", text: "by the way" };
  const results = (inside: object[], ...behind: object[]) => {
    const content = [{ type: "text", text: "ok" }, ...inside];
    return { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content }, ...behind] };
  };
  const assistant = (...content: object[]) => ({ role: "assistant", content });
  await ask();
  await ask(assistant(thinking, call), results([note]));
  await ask(assistant(call), results([note]));
  await ask(assistant(call), results([], note));
  await ask(assistant({ ...thinking, thinking: "ha" }, call), results([]));
  expect(server.log().requests.map(({ problems }) => problems)).toEqual([
    [],
    [],
    ["message 1: the thinking that led to its calls is missing"],
    [],
    ["message 1: thinking that was changed"],
  ]);
  await server.close();
});
