// How a hook's text stands beside other text: marked as a hook's, so that it has no more authority than that.

import { isRecord } from "../../ledger/guards.ts";
import { noteText } from "../../loop/marks.ts";
import type { ToolOutput } from "../../loop/seams.ts";

const marked = (text: string): string => noteText("hook", text);

export function addNotes(output: ToolOutput, texts: readonly string[]): ToolOutput {
  if (texts.length === 0) return output;
  const note = marked(texts.join("\n"));
  const { content } = output;
  return {
    ...output,
    content: typeof content === "string" ? `${content}\n${note}` : [...content, { type: "text", text: note }],
  };
}

/** The result as a hook wants it. What a person would have seen instead goes too: it may hold what was taken out. */
export function replacedText(output: ToolOutput, by: string | undefined): ToolOutput {
  if (by === undefined) return output;
  const { display: _, lines: __, whole: ___, ...kept } = output;
  return { ...kept, content: by };
}

/** A result in any shape that scripts give it. */
export function resultText(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((v) => isRecord(v) && typeof v.text === "string")) {
    return value.map((v) => v.text).join("\n");
  }
  if (isRecord(value)) for (const key of ["content", "stdout"]) if (typeof value[key] === "string") return value[key];
  return JSON.stringify(value);
}
