// Judging a request as a provider would: every call has one result directly after it, nothing is orphaned, no message is empty.
import { isModels } from "./model-server-responses.ts";
import type { ScriptRequest } from "./model-server-script.ts";

type Body = ScriptRequest["body"];

/** Contract: empty when the transcript is valid. */
export function problemsOf(api: ScriptRequest["api"], body: Body): string[] {
  if (api === "openai-responses") return responsesProblems(body);
  if (!Array.isArray(body.messages) || body.messages.length === 0) return ["no messages"];
  return api === "anthropic" ? anthropicProblems(body) : openaiProblems(body);
}

function openaiProblems(body: Body): string[] {
  const problems: string[] = [];
  let open: string[] = [];
  const closeOpen = (at: number) => {
    for (const id of open) problems.push(`message ${at}: call ${id} has no result directly after it`);
    open = [];
  };
  body.messages.forEach((message: Body, at: number) => {
    if (message.role === "tool") {
      if (!open.includes(message.tool_call_id))
        problems.push(`message ${at}: result ${message.tool_call_id} has no open call`);
      open = open.filter((id) => id !== message.tool_call_id);
      if (typeof message.content !== "string") problems.push(`message ${at}: a result without text`);
      return;
    }
    closeOpen(at);
    if (message.role === "assistant") {
      open = (message.tool_calls ?? []).map((call: Body) => call.id);
      if (new Set(open).size !== open.length) problems.push(`message ${at}: a call id is used twice`);
      if (open.length === 0 && !message.content) problems.push(`message ${at}: an empty assistant message`);
      for (const { id, function: called } of message.tool_calls ?? [])
        problems.push(...argumentProblems(`message ${at}: the arguments of ${id}`, called.arguments));
    } else if (!["system", "developer", "user"].includes(message.role)) {
      problems.push(`message ${at}: role ${message.role}`);
    } else if (message.content === undefined || message.content === null || message.content.length === 0) {
      problems.push(`message ${at}: an empty ${message.role} message`);
    }
  });
  closeOpen(body.messages.length);
  return problems;
}

function argumentProblems(what: string, given: string): string[] {
  try {
    JSON.parse(given);
    return [];
  } catch {
    return [`${what} are not JSON`];
  }
}

/** Nothing is kept on the server's side: what the input does not hold is not there. */
function responsesProblems(body: Body): string[] {
  if (!Array.isArray(body.input) || body.input.length === 0) return ["no input"];
  const problems: string[] = body.store === false ? [] : ["the response would be stored"];
  const called = new Set<string>();
  let open: string[] = [];
  let thought: string | undefined;
  const closeThought = (at: number) => {
    if (thought !== undefined) problems.push(`item ${at}: reasoning ${thought} has nothing of the model's after it`);
    thought = undefined;
  };
  const closeOpen = (at: number) => {
    for (const id of open) problems.push(`item ${at}: call ${id} has no result before it`);
    open = [];
  };
  body.input.forEach((item: Body, at: number) => {
    const own = isModels(item);
    if (!own) closeThought(at);
    if (own && at > 0 && !isModels(body.input[at - 1])) closeOpen(at);
    if (item.type === "reasoning") {
      thought = item.id;
      if (!item.id || !Array.isArray(item.summary)) problems.push(`item ${at}: reasoning without its id and summary`);
      if (!item.encrypted_content && !item.content) problems.push(`item ${at}: reasoning without its content`);
      return;
    }
    if (own) thought = undefined;
    if (item.type === "function_call") {
      if (called.has(item.call_id)) problems.push(`item ${at}: call id ${item.call_id} is used twice`);
      called.add(item.call_id);
      open.push(item.call_id);
      problems.push(...argumentProblems(`item ${at}: the arguments of ${item.call_id}`, item.arguments));
    } else if (item.type === "function_call_output") {
      if (!open.includes(item.call_id)) problems.push(`item ${at}: result ${item.call_id} has no open call`);
      open = open.filter((id) => id !== item.call_id);
      if (typeof item.output !== "string" && !item.output?.length)
        problems.push(`item ${at}: a result without content`);
    } else if (!["user", "assistant", "system", "developer"].includes(item.role)) {
      problems.push(`item ${at}: ${item.type ?? "message"} of role ${item.role}`);
    } else if (!item.content?.length) problems.push(`item ${at}: an empty ${item.role} message`);
  });
  closeThought(body.input.length);
  closeOpen(body.input.length);
  return problems;
}

const MARKS_ALLOWED = 4;

function anthropicProblems(body: Body): string[] {
  const problems: string[] = [];
  let open: string[] = [];
  let last = "";
  body.messages.forEach((message: Body, at: number) => {
    if (message.role !== "user" && message.role !== "assistant") problems.push(`message ${at}: role ${message.role}`);
    if (message.role === last) problems.push(`message ${at}: two ${last} messages in a row`);
    if (at === 0 && message.role !== "user") problems.push("message 0: the first message is not the user's");
    last = message.role;
    const blocks: Body[] =
      typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
    if (blocks.length === 0) problems.push(`message ${at}: no content`);
    const results = blocks.filter((block) => block.type === "tool_result").map((block) => block.tool_use_id);
    for (const id of open) {
      if (results.filter((result) => result === id).length !== 1)
        problems.push(`message ${at}: call ${id} has not exactly one result`);
    }
    for (const id of results) if (!open.includes(id)) problems.push(`message ${at}: result ${id} has no open call`);
    const firstOther = blocks.findIndex((block) => block.type !== "tool_result");
    if (firstOther >= 0 && blocks.findLastIndex((block) => block.type === "tool_result") > firstOther) {
      problems.push(`message ${at}: a result after other content`);
    }
    for (const block of blocks) {
      if (block.type === "text" && !block.text.trim()) problems.push(`message ${at}: an empty text`);
      if (block.type === "thinking" && !block.signature) problems.push(`message ${at}: thinking without a signature`);
    }
    open = blocks.filter((block) => block.type === "tool_use").map((block) => block.id);
  });
  for (const id of open) problems.push(`call ${id} has no result`);
  if (last !== "user") problems.push("the last message is not the user's");
  const marks = JSON.stringify(body).split('"cache_control"').length - 1;
  if (marks > MARKS_ALLOWED) problems.push(`${marks} cache marks`);
  return problems;
}
