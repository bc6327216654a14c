// Requests of a program over stream-json input: each gets one answer; what this protocol has and Holdfast does not is answered with an error, never with the end.
import type { AgentType } from "../../mechanisms/agents/port.ts";
import { LIKE_CLAUDE_CODE } from "./init.ts";

export interface ControlRequest {
  request_id: string;
  request: { subtype?: unknown; [field: string]: unknown };
}

/** The published shape, inside a line of type `control_response`. */
export type ControlAnswer =
  | { subtype: "success"; request_id: string; response: object }
  | { subtype: "error"; request_id: string; error: string };

export interface ControlHandlers {
  model: string;
  agents(): Promise<readonly AgentType[]>;
  /** Ends the turn that runs, where one does. */
  interrupt(): void;
  say(line: string): void;
}

/** What is given with `initialize`, and how it can be given instead. */
const WITHOUT_EFFECT: Record<string, string> = {
  systemPrompt: "--system-prompt",
  appendSystemPrompt: "--append-system-prompt",
  agents: "files in .claude/agents",
  hooks: "hooks in settings",
  jsonSchema: "--json-schema",
  planModeInstructions: "--append-system-prompt",
  sdkMcpServers: "",
  toolAliases: "",
  plugins: "",
};

/** How it is said at the start instead. */
const INSTEAD: Record<string, string> = {
  set_permission_mode: "--permission-mode",
  set_model: "--model",
  rewind_files: "`holdfast contexts restore --only files`",
  mcp_set_servers: "",
};

export async function answerControl(
  { request_id, request }: ControlRequest,
  asked: ControlHandlers,
): Promise<ControlAnswer> {
  const { subtype } = request;
  const success = (response: object): ControlAnswer => ({ subtype: "success", request_id, response });
  if (subtype === "initialize") return success(await initialized(request, asked));
  if (subtype === "interrupt") {
    asked.interrupt();
    return success({});
  }
  const name = typeof subtype === "string" ? subtype : JSON.stringify(subtype ?? null);
  const instead = Object.hasOwn(INSTEAD, name) && INSTEAD[name] ? `: use ${INSTEAD[name]}` : "";
  return { subtype: "error", request_id, error: `Holdfast does not do ${name} over this protocol yet${instead}` };
}

async function initialized(
  request: ControlRequest["request"],
  { model, agents, say }: ControlHandlers,
): Promise<object> {
  const idle = Object.keys(WITHOUT_EFFECT).filter((field) => saysSomething(request[field]));
  if (idle.length > 0) {
    const each = idle.map((field) => (WITHOUT_EFFECT[field] ? `${field} (use ${WITHOUT_EFFECT[field]})` : field));
    say(`accepted without effect, given with initialize: ${each.join(", ")}`);
  }
  return {
    commands: [],
    agents: (await agents()).map(({ name, description }) => ({ name, description })),
    output_style: "default",
    available_output_styles: ["default"],
    models: [{ value: model, displayName: model, description: "The model that this run was started with" }],
    account: {},
    claude_code_version: LIKE_CLAUDE_CODE,
    ...(saysSomething(request.hooks) && { hooks_applied: false }),
    ...(saysSomething(request.plugins) && { plugins_applied: false }),
  };
}

/** SDKs send empty ones for what nobody asked for. */
function saysSomething(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(saysSomething);
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return value !== undefined && value !== null && value !== "" && value !== false;
}
