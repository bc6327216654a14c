// What read_file opens besides files: the whole of an output that was bounded (blob:…), and a result of this agent's own that left its view (call:…).
import type { ToolOutput, Turn } from "../loop/seams.ts";
import type { Content } from "../models/model.ts";

/** No file: only read_file knows such paths. */
export const isKept = (path: string): boolean => /^(?:blob|call):/.test(path);

interface Lines {
  offset?: number | undefined;
  limit?: number | undefined;
}

/** The result as it was, or some lines of its text. Nobody else's: calls are looked for in the transcript of the agent that asks. */
export function readResult(turn: Turn, path: string, lines: Lines): ToolOutput {
  const id = path.slice("call:".length);
  const result = turn.state.items.find((item) => item.kind === "result" && item.callId === id);
  if (result?.kind !== "result") {
    return { content: `there is no result of a call ${id} in this conversation`, isError: true };
  }
  if (lines.offset === undefined && lines.limit === undefined) return { content: result.content };
  return { content: result.content.map((part): Content => (part.type === "text" ? cut(part, lines) : part)) };
}

function cut({ text }: { text: string }, { offset = 1, limit }: Lines): Content {
  const lines = text.split("\n");
  const end = Math.min(lines.length, limit === undefined ? lines.length : offset - 1 + limit);
  const shown = lines.slice(offset - 1, end).join("\n");
  return { type: "text", text: `${shown}\n[lines ${offset}-${end} of ${lines.length}]` };
}
