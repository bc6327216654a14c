// Owns judging a request as a provider would: every call has one result directly after it, nothing is orphaned, no message is empty.

// biome-ignore lint/suspicious/noExplicitAny: a provider's request as it came
type Body = any;

/** Contract: empty when the transcript is valid. */
export function problemsOf(api: "anthropic" | "openai", body: Body): string[] {
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
      for (const call of message.tool_calls ?? []) problems.push(...argumentProblems(call, at));
    } else if (!["system", "developer", "user"].includes(message.role)) {
      problems.push(`message ${at}: role ${message.role}`);
    } else if (message.content === undefined || message.content === null || message.content.length === 0) {
      problems.push(`message ${at}: an empty ${message.role} message`);
    }
  });
  closeOpen(body.messages.length);
  return problems;
}

function argumentProblems(call: Body, at: number): string[] {
  try {
    JSON.parse(call.function.arguments);
    return [];
  } catch {
    return [`message ${at}: the arguments of ${call.id} are not JSON`];
  }
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
