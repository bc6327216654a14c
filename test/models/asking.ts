// What the tests of all wires share: a request, and how one is sent.
import { createAnthropic } from "../../src/models/anthropic.ts";
import type { Delta, Item, Limits, Model, ModelError, ModelRequest } from "../../src/models/model.ts";
import { createOpenAI } from "../../src/models/openai.ts";
import { createOpenAIResponses } from "../../src/models/openai-responses.ts";
import type { ModelServer } from "../../src/testing/model-server.ts";

export const user = (text: string): Item => ({ kind: "user", content: [{ type: "text", text }] });

export const result = (callId: string, text: string, isError = false): Item => ({
  kind: "result",
  callId,
  name: "read_file",
  content: [{ type: "text", text }],
  isError,
});

export const readFile = {
  name: "read_file",
  description: "Reads a file.",
  input: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};

export const asking = (items: Item[], more: Partial<ModelRequest> = {}): ModelRequest => ({
  system: ["You are an agent.", "Work in /tmp."],
  tools: [readFile],
  items,
  maxOutputTokens: 1000,
  ...more,
});

export type Wire = "anthropic" | "openai" | "openai-responses";
export const WIRES: Wire[] = ["anthropic", "openai", "openai-responses"];

/** How many chunks come before the first piece of a text. */
export const BEFORE_TEXT: Record<Wire, number> = { anthropic: 2, openai: 1, "openai-responses": 4 };

export function open(
  wire: Wire,
  server: ModelServer,
  opts: { stallMs?: number; limits?: Limits; name?: string; extra?: Record<string, unknown> } = {},
): Model {
  const name = opts.name ?? "test-model";
  if (wire === "anthropic") return createAnthropic({ ...opts, name, baseUrl: server.anthropicUrl, apiKey: "key" });
  const create = wire === "openai" ? createOpenAI : createOpenAIResponses;
  return create({ ...opts, name, baseUrl: server.openaiUrl, apiKey: "key" });
}

export async function reply(model: Model, request: ModelRequest, signal = new AbortController().signal) {
  const deltas: Delta[] = [];
  const answer = await model.reply(request, { signal, onDelta: (delta) => deltas.push(delta) });
  return { answer, deltas };
}

export async function failure(
  model: Model,
  request: ModelRequest,
  signal = new AbortController().signal,
): Promise<ModelError> {
  return model.reply(request, { signal }).then(
    () => {
      throw new Error("the call did not fail");
    },
    (error) => error,
  );
}
