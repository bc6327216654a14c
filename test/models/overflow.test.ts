import { expect, test } from "vitest";
import { isOverflow } from "../../src/models/overflow.ts";

test.each([
  ["Anthropic", "prompt is too long: 213462 tokens > 200000 maximum"],
  [
    "Anthropic",
    "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length or `max_tokens` and try again",
  ],
  ["Anthropic", "Request exceeds the maximum size"],
  ["OpenAI", "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens."],
  ["OpenAI", "Your input exceeds the context window of this model. Please adjust your input and try again."],
  ["Google", "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."],
  ["llama.cpp", "the request exceeds the available context size, try increasing it"],
  ["llama.cpp", "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it"],
  ["Ollama", "prompt too long; exceeded max context length by 4 tokens"],
  ["vLLM", "The decoder prompt (length 5000) is longer than the maximum model length of 4096."],
  ["Mistral", "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"],
  ["xAI", "This model's maximum prompt length is 131072 but the request contains 150000 tokens."],
  ["Bedrock", "ValidationException: Input is too long for requested model."],
  ["Groq", "Please reduce the length of the messages or completion."],
  ["OpenRouter", "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens"],
])("%s says that the prompt does not fit: %s", (_provider, message) => {
  expect(isOverflow(message)).toBe(true);
});

test("the code of OpenAI is enough", () => {
  expect(isOverflow("something", "context_length_exceeded")).toBe(true);
});

test.each([
  "Rate limit reached for gpt-x in organization on tokens per min (TPM): Limit 30000, Requested 40000.",
  "too many tokens per minute",
  "Too many tokens, please wait before trying again. (throttlingException)",
  "Your request was throttled: input too long a queue",
  "You exceeded your current quota",
  "messages: text content blocks must be non-empty",
  "max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens",
  "image exceeds 5 MB maximum",
])("what shrinking would not help is not an overflow: %s", (message) => {
  expect(isOverflow(message)).toBe(false);
});
