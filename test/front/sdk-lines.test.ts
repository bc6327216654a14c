// Every line of stream-json is one that Anthropic's SDKs publish, TypeScript and Python.
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { LIKE_CLAUDE_CODE } from "../../src/front/sdk-protocol/init.ts";
import { JOB, type Line, type Recording, record, SENT, TURN_WORDS } from "./recording.ts";
import { problemsIn, sdkTypes } from "./sdk-types.ts";

let recorded: Recording;
let lines: Line[];

beforeAll(async () => {
  recorded = await record();
  lines = [...recorded.conversation, ...recorded.budget, ...recorded.interrupted];
});
afterAll(() => {
  for (const dir of [recorded.cwd, recorded.state]) fs.rmSync(dir, { recursive: true, force: true });
});

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const nameOf = ({ type, subtype, is_error, event }: Line): string =>
  [type, type === "result" ? (is_error ? "error" : "success") : (subtype ?? event?.type)].filter(Boolean).join("/");

/** What we say beside the published fields. */
const OURS: Record<string, string[]> = {
  "system/init": ["holdfast_version"],
  user: ["note"],
  "result/error": ["result"],
  "system/informational": ["input_id", "from", "to"],
};

function published(line: Line): Line {
  const { ...copy } = line;
  for (const field of OURS[nameOf(line)] ?? []) delete copy[field];
  if (copy.permission_denials)
    copy.permission_denials = copy.permission_denials.map(({ reason: _, ...denial }: Line) => denial);
  if (copy.usage) {
    const { cache_breaks: _, ...usage } = copy.usage;
    copy.usage = usage;
  }
  return copy;
}

it("has a line of every kind", () => {
  expect([...new Set(lines.map(nameOf))].sort()).toEqual(
    [
      "system/init",
      "assistant",
      "user",
      "result/success",
      "result/error",
      "system/api_retry",
      "system/compact_boundary",
      "system/hook_response",
      "system/informational",
      "system/model_refusal_no_fallback",
      "system/permission_denied",
      "system/task_started",
      "system/task_updated",
      "system/task_notification",
      "stream_event/message_start",
      "stream_event/content_block_start",
      "stream_event/content_block_delta",
      "stream_event/content_block_stop",
      "stream_event/message_delta",
      "stream_event/message_stop",
    ].sort(),
  );
});

it("prints lines that fit the types of the TypeScript SDK, field for field", async ({ skip }) => {
  const types = await sdkTypes();
  if (!types) return skip("the SDK's types cannot be fetched here");
  expect(types.claudeCodeVersion).toBe(LIKE_CLAUDE_CODE);
  const without = (kind: string, field: string): string => {
    const { [field]: _, ...rest } = published(lines.find((line) => nameOf(line) === kind));
    return `// @ts-expect-error\ncheck(${JSON.stringify(rest)});`;
  };
  const problems = await problemsIn(
    types,
    `import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import type { BetaUsage } from "@anthropic-ai/sdk/resources/beta/messages/messages.mjs";
// The published result has every field of a usage not null; what nobody told us is null all the same, as in every other usage.
type Published<M> = M extends { type: "result" } ? Omit<M, "usage"> & { usage: BetaUsage } : M;
declare function check(line: Published<SDKMessage>): void;
${lines.map((line) => `check(${JSON.stringify(published(line))});`).join("\n")}
${[without("result/error", "errors"), without("result/success", "duration_api_ms"), without("system/init", "plugins")].join("\n")}
`,
  );
  expect(problems.map((problem) => problem.slice(0, 600))).toEqual([]);
});

it("says how each turn ended, its own usage, and what everything cost so far", () => {
  const results = lines.filter((line) => line.type === "result");
  const table = results.map((line) => [
    line.subtype,
    line.stop_reason,
    line.terminal_reason,
    line.num_turns,
    line.usage.input_tokens,
    line.errors?.length,
    line.origin?.kind,
  ]);
  expect(table).toEqual([
    ["success", "end_turn", "completed", 3, 300, undefined, undefined], // TOOLS
    ["success", "end_turn", "completed", 2, 200, undefined, undefined], // BACKGROUND
    ["success", "end_turn", "completed", 1, 100, undefined, "task-notification"], // the subtask woke it
    ["success", "end_turn", "completed", 3, 300, undefined, undefined], // the job woke it, and SUBAGENT came in
    ["error_during_execution", "refusal", undefined, 1, 100, 1, undefined],
    ["success", "end_turn", "completed", 3, 12_100, undefined, undefined], // OVERFLOW
    ["error_max_turns", "tool_use", "max_turns", 7, 700, 1, undefined],
    ["error_during_execution", "tool_use", undefined, 6, 600, 1, undefined], // REPEATED
    ["success", "end_turn", "completed", 1, 100, undefined, undefined], // FALLBACK
    ["error_during_execution", null, undefined, 0, 0, 1, undefined], // BLOCKED
    ["error_during_execution", null, undefined, 0, 0, 1, undefined], // FAILED
    ["error_during_execution", "tool_use", "aborted_tools", 1, 100, 1, undefined], // CUT
    ["error_max_budget_usd", "tool_use", "budget_exhausted", 2, 200, 1, undefined],
    ["error_during_execution", null, "aborted_streaming", 1, 0, 1, undefined],
  ]);
  expect(results[0]).toEqual({
    type: "result",
    subtype: "success",
    is_error: false,
    duration_ms: expect.any(Number),
    duration_api_ms: expect.any(Number),
    num_turns: 3,
    result: "It says hello.",
    stop_reason: "end_turn",
    terminal_reason: "completed",
    total_cost_usd: 0.00108,
    usage: {
      input_tokens: 300,
      output_tokens: 30,
      cache_read_input_tokens: 150,
      cache_creation_input_tokens: 60,
      cache_creation: { ephemeral_5m_input_tokens: 60, ephemeral_1h_input_tokens: 0 },
      server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
      output_tokens_details: null,
      iterations: null,
      fallback_credit: null,
      inference_geo: null,
      service_tier: null,
      speed: null,
    },
    modelUsage: {
      "anthropic/claude-sonnet-5-5": {
        inputTokens: 300,
        outputTokens: 30,
        cacheReadInputTokens: 150,
        cacheCreationInputTokens: 60,
        webSearchRequests: 0,
        costUSD: 0.00108,
        costBasis: "list",
        contextWindow: 1_000_000,
        maxOutputTokens: 128_000,
      },
    },
    permission_denials: [
      {
        tool_name: "Write",
        tool_use_id: "c2",
        tool_input: { file_path: path.join(recorded.cwd, "../outside.txt"), content: "x" },
        reason: expect.stringContaining("outside the project"),
      },
    ],
    session_id: expect.stringMatching(/^ctx_/),
    uuid: expect.stringMatching(UUID),
  });
  expect(results[0].duration_api_ms).toBeGreaterThan(0);
  const costs = recorded.conversation.flatMap((line) => line.total_cost_usd ?? []);
  expect(costs).toEqual(costs.toSorted((a, b) => a - b));
  expect(Object.keys(recorded.conversation.at(-1).modelUsage)).toEqual([
    "anthropic/claude-sonnet-5-5",
    "anthropic/claude-haiku-4-5",
  ]);
});

it("begins with what there is to work with, in Claude's words", () => {
  expect(recorded.conversation[0]).toEqual({
    type: "system",
    subtype: "init",
    cwd: recorded.cwd,
    model: "anthropic/claude-sonnet-5-5",
    tools: expect.arrayContaining(["Bash", "Read", "Write", "Edit", "Glob", "Grep", "Task", "TodoWrite"]),
    agents: expect.arrayContaining(["general-purpose"]),
    mcp_servers: [],
    permissionMode: "default",
    apiKeySource: "ANTHROPIC_API_KEY",
    claude_code_version: LIKE_CLAUDE_CODE,
    holdfast_version: expect.any(String),
    output_style: "default",
    slash_commands: ["compact", "goal"],
    skills: [],
    plugins: [],
    capabilities: [],
    session_id: expect.stringMatching(/^ctx_/),
    uuid: expect.stringMatching(UUID),
  });
  expect(recorded.budget[0].permissionMode).toBe("bypassPermissions");
});

it("names files by their absolute path, from where the agent is", () => {
  const files = recorded.conversation
    .filter((line) => line.type === "assistant")
    .flatMap((line) => line.message.content.flatMap((block: Line) => block.input?.file_path ?? []));
  expect(files).toEqual(
    ["a.txt", "../outside.txt", "sub/b.txt", "long.txt"].map((file) => path.join(recorded.cwd, file)),
  );
});

it("tells of background work from its start to its end", () => {
  const isTask = ({ subtype }: Line) => subtype?.startsWith("task_");
  const tasks: Line[] = recorded.conversation.filter(isTask).map(({ session_id: _, uuid: __, ...line }) => line);
  const job = tasks.find((line) => line.task_type === "local_bash").task_id;
  const output_file = tasks.find((line) => line.subtype === "task_notification" && line.task_id === job).output_file;
  expect(fs.readFileSync(output_file, "utf8")).toBe("ready\n");
  const agent = { type: "system", subtype: "task_started", subagent_type: "general-purpose", task_type: "local_agent" };
  const updated = (task_id: string, status: string) => ({
    type: "system",
    subtype: "task_updated",
    task_id,
    patch: { status, end_time: expect.any(Number) },
  });
  const notified = { type: "system", subtype: "task_notification" };
  expect(Object.groupBy(tasks, (line) => line.task_id)).toEqual({
    [job]: [
      {
        type: "system",
        subtype: "task_started",
        task_id: job,
        tool_use_id: "c5",
        description: JOB,
        task_type: "local_bash",
        is_backgrounded: true,
      },
      updated(job, "failed"),
      {
        ...notified,
        task_id: job,
        tool_use_id: "c5",
        status: "failed",
        summary: `${JOB}: exit code 3`,
        output_file,
      },
    ],
    "lead.c6": [
      {
        ...{ ...agent, task_id: "lead.c6", tool_use_id: "c6", description: "look around", prompt: "SUBTASK beside" },
        ...{ is_backgrounded: true, spawn_depth: 1 },
      },
      updated("lead.c6", "completed"),
      {
        ...{ ...notified, task_id: "lead.c6", tool_use_id: "c6", status: "completed" },
        ...{ summary: "look around: completed", output_file: "" },
      },
    ],
    "lead.c7": [
      {
        ...{ ...agent, task_id: "lead.c7", tool_use_id: "c7", description: "look inside" },
        ...{ is_backgrounded: false, spawn_depth: 1 },
      },
      updated("lead.c7", "completed"),
    ],
  });
});

it("says what was left out, refused, retried and switched", () => {
  const fields = [
    "compact_boundary",
    "permission_denied",
    "api_retry",
    "informational",
    "model_refusal_no_fallback",
    "hook_response",
  ];
  const said = recorded.conversation
    .filter((line) => fields.includes(line.subtype) && line.attempt !== 2)
    .map(({ session_id: _, uuid: __, type: ___, ...line }) => line);
  const model = "anthropic/claude-sonnet-5-5";
  const retry = { subtype: "api_retry", attempt: 1, max_retries: 7, retry_delay_ms: expect.any(Number) };
  const other = "anthropic/claude-haiku-4-5";
  const failed = "exit code 3: broken";
  expect(said).toEqual([
    { subtype: "informational", level: "notice", content: "SessionStart:startup says: mind the gap" },
    {
      ...{ subtype: "hook_response", hook_id: expect.any(String), hook_name: "SessionStart:startup" },
      ...{ hook_event: "SessionStart", output: failed, stdout: "", stderr: failed, exit_code: 3, outcome: "error" },
    },
    { ...retry, error_status: 529, error: "overloaded" },
    {
      subtype: "permission_denied",
      tool_name: "Write",
      tool_use_id: "c2",
      decision_reason: expect.stringContaining("outside the project"),
      message: expect.stringMatching(/^Refused: .*outside the project/),
    },
    { ...retry, error_status: null, error: "overloaded" },
    {
      subtype: "model_refusal_no_fallback",
      original_model: model,
      request_id: null,
      content: expect.stringContaining(`${model} will not answer this`),
    },
    { subtype: "compact_boundary", compact_metadata: { trigger: "auto", pre_tokens: 9000 } },
    { ...retry, error_status: 400, error: "invalid_request" },
    { ...retry, error_status: 529, error: "overloaded" },
    {
      ...{ subtype: "informational", level: "warning", tag: "model_switched", from: model, to: other },
      content: expect.stringMatching(new RegExp(`529.*; going on with ${other}$`)),
    },
    {
      ...{ subtype: "informational", level: "warning", tag: "input_blocked", input_id: expect.any(String) },
      content: "blocked by a UserPromptSubmit hook: no such words",
    },
  ]);
});

it("answers each input line with itself once it is durable, by the name that its sender gave it", () => {
  const first = recorded.conversation.find((line) => line.isReplay);
  expect(first).toEqual({
    type: "user",
    message: { role: "user", content: "TOOLS please" },
    parent_tool_use_id: null,
    isReplay: true,
    session_id: recorded.conversation[0].session_id,
    uuid: SENT.TOOLS,
  });
  const replayed = recorded.conversation.filter((line) => line.isReplay).map(({ message }) => message.content);
  expect(replayed).toEqual(TURN_WORDS.map((word) => `${word} please`));
});

it("streams what is being written as Anthropic's own events; put together they are the message that follows", () => {
  expect(recorded.budget.some((line) => line.type === "stream_event")).toBe(false);
  const streamed = [...recorded.conversation, ...recorded.interrupted].filter((line) => !line.agent_id);
  const whole = streamed.filter((line) => line.type === "assistant").map(({ message }) => message);
  const put = messagesFrom(streamed);
  const [broken] = put.splice(2, 1); // an error came in the middle: it ends there, and the next one begins anew
  expect(broken).toEqual({
    ...{ id: expect.not.stringContaining(put[2].id), model: put[2].model, stop_reason: null, output_tokens: 0 },
    content: [{ type: "text", text: "It says he", citations: null }],
  });
  expect(put).toEqual(
    whole.map(({ id, model, content, stop_reason, usage }) => ({
      ...{ id, model, stop_reason, output_tokens: usage.output_tokens },
      content: content.map((block: Line) => (block.type === "thinking" ? { ...block, signature: "" } : block)),
    })),
  );
});

/** As a client puts stream events together. */
function messagesFrom(all: Line[]): Line[] {
  const messages: Line[] = [];
  const json: string[] = [];
  for (const { event } of all.filter((line) => line.type === "stream_event")) {
    const { type, index, content_block: block, delta, message, usage } = event;
    const now = messages.at(-1);
    if (type === "message_start") messages.push({ id: message.id, model: message.model, content: [] });
    else if (type === "content_block_start") now.content[index] = { ...block };
    else if (type === "message_delta")
      Object.assign(now, { stop_reason: delta.stop_reason, output_tokens: usage.output_tokens });
    else if (type === "content_block_stop" && now.content[index].type === "tool_use")
      now.content[index].input = JSON.parse(json.splice(0).join(""));
    else if (delta?.type === "input_json_delta") json.push(delta.partial_json);
    else if (delta?.type === "text_delta") now.content[index].text += delta.text;
    else if (delta?.type === "thinking_delta") now.content[index].thinking += delta.thinking;
  }
  return messages;
}

/** What Anthropic's Python SDK (0.2.143) raises on when it is not there. */
const PYTHON: Record<string, string[]> = {
  user: ["message.content"],
  assistant: ["message.content", "message.model"],
  "system/task_started": ["task_id", "description", "uuid", "session_id"],
  "system/task_notification": ["task_id", "status", "output_file", "summary", "uuid", "session_id"],
  result: ["subtype", "duration_ms", "duration_api_ms", "is_error", "num_turns", "session_id"],
  stream_event: ["uuid", "session_id", "event"],
};
const PYTHON_BLOCKS: Record<string, string[]> = {
  text: ["text"],
  thinking: ["thinking", "signature"],
  tool_use: ["id", "name", "input"],
  tool_result: ["tool_use_id"],
};

it("prints every field that the Python SDK insists on", () => {
  const at = (line: Line, path: string) => path.split(".").reduce((value, key) => value?.[key], line);
  const missing = (line: Line, fields: string[] = []) => fields.filter((field) => at(line, field) === undefined);
  const problems = lines.flatMap((line) => {
    const blocks: Line[] = Array.isArray(line.message?.content) ? line.message.content : [];
    return [
      ...missing(line, PYTHON[line.type]),
      ...missing(line, PYTHON[nameOf(line)]),
      ...blocks.flatMap((block) => missing(block, PYTHON_BLOCKS[block.type])),
    ].map((field) => `${nameOf(line)}: ${field}`);
  });
  expect(problems).toEqual([]);
});
