// The line that stands for a result: its call, how that ended, its size, and how to see it again.
import type { Content, Item } from "../../models/model.ts";

export type Result = Extract<Item, { kind: "result" }>;

/** `readable`: the agent has the tool that opens results. */
export function lineFor(result: Result, { readable }: { readable: boolean }): string {
  const { callId, name, exitCode, isError, content } = result;
  const how = exitCode !== undefined ? `exit code ${exitCode}, ` : isError ? "failed, " : "";
  const again = readable
    ? `to see it again: read_file path call:${callId}`
    : "it is kept, but no tool of yours shows it";
  return `[${callId} ${name}: ${how}${readableSize(lineSize(content))}, left out to make room; ${again}]`;
}

/** As version 2 put it: what a model was shown once stays as it was. */
const oldLine = ({ name, content }: Result): string =>
  `[result elided: ${name}, ${readableSize(lineSize(content))}; call it again if it is needed]`;

/** Items never change, and adapters remember them by identity: the one that stands for a result is made once. */
const made = new WeakMap<Result, Result>();

export function withLine(result: Result, line: string): Result {
  let item = made.get(result);
  if (!item) {
    item = { ...result, content: [{ type: "text", text: line === "" ? oldLine(result) : line }] };
    made.set(result, item);
  }
  return item;
}

export const lineSize = (content: readonly Content[]): number =>
  content.reduce((sum, c) => sum + (c.type === "text" ? c.text.length : c.data.length), 0);

const readableSize = (size: number) => (size < 1000 ? `${size} B` : `${Math.round(size / 1000)} kB`);
