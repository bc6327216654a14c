// Tool loops against servers that check as Mistral, DeepSeek, Gemini, OpenRouter and gateways to GPT-5 do.
import { afterEach, describe, expect, it } from "vitest";
import type { Item } from "../../src/models/model.ts";
import { createOpenAI } from "../../src/models/openai.ts";
import { startModelServer } from "../../src/testing/model-server.ts";
import type { ProviderName } from "../../src/testing/model-server-providers.ts";
import type { ScriptRound } from "../../src/testing/model-server-script.ts";
import { type House, openHouse } from "../house.ts";
import { asking, reply, result, user } from "./asking.ts";

const looking = (round: number): ScriptRound => ({
  reasoning: "hm",
  text: `step ${round}`,
  calls: [
    { name: "glob", input: { pattern: `*.${round}` } },
    { name: "list_jobs", input: {} },
  ],
});

let house: House | undefined;
afterEach(async () => {
  await house?.close();
  house = undefined;
});

const PROVIDERS: ProviderName[] = ["mistral", "deepseek", "gemini", "openrouter", "gpt-5-gateway"];

describe.each(PROVIDERS)("as %s checks", (provider) => {
  it("a loop of three rounds with thinking goes through, and on in another process", async () => {
    const rounds = [looking(0), looking(1), looking(2), { reasoning: "hm", text: "first" }, looking(4)];
    house = await openHouse([...rounds, { reasoning: "hm", text: "second" }], { provider });
    const run = await house.harness.run("go");
    const first = await run.result;
    await house.harness.close();
    const again = await house.again();
    const second = await (await again.run("more", { context: run.context })).result;
    await again.close();
    expect([first.text, first.reason, second.text, second.reason]).toEqual(["first", "done", "second", "done"]);
    expect(house.server.log().requests.filter(({ status }) => status !== 200)).toEqual([]);
  });
});

describe("what came with a reply", () => {
  const foreign: Item = {
    kind: "reply",
    model: "anthropic/other",
    parts: [
      { type: "reasoning", text: "sealed", signature: "s" },
      { type: "call", id: "c12", name: "read_file", input: {}, provider: { extra: { google: { x: 1 } } } },
    ],
  };
  const sent = async (name: string, items: Item[]) => {
    const server = await startModelServer({ script: () => ({ text: "ok" }) });
    try {
      const id = `openai-compatible/${name}`;
      await reply(createOpenAI({ id, name, baseUrl: server.openaiUrl }), asking(items));
      return server.log().requests[0]!.body.messages.filter(({ role }: { role: string }) => role === "assistant");
    } finally {
      await server.close();
    }
  };
  const call = { id: "c00000012", type: "function", function: { name: "read_file", arguments: "{}" } };

  it("goes to no other model; DeepSeek and Gemini are told that there is nothing of theirs", async () => {
    const all = [user("go"), foreign, result("c12", "one")];
    expect([await sent("some", all), await sent("deepseek-v4-pro", all), await sent("gemini-3-pro", all)]).toEqual([
      [{ role: "assistant", tool_calls: [call] }],
      [{ role: "assistant", reasoning_content: "", tool_calls: [call] }],
      [
        {
          role: "assistant",
          tool_calls: [
            { ...call, extra_content: { google: { thought_signature: "skip_thought_signature_validator" } } },
          ],
        },
      ],
    ]);
  });
});

describe("what came with the words of a reply, not with a call", () => {
  it("goes back with them", async () => {
    const extra_content = { google: { thought_signature: "sealed" } };
    const chunks = [
      { delta: { role: "assistant", content: "Hello.", extra_content } },
      { delta: {}, finish_reason: "stop" },
    ].map((choice) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`);
    const server = await startModelServer({ script: [{ chunks: [...chunks, "data: [DONE]\n\n"] }, { text: "ok" }] });
    const model = createOpenAI({ id: "openai-compatible/some", name: "some", baseUrl: server.openaiUrl });
    const { answer } = await reply(model, asking([user("go")]));
    await reply(model, asking([user("go"), { kind: "reply", ...answer }, user("more")]));
    const sent = server.log().requests.at(-1)!.body.messages;
    expect(sent.find(({ role }: { role: string }) => role === "assistant")).toEqual({
      role: "assistant",
      content: "Hello.",
      extra_content,
    });
    await server.close();
  });
});

describe("a gateway that names its model as it likes", () => {
  it("is asked again once with the limit as it takes it, and not again after that", async () => {
    const server = await startModelServer({ script: () => ({ text: "ok" }), provider: "gpt-5-gateway" });
    const model = createOpenAI({ name: "team-default", baseUrl: server.openaiUrl });
    await reply(model, asking([user("go")]));
    await reply(model, asking([user("go on")]));
    expect(server.log().requests.map(({ status, body }) => [status, body.max_completion_tokens])).toEqual([
      [400, undefined],
      [200, 1000],
      [200, 1000],
    ]);
    await server.close();
  });
});
