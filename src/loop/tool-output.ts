// What a tool may say in its result: no facts that are others' to record, nothing that passes for the runtime's own words.
import { RESERVED_EVENTS } from "../contexts/events.ts";
import { withoutMarks } from "./marks.ts";
import type { ToolOutput } from "./seams.ts";

/** Who may say what is decided where it is written: a tool's own facts are those of its mechanism. */
export function permitted(output: ToolOutput): ToolOutput {
  const forbidden = output.events?.find(({ type }) => RESERVED_EVENTS.has(type));
  if (!forbidden) return output;
  return {
    content: `Not recorded: a tool may not say ${forbidden.type}. Its effect, if any, has happened.`,
    isError: true,
  };
}

/** What a tool says cannot pass for what the runtime says; the layers around it may add notes of theirs. */
export function unmarked(output: ToolOutput): ToolOutput {
  const { content } = output;
  if (typeof content === "string") return { ...output, content: withoutMarks(content) };
  // No mark is put together from two parts either.
  const parts = content.map((part) =>
    part.type === "text" ? { ...part, text: withoutMarks(part.text).replace(/<(?=\s*\/?\s*$)/, "<\\") } : part,
  );
  return { ...output, content: parts };
}
