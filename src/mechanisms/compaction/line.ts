// The line that stands for a result: what was called, how that ended, its size, and how to see it again.
import { withoutMarks } from "../../loop/marks.ts";
import type { CallPart, Content, Item } from "../../models/model.ts";
import { cutText } from "../../text/cut.ts";

export type Result = Extract<Item, { kind: "result" }>;

/** `call`: what was asked for. `recalls`: the agent has the tool that brings results back. */
export function lineFor(result: Result, { call, recalls }: { call?: CallPart | undefined; recalls: boolean }): string {
  const { callId, name, exitCode, isError, content } = result;
  const how = exitCode !== undefined ? `exit code ${exitCode}, ` : isError ? "failed, " : "";
  const lines = textIn(content).split("\n").length;
  const size = lines > 1 ? `${lines} lines` : readableSize(contentSize(content));
  const again = recalls ? `recall ${callId}` : "it is kept, but no tool of yours shows it";
  return `[${callId} ${name}${about(call)}: ${how}${size}, left out to make room; ${again}]`;
}

const LONGEST_ABOUT = 80;
/** What says most about a call, where it has one of them. */
const TELLING = ["command", "path", "file_path", "pattern", "query", "ref", "name", "description"];

function about(call: CallPart | undefined): string {
  const input = call?.input;
  if (typeof input !== "object" || input === null) return "";
  const fields = new Map(Object.entries(input));
  const telling = TELLING.map((key) => fields.get(key)).find((value) => typeof value === "string");
  if (telling === undefined) return "";
  return ` ${JSON.stringify(cutText(withoutMarks(telling.replaceAll(/\s+/g, " ")), LONGEST_ABOUT))}`;
}

const textIn = (content: readonly Content[]): string =>
  content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");

/** As version 2 put it: what a model was shown once stays as it was. */
const oldLine = ({ name, content }: Result): string =>
  `[result elided: ${name}, ${readableSize(contentSize(content))}; call it again if it is needed]`;

/** Items never change, and adapters remember them by identity: the one that stands for a result is made once. */
const made = new WeakMap<Shown, Map<string, Shown>>();

type Shown = Exclude<Item, { kind: "reply" }>;

/** Of what was said, pictures and documents stay. */
export function withLine(of: Shown, line: string): Shown {
  const known = made.get(of) ?? new Map<string, Shown>();
  made.set(of, known);
  let item = known.get(line);
  if (!item) {
    const text = of.kind === "result" && line === "" ? oldLine(of) : line;
    const more = of.kind === "user" ? of.content.filter(({ type }) => type !== "text") : [];
    item = { ...of, content: [{ type: "text", text }, ...more] };
    known.set(line, item);
  }
  return item;
}

export const contentSize = (content: readonly Content[]): number =>
  content.reduce((sum, c) => sum + (c.type === "text" ? c.text.length : c.data.length), 0);

const readableSize = (size: number) => (size < 1000 ? `${size} B` : `${Math.round(size / 1000)} kB`);
