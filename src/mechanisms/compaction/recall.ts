// `recall`: any part of the agent's own conversation again, by its name or by words, with what has become of it since.
import * as z from "zod";
import { withoutMarks } from "../../loop/marks.ts";
import { defineTool, type ToolOutput, type Turn } from "../../loop/seams.ts";
import { type CallPart, type Content, type Item, textOf } from "../../models/model.ts";
import { cutText } from "../../text/cut.ts";
import { callsIn } from "./rounds.ts";

interface Asked {
  ref?: string;
  query?: string;
  offset?: number;
  limit?: number;
}

export const recallTool = defineTool<Asked>({
  name: "recall",
  description:
    "Bring back what was left out of this conversation. ref: a call (c17), a reply (r12) or what was said to you (u3), whole or some lines; query: literal words, newest first.",
  schema: () =>
    z.strictObject({
      ref: z.string().optional(),
      query: z.string().optional(),
      offset: z.int().min(1).optional(),
      limit: z.int().min(1).optional(),
    }),
  effect: "read",
  async execute({ turn, input }) {
    if (input.ref !== undefined) return byRef(turn, input.ref.trim(), input);
    if (input.query !== undefined && input.query.trim() !== "") return byWords(turn, input.query.trim());
    return { content: "recall needs ref (such as c17 or r12) or query", isError: true };
  },
});

function byRef(turn: Turn, ref: string, lines: Asked): ToolOutput {
  const { items } = turn.state;
  const found = items.find((item) => nameOf(item) === ref);
  if (!found) return { content: `there is nothing called ${ref} in this conversation`, isError: true };
  const since = sinceThen(items, found);
  const content: Content[] = contentOf(found, callsIn(items)).map((part) =>
    part.type === "text" ? { ...part, text: cutLines(part.text, lines) } : part,
  );
  return { content: since === "" ? content : [...content, { type: "text", text: `[${since}]` }] };
}

const nameOf = (item: Item): string =>
  item.kind === "result" ? item.callId : item.kind === "reply" ? `r${item.n}` : `u${item.n}`;

function contentOf(item: Item, calls: ReadonlyMap<string, CallPart>): Content[] {
  if (item.kind === "reply") return [{ type: "text", text: textOf(item.parts) }];
  if (item.kind === "user") return item.content;
  const call = calls.get(item.callId);
  const asked = call ? `${call.name} ${cutText(JSON.stringify(call.input ?? {}), 2_000)}\n` : "";
  return [{ type: "text", text: `${asked}${item.isError ? "It failed:\n" : ""}` }, ...item.content];
}

function cutLines(text: string, { offset, limit }: Asked): string {
  if (offset === undefined && limit === undefined) return text;
  const from = offset ?? 1;
  const all = text.split("\n");
  const end = Math.min(all.length, limit === undefined ? all.length : from - 1 + limit);
  return `${all.slice(from - 1, end).join("\n")}\n[lines ${from}-${end} of ${all.length}]`;
}

/** What makes it old: the same file changed, the same command run again. */
function sinceThen(items: readonly Item[], found: Item): string {
  if (found.kind !== "result") return "";
  const calls = callsIn(items);
  const call = calls.get(found.callId);
  const subject = call && subjectOf(call);
  if (subject === undefined) return "";
  const at = items.indexOf(found);
  const later = items
    .slice(at + 1)
    .flatMap((item) => (item.kind === "result" ? [{ item, call: calls.get(item.callId) }] : []))
    .filter((one) => one.call && subjectOf(one.call) === subject);
  const last = later.at(-1);
  if (!last) return "";
  const { callId, name, exitCode, isError } = last.item;
  const how = exitCode !== undefined ? `, exit code ${exitCode}` : isError ? ", failed" : "";
  return `later: ${callId} ${name} of the same${how}`;
}

function subjectOf({ input }: CallPart): string | undefined {
  if (typeof input !== "object" || input === null) return undefined;
  const fields = new Map(Object.entries(input));
  const of = fields.get("command") ?? fields.get("path");
  return typeof of === "string" ? of : undefined;
}

const MOST_HITS = 10;
const AROUND = 160;

function byWords(turn: Turn, query: string): ToolOutput {
  const { items } = turn.state;
  const wanted = query.toLowerCase();
  const hits: string[] = [];
  let more = 0;
  for (const item of items.toReversed()) {
    const text = item.kind === "reply" ? textOf(item.parts) : textOf(item.content);
    const at = text.toLowerCase().indexOf(wanted);
    if (at < 0) continue;
    if (hits.length >= MOST_HITS) {
      more++;
      continue;
    }
    const about = item.kind === "result" ? ` ${item.name}${item.isError ? " (failed)" : ""}` : "";
    const since = sinceThen(items, item);
    const part = text.slice(Math.max(0, at - AROUND), at + query.length + AROUND).replaceAll(/\s+/g, " ");
    hits.push(`${nameOf(item)}${about}: …${part}…${since === "" ? "" : ` [${since}]`}`);
  }
  if (hits.length === 0) return { content: `nothing in this conversation has ${JSON.stringify(query)}` };
  const rest = more > 0 ? `\n${more} older ones have it too` : "";
  return { content: withoutMarks(`${hits.join("\n")}${rest}`) };
}
