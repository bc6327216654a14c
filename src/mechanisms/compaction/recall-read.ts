// Recall itself, by name or by words: one function for the tool and for programs. It reads what is folded already, and blobs where results were cut.

import type { Recalled, RecalledContent, RecallHit, RecallHits, RecallRange } from "../../contexts/recall.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { itemName } from "../../loop/item-names.ts";
import type { ContextState } from "../../loop/transcript.ts";
import { type Content, type Item, type ReplyPart, type ResultItem, textOf } from "../../models/model.ts";
import { mayHave } from "../../text/gram-filter.ts";
import { cutLines } from "./recall-lines.ts";
import { newestFirst, openCall, type Part, partNamed, type RecallTimelines, timelinesOf } from "./recall-parts.ts";
import { recallEndOf, sinceThen } from "./recall-since.ts";
import { type FoundWords, findWords, wordsPattern } from "./recall-words.ts";

export interface Conversation {
  state: ContextState;
  blob: (hash: string) => Promise<Uint8Array | undefined>;
}

/** Contract: whether the reader may see that agent was asked before. Throws `not_found`, in one line. */
export async function recallByName(
  { state, blob }: Conversation,
  { agent, ref }: { agent: string; ref: string },
  range: RecallRange = {},
): Promise<Recalled> {
  const timelines = timelinesOf(state, agent);
  const part = partNamed(timelines, ref);
  if (!part) return withoutResult(timelines, { agent, ref });
  const content = await contentOf(part, blob);
  const whole = { ...factsOf(part, timelines, { agent, state }), ...besides(part) };
  if (range.offset === undefined && range.limit === undefined) return { ...whole, content };
  const { text, ...lines } = cutLines(textIn(content), range, ref);
  return { ...whole, content: [{ type: "text", text }], lines };
}

function withoutResult(timelines: RecallTimelines, { agent, ref }: { agent: string; ref: string }): Recalled {
  const open = openCall(timelines, ref);
  if (!open) throw notThere(ref, agent);
  const facts = { agent, ref, kind: "call" as const, tool: open.name, end: { outcome: "open" as const } };
  return { ...facts, since: [], isAbandoned: false, input: open.input, content: [] };
}

const REF = /^[cru]\d+$/;

function notThere(ref: string, agent: string): HoldfastError {
  const why = REF.test(ref)
    ? `there is no ${ref} in the conversation of ${agent}: a query finds parts by their words`
    : `${JSON.stringify(ref.slice(0, 40))} is no name of a part: c17 is a call, r12 a reply, u3 something that was said`;
  return new HoldfastError("not_found", why);
}

type Facts = Omit<Recalled, "content" | "input" | "calls" | "lines">;

function factsOf(
  { item, isAbandoned, call }: Part,
  timelines: RecallTimelines,
  { agent, state }: { agent: string; state: ContextState },
): Facts {
  const of = { agent, ref: itemName(item), isAbandoned };
  if (item.kind === "reply") return { ...of, kind: "reply", since: [] };
  if (item.kind === "user")
    return {
      ...of,
      kind: "said",
      ...(item.note && { isNote: true }),
      ...(item.from && { from: item.from }),
      since: [],
    };
  const since = sinceThen(timelines, { item, call }, state.root);
  return { ...of, kind: "call", tool: item.name, end: recallEndOf(item), since };
}

function besides({ item, call }: Part): Pick<Recalled, "input" | "calls"> {
  if (item.kind === "result") return { input: call?.input };
  if (item.kind === "user") return {};
  const made = item.parts.flatMap((part) => (part.type === "call" ? [{ ref: part.id, tool: part.name }] : []));
  return made.length > 0 ? { calls: made } : {};
}

/** Contract: whole. A blob that cannot be had leaves what was shown of it. */
async function contentOf({ item }: Part, blob: Conversation["blob"]): Promise<RecalledContent[]> {
  if (item.kind === "reply") return [{ type: "text", text: textOf(item.parts) }];
  if (item.kind === "user" || !item.whole) return item.content;
  return wholeContent(item, item.whole, blob);
}

async function wholeContent(
  { content }: ResultItem,
  whole: NonNullable<ResultItem["whole"]>,
  blob: Conversation["blob"],
): Promise<Content[]> {
  const parts = [...content];
  for (const { part, hash } of whole) {
    const bytes = parts[part]?.type === "text" ? await blob(hash) : undefined;
    if (bytes) parts[part] = { type: "text", text: Buffer.from(bytes).toString("utf8") };
  }
  return parts;
}

const textIn = (content: readonly (RecalledContent | ReplyPart)[]): string =>
  content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");

export interface WordsAsked {
  agent: string;
  query: string;
  tool?: string | undefined;
  /** The number of a reply that is not looked at: the one that asks. */
  except?: number | undefined;
}

const MOST_HITS = 10;
/** What it shows stands elsewhere in the conversation, and what it was asked for is no find. */
const ITSELF = "recall";

/** Contract: newest first, and no further than it must look. */
export async function recallByWords({ state, blob }: Conversation, asked: WordsAsked): Promise<RecallHits> {
  const { agent, query, tool, except } = asked;
  const timelines = timelinesOf(state, agent);
  const pattern = wordsPattern(query);
  const hits: RecallHit[] = [];
  for (const part of newestFirst(timelines)) {
    const { item } = part;
    const name = item.kind === "result" ? item.name : undefined;
    if (tool === undefined ? name === ITSELF || (item.kind === "reply" && item.n === except) : name !== tool) continue;
    const whole = item.kind === "result" ? item.whole : undefined;
    // A text that cannot have them is not read; what else the result has is looked at as it is shown.
    const isRead = whole?.some(({ grams }) => grams === undefined || mayHave(grams, query)) ?? false;
    const found = isRead ? findIn(await contentOf(part, blob), pattern) : findShown(item, pattern);
    const inInput = found ? undefined : inputWords(part, pattern);
    const words = found ?? inInput;
    if (!words) continue;
    if (hits.length === MOST_HITS) return { hits, hasMore: true };
    hits.push({ ...factsOf(part, timelines, { agent, state }), ...words, inInput: inInput !== undefined });
  }
  return { hits, hasMore: false };
}

const findShown = (item: Item, pattern: RegExp): FoundWords | undefined =>
  findIn(item.kind === "reply" ? item.parts : item.content, pattern);

/** Most have one text: it is not copied. */
function findIn(parts: readonly (Content | ReplyPart)[], pattern: RegExp): FoundWords | undefined {
  let only: string | undefined;
  for (const part of parts) {
    if (part.type !== "text") continue;
    if (only !== undefined) return findWords(textIn(parts), pattern);
    only = part.text;
  }
  return only === undefined ? undefined : findWords(only, pattern);
}

const inputWords = ({ call }: Part, pattern: RegExp): FoundWords | undefined =>
  call ? wordsInside(call.input, pattern) : undefined;

function wordsInside(value: unknown, pattern: RegExp): FoundWords | undefined {
  if (typeof value === "string") return findWords(value, pattern);
  if (typeof value !== "object" || value === null) return undefined;
  for (const one of Object.values(value)) {
    const found = wordsInside(one, pattern);
    if (found) return found;
  }
  return undefined;
}
