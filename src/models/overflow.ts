// Recognising that a prompt does not fit: providers say it only in the text of an error.

const OVERFLOW = [
  /prompt is too long/i, // Anthropic
  /input length and `?max_tokens`? exceed context limit/i, // Anthropic
  /request_too_large|request exceeds the maximum size/i, // Anthropic 413
  /input is too long for requested model/i, // Bedrock
  /context_length_exceeded|model_context_window_exceeded/i, // OpenAI
  /maximum context length/i, // OpenAI, vLLM, OpenRouter, DeepSeek
  /exceeds the context window/i, // OpenAI Responses
  /input token count.*exceeds the maximum/i, // Google
  /exceeds the maximum number of tokens allowed/i, // Google
  /exceeds? (the )?available context size/i, // llama.cpp
  /exceed_context_size_error/i, // llama.cpp
  /prompt too long; exceeded (max )?context length/i, // Ollama
  /input (length )?exceeds? (the )?(maximum )?context length/i, // Ollama
  /exceeds the (model's )?maximum (prompt|context|input) length/i, // xAI, Copilot
  /maximum prompt length is \d+/i, // xAI
  /too large for model with \d+ maximum context length/i, // Mistral
  /context window exceeds limit|exceeded model token limit/i, // MiniMax, Moonshot
  /decoder prompt .* is longer than the maximum model length/i, // vLLM
  /please reduce the length of (the messages|your prompt|the input)/i, // OpenAI, Groq
  /(prompt|input|context|request).{0,40}\btoo (long|many tokens)/i,
];

/** Throttling that talks of tokens: waiting helps, shrinking does not. */
const THROTTLE = /per[ -]?(minute|hour|day|second)|rate[ _-]?limit|\bTPM\b|throttl|quota|too many requests/i;

export function isOverflow(message: string, code = ""): boolean {
  if (code === "context_length_exceeded") return true;
  return !THROTTLE.test(message) && OVERFLOW.some((pattern) => pattern.test(message));
}
