import { afterEach, expect, test } from "vitest";
import { costUsd, limitsOf } from "../../src/models/catalogue.ts";
import { defaultModelSpec, ollamaUrl, openModel } from "../../src/models/open-model.ts";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import { asking, reply, user } from "./asking.ts";

let server: ModelServer | undefined;
afterEach(() => server?.close());

const problem = (spec: string, env: Record<string, string> = {}) =>
  openModel(spec, { env }).then(
    () => "opened",
    (error) => `${error.code}: ${error.message}`,
  );

test("each provider reaches its endpoint with its key", async () => {
  server = await startModelServer({ script: [{ text: "hi" }] });
  const env = {
    ANTHROPIC_API_KEY: "ak",
    ANTHROPIC_BASE_URL: `${server.url}/v1/`,
    OPENAI_API_KEY: "ok",
    OPENAI_BASE_URL: server.openaiUrl,
    OLLAMA_HOST: server.url,
  };
  const specs = [
    "anthropic/claude-x",
    "openai/gpt-x",
    "openai-compatible/org/model:tag",
    "openai-responses/org/model:tag",
    "ollama/qwen3:8b",
  ];
  for (const spec of specs) {
    const { answer } = await reply(await openModel(spec, { env }), asking([user("go")]));
    expect(answer.model).toBe(spec);
  }
  const asked = server.log().requests.map(({ api, model, headers }) => ({
    api,
    model,
    key: headers["x-api-key"] ?? headers.authorization,
  }));
  expect(asked).toEqual([
    { api: "anthropic", model: "claude-x", key: "ak" },
    { api: "openai", model: "gpt-x", key: "Bearer ok" },
    { api: "openai", model: "org/model:tag", key: "Bearer ok" },
    { api: "openai-responses", model: "org/model:tag", key: "Bearer ok" },
    { api: "openai", model: "qwen3:8b", key: undefined },
  ]);
});

test("what is missing is said in one line with what to set", async () => {
  expect(await problem("anthropic/x")).toMatch(/^invalid: anthropic\/x needs a key: set ANTHROPIC_API_KEY/);
  expect(await problem("openai/x")).toMatch(/^invalid: openai\/x needs a key: set OPENAI_API_KEY/);
  expect(await problem("openai-responses/x")).toMatch(/^invalid: openai-responses\/x needs a key: set OPENAI_API_KEY/);
  expect(await problem("openai-compatible/x")).toMatch(/^invalid: openai-compatible\/x needs OPENAI_BASE_URL/);
  expect(await problem("nosuch/x")).toMatch(/^invalid: no model provider "nosuch": .* npm install @ai-sdk\/nosuch$/);
  expect(await problem("../x/y")).toMatch(/^invalid: no model provider "\.\."/);
  expect(await problem("claude")).toMatch(/^invalid: model "claude" is not provider\/name/);
  expect(await problem("openai/x", { OPENAI_BASE_URL: "localhost:1" })).toMatch(
    /^invalid: OPENAI_BASE_URL is "localhost:1"/,
  );
  expect(await problem("ollama/x", { HOLDFAST_STALL_MS: "soon" })).toMatch(/^invalid: HOLDFAST_STALL_MS is "soon"/);
});

test("the default model is the first key's, else the rehearsal", () => {
  expect([
    defaultModelSpec({ ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "b" }).split("/")[0],
    defaultModelSpec({ OPENAI_API_KEY: "b" }).split("/")[0],
    defaultModelSpec({}),
  ]).toEqual(["anthropic", "openai", "rehearsal"]);
});

test("OLLAMA_HOST is read as Ollama reads it", () => {
  expect([undefined, "0.0.0.0", "box:1234", "http://box:1234/", "https://box/ollama/v1"].map(ollamaUrl)).toEqual([
    "http://127.0.0.1:11434/v1",
    "http://127.0.0.1:11434/v1",
    "http://box:1234/v1",
    "http://box:1234/v1",
    "https://box/ollama/v1",
  ]);
});

const million = { input: 1e6, output: 1e6, cacheRead: 1e6, cacheWrite: 1e6 };

test("prices are by exact model or its dated snapshot, and unknown otherwise", () => {
  expect({
    known: costUsd("anthropic/claude-haiku-4-5", million),
    snapshot: costUsd("anthropic/claude-haiku-4-5-20251001", million),
    sibling: costUsd("openai/gpt-5-pro", million),
    later: costUsd("openai/gpt-5.99", million),
    compatible: costUsd("openai-compatible/gpt-5", million),
    otherWire: costUsd("openai-responses/gpt-4.1-2025-04-14", million),
    local: costUsd("ollama/qwen3", million),
  }).toEqual({
    known: 7.35,
    snapshot: 7.35,
    sibling: undefined,
    later: undefined,
    compatible: undefined,
    otherWire: 10.5,
    local: 0,
  });
});

test("a model has the same limits over either of OpenAI's wires", () => {
  for (const name of ["gpt-6-sol", "gpt-5.99", "o3-2025-04-16"])
    expect(limitsOf(`openai-responses/${name}`)).toEqual(limitsOf(`openai/${name}`));
  expect(limitsOf("openai-responses/gpt-6-sol").contextTokens).toBe(1_050_000);
});

test("an unknown model has limits that any model takes", () => {
  expect(limitsOf("x/y")).toEqual({
    contextTokens: 128_000,
    isAssumed: true,
    outputTokens: 8192,
    images: false,
    documents: false,
  });
});
