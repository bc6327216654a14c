// Three model APIs seen from the server's side: what a request offers and says, and how a reply is written.
//   chat = OpenAI chat completions · responses = OpenAI responses · gemini = Google generateContent
import http from "node:http";
import { performance } from "node:perf_hooks";

/** What the scripted model bills and counts. */
export const BYTES_PER_TOKEN = 4;
const tokensOf = (bytes) => Math.ceil(bytes / BYTES_PER_TOKEN);

const apiOf = (url) => {
  if (/chat\/completions/.test(url)) return "chat";
  if (/\/responses/.test(url)) return "responses";
  return /enerateContent|countTokens/.test(url) ? "gemini" : null;
};

// ------------------------------------------------------------------ requests

/** Tools offered by a request, as [{ name, schema }]. */
function toolsOf(api, body) {
  const out = [];
  const add = (name, schema) => out.push({ name, schema: schema || {} });
  const addResponses = (t) => {
    if (t.type === "function" && t.name) add(t.name, t.parameters);
    else (t.tools || []).forEach(addResponses);
  };
  for (const t of body.tools || []) {
    if (api === "chat") add(t.function.name, t.function.parameters);
    else if (api === "responses") addResponses(t);
    else for (const f of t.functionDeclarations || []) add(f.name, f.parametersJsonSchema || f.parameters);
  }
  return out;
}

function messagesOf(api, body) {
  if (api === "chat") return body.messages || [];
  const list =
    api === "responses"
      ? [body.instructions, ...(body.input || [])]
      : [body.systemInstruction, ...(body.contents || [])];
  return list.filter(Boolean);
}

/** The request as a prompt cache sees it: tools, then each message. */
export const flatOf = ({ body, messages }) =>
  JSON.stringify(body.tools ?? []) + messages.map((m) => JSON.stringify(m)).join("\n");

const forbidsTools = (body) => body.tool_choice === "none" || body.toolConfig?.functionCallingConfig?.mode === "NONE";

/** Calls in a request with their results: [{ args, result }], for the chat wire; results after the last reply are `fresh`. */
export function chatCalls({ messages }) {
  const text = (c) => (typeof c === "string" ? c : (c || []).map((p) => p.text ?? "").join("\n"));
  const lastReply = messages.findLastIndex((m) => m.role === "assistant");
  const calls = messages.flatMap((m, i) =>
    (m.tool_calls || []).map((c) => ({ id: c.id, args: c.function.arguments, at: i })),
  );
  return calls.map((c) => {
    const i = messages.findIndex((m, j) => j > c.at && m.role === "tool" && m.tool_call_id === c.id);
    return { ...c, result: i < 0 ? "" : text(messages[i].content), fresh: i > lastReply };
  });
}

// --------------------------------------------------------------- tool choice

const SHELL = ["bash", "exec_command", "shell", "run_shell_command", "shell_command"];
const WRITE = ["write", "write_file"];

/** A step of the script ({ cmd }, { write: { path, content } } or { call }) as a call of a tool that the request offers. */
export function callFor(tools, step) {
  if (step.call) return step.call;
  if (step.write) {
    const tool = tools.find((t) => WRITE.includes(t.name));
    const key = Object.keys(tool?.schema.properties || {}).find((k) => /path/.test(k));
    if (key) return { name: tool.name, args: { [key]: step.write.path, content: step.write.content } };
    return callFor(tools, { cmd: `printf '%s' '${step.write.content}' > '${step.write.path}'` });
  }
  const tool = tools.find((t) => SHELL.includes(t.name));
  if (!tool) throw new Error(`no shell tool among ${tools.map((t) => t.name)}`);
  const props = tool.schema.properties || {};
  const key = Object.keys(props).find((k) => /^(command|cmd)$/.test(k));
  const args = { [key]: props[key].type === "array" ? ["bash", "-lc", step.cmd] : step.cmd };
  for (const k of tool.schema.required || []) args[k] ??= "x";
  return { name: tool.name, args };
}

// ------------------------------------------------------------------- replies

const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const json = (res, status, value) => {
  res.writeHead(status, { "content-type": "application/json" });
  res.end(JSON.stringify(value));
};
const event = (data, name) => `${name ? `event: ${name}\n` : ""}data: ${JSON.stringify(data)}\n\n`;

/** Writes the pieces of a text, `rate` of them a second (0: all at once). */
async function emit(res, pieces, rate, frame) {
  const t0 = performance.now();
  for (let i = 0; i < pieces.length && !res.destroyed; i++) {
    res.write(frame(pieces[i]));
    const wait = rate ? t0 + ((i + 1) * 1000) / rate - performance.now() : 0;
    if (wait > 1) await sleep(wait);
  }
}

async function sendChat(res, { id, body, pieces, call, rate, input }) {
  const base = { id: `c-${id}`, object: "chat.completion.chunk", created: 1, model: "mock" };
  const usage = { prompt_tokens: input, completion_tokens: 50, total_tokens: input + 50 };
  const calls = call && [
    {
      index: 0,
      id: `call_${id}`,
      type: "function",
      function: { name: call.name, arguments: JSON.stringify(call.args) },
    },
  ];
  const reason = call ? "tool_calls" : "stop";
  if (!body.stream) {
    const message = { role: "assistant", content: pieces.join("") || null, ...(calls && { tool_calls: calls }) };
    return json(res, 200, {
      ...base,
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason: reason }],
      usage,
    });
  }
  const chunk = (delta, finish_reason = null) => event({ ...base, choices: [{ index: 0, delta, finish_reason }] });
  res.write(chunk({ role: "assistant", content: "" }));
  await emit(res, pieces, rate, (text) => chunk({ content: text }));
  if (calls) res.write(chunk({ tool_calls: calls }));
  res.write(chunk({}, reason));
  res.end(`${event({ ...base, choices: [], usage })}data: [DONE]\n\n`);
}

async function sendResponses(res, { id, pieces, call, rate, input, url }) {
  const text = pieces.join("");
  const item = call
    ? {
        id: `fc_${id}`,
        type: "function_call",
        call_id: `call_${id}`,
        status: "completed",
        name: call.name,
        arguments: JSON.stringify(call.args),
      }
    : {
        id: `msg_${id}`,
        type: "message",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", text, annotations: [] }],
      };
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 50,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + 50,
  };
  const response = (status, output) => ({
    id: `resp_${id}`,
    object: "response",
    created_at: 1,
    status,
    model: "mock",
    output,
    usage: status === "completed" ? usage : null,
    error: null,
    incomplete_details: null,
    parallel_tool_calls: false,
    tool_choice: "auto",
    tools: [],
  });
  if (/compact$/.test(url)) return json(res, 200, response("completed", [item]));
  const say = (type, data) => event({ type, ...data }, type);
  const at = { item_id: item.id, output_index: 0, content_index: 0 };
  res.write(say("response.created", { response: response("in_progress", []) }));
  res.write(
    say("response.output_item.added", {
      output_index: 0,
      item: call ? { ...item, arguments: "" } : { ...item, status: "in_progress", content: [] },
    }),
  );
  if (!call) {
    res.write(say("response.content_part.added", { ...at, part: { type: "output_text", text: "", annotations: [] } }));
    await emit(res, pieces, rate, (delta) => say("response.output_text.delta", { ...at, delta }));
    res.write(say("response.output_text.done", { ...at, text }));
  }
  res.write(say("response.output_item.done", { output_index: 0, item }));
  res.end(say("response.completed", { response: response("completed", [item]) }));
}

async function sendGemini(res, { pieces, call, rate, input, url }) {
  const usageMetadata = { promptTokenCount: input, candidatesTokenCount: 50, totalTokenCount: input + 50 };
  const content = (parts, finishReason) => ({
    candidates: [{ content: { role: "model", parts }, index: 0, ...(finishReason && { finishReason }) }],
    usageMetadata,
    modelVersion: "mock",
  });
  const functionCall = call && { functionCall: { name: call.name, args: call.args } };
  if (!/stream/.test(url)) return json(res, 200, content([functionCall || { text: pieces.join("") }], "STOP"));
  await emit(res, pieces, rate, (text) => event(content([{ text }])));
  if (call) res.write(event(content([functionCall])));
  res.end(event(content([{ text: "" }], "STOP")));
}

/** What a provider says to a prompt that does not fit. */
function refuse(res, api, got, max) {
  const message = {
    chat: `This model's maximum context length is ${max} tokens. However, your messages resulted in ${got} tokens. Please reduce the length of the messages.`,
    responses: "Your input exceeds the context window of this model. Please adjust your input and try again.",
    gemini: `The input token count (${got}) exceeds the maximum number of tokens allowed (${max}).`,
  }[api];
  if (api === "gemini") return json(res, 400, { error: { code: 400, message, status: "INVALID_ARGUMENT" } });
  return json(res, 400, { error: { message, type: "invalid_request_error", code: "context_length_exceeded" } });
}

/**
 * A model server on a free loopback port. `reply(request)` gives { text } or { pieces, rate } or { call } or { refuseAbove: bytes };
 * a request is { api, url, body, bytes, tools, forbidsTools, messages }.
 */
export async function serve(reply) {
  let n = 0;
  async function answer(req, res) {
    const chunks = [];
    for await (const c of req) chunks.push(c);
    const raw = Buffer.concat(chunks);
    const api = apiOf(req.url);
    if (req.method === "GET")
      return json(res, 200, { object: "list", data: [{ id: "mock", object: "model" }], models: [] });
    if (!api) return json(res, 404, {});
    const input = tokensOf(raw.length);
    if (/countTokens/.test(req.url)) return json(res, 200, { totalTokens: input });
    const body = JSON.parse(raw.toString());
    const r = reply({
      api,
      url: req.url,
      body,
      bytes: raw.length,
      tools: toolsOf(api, body),
      forbidsTools: forbidsTools(body),
      messages: messagesOf(api, body),
    });
    if (r.refuseAbove) return refuse(res, api, input, tokensOf(r.refuseAbove));
    const send = { chat: sendChat, responses: sendResponses, gemini: sendGemini }[api];
    res.setHeader("content-type", "text/event-stream");
    await send(res, {
      id: ++n,
      url: req.url,
      body,
      input,
      call: r.call,
      rate: r.rate || 0,
      pieces: r.pieces ?? (r.text == null ? [] : [r.text]),
    });
  }
  const server = http.createServer((req, res) => {
    answer(req, res).catch((e) => {
      if (!req.destroyed) console.error(`scripted model: ${e.message}`);
      res.destroy();
    });
  });
  await new Promise((ok) => server.listen(0, "127.0.0.1", ok));
  return {
    base: `http://127.0.0.1:${server.address().port}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
