// The tool task: a piece of work for a subagent; its last message is the result.
import * as z from "zod";
import { defineTool, type Tool, type ToolOutput, type ToolRun } from "../../loop/seams.ts";
import type { AgentType } from "../agents/port.ts";
import type { SubagentEnd } from "./port.ts";

export interface Order {
  description: string;
  prompt: string;
  agent?: string;
  reads?: string[];
  background?: boolean;
}

export type SubagentOutcome =
  | { refused: string }
  /** It goes on beside the caller. */
  | { started: string }
  | { agent: string; end: SubagentEnd; note?: string };

export type Delegate = (order: Order, run: ToolRun) => Promise<SubagentOutcome>;

const ABOUT_ALL_CHARS = 2700;
const NAMES_CHARS = 8000;
const ABOUT_CHARS = 90;
const REFUSALS_SHOWN = 3;

export function createTaskTool(delegate: Delegate, types: string): Tool<Order> {
  return defineTool<Order>({
    name: "task",
    description: `Give work to a subagent: it sees only the prompt (and shared data, by keys in reads); you get its last message. Several in one reply run in parallel. agent: ${types}.`,
    schema: () =>
      z.strictObject({
        description: z.string(),
        prompt: z.string().min(1),
        agent: z.string().optional(),
        reads: z.array(z.string()).optional(),
        background: z.boolean().optional(),
      }),
    effect: "internal",
    parallel: true,
    async execute(run) {
      const outcome = await delegate(run.input, run);
      if ("refused" in outcome) return { content: `Not started: ${outcome.refused}`, isError: true };
      if ("started" in outcome)
        return { content: `[Background subtask ${outcome.started} started] You are told when it has ended.` };
      return resultOf(outcome);
    },
  });
}

/** Built-in types by name, others with what they are for, as long as there is room; then by their names. */
export function typesText(types: readonly AgentType[]): string {
  const built = types.filter((type) => type.source === "built-in").map(({ name }) => name);
  const own = types.filter((type) => type.source !== "built-in");
  const lines: string[] = [];
  let about = ABOUT_ALL_CHARS;
  let names = NAMES_CHARS;
  for (const { name, description } of own) {
    const text = description.replace(/\s+/g, " ").trim();
    const line = `${name} (${text.length > ABOUT_CHARS ? `${text.slice(0, ABOUT_CHARS - 1)}…` : text})`;
    about = line.length > about ? 0 : about - line.length;
    names -= name.length;
    if (names < 0) break;
    lines.push(about > 0 ? line : name);
  }
  if (lines.length < own.length) lines.push(`${own.length - lines.length} more`);
  const [first, ...rest] = [...built, ...lines];
  return [`${first} (default)`, ...rest].join(", ");
}

function resultOf({ agent, end, note }: Extract<SubagentOutcome, { end: SubagentEnd }>): ToolOutput {
  const parts = [end.ok ? end.text.trim() || "(it ended without a word)" : failure(agent, end), ...asides(end)];
  if (note) parts.push(note);
  return {
    content: parts.join("\n\n"),
    isError: !end.ok,
    events: [{ type: "subagent.ended", data: { agent, ok: end.ok, denials: end.denials.length } }],
  };
}

function failure(agent: string, { error, text, interrupted }: SubagentEnd): string {
  const said = text.trim();
  const again = interrupted ? ` (it keeps what it did: task with agent ${agent} goes on with it)` : "";
  return `The subtask ${agent} failed: ${error ?? "no reason given"}${again}${said === "" ? "" : `\n\nIts last words:\n${said}`}`;
}

/** What the caller should know besides. */
export function asides({ exported, denials }: SubagentEnd): string[] {
  const parts: string[] = [];
  if (exported.length > 0) parts.push(`It exported to the shared data: ${exported.join(", ")} (context_read).`);
  if (denials.length > 0) {
    const shown = denials.slice(0, REFUSALS_SHOWN).map(({ name, reason }) => `${name}: ${reason}`);
    if (denials.length > REFUSALS_SHOWN) shown.push(`${denials.length - REFUSALS_SHOWN} more`);
    parts.push(`Refused by policy, and another subtask would be refused likewise:\n${shown.join("\n")}`);
  }
  return parts;
}

export { failure as failureText };
