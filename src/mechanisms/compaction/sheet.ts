// The state sheet: what must not go with the past, made once when an epoch begins. From the fold alone; no model and no keyword picks anything.
import { noteText, withoutNotes } from "../../loop/marks.ts";
import { type Item, textOf } from "../../models/model.ts";
import { cutText } from "../../text/cut.ts";
import type { Round } from "./rounds.ts";

export interface SheetParts {
  /** Out of view. */
  hidden: readonly Round[];
  /** The whole conversation, for the request that is being worked on. */
  items: readonly Item[];
  carried: readonly string[];
  /** Characters that requests, and that decisions, may take each. */
  room: number;
}

/** Contract: "" where nothing is out of view that it would have to say, and no mechanism carries anything. */
export function sheetText({ hidden, items, carried, room }: SheetParts): string {
  const running = runningRequest(items, hidden);
  const requests = requestsIn(hidden).filter(({ item }) => item !== running);
  const parts = [
    listed("What was asked for, the newest first:", requests.toReversed(), room),
    listed("What you said and decided, the newest first:", repliesIn(hidden).toReversed(), room),
    ...carried,
    ...(running ? [`The request that is being worked on:\n${wordsOf(running)}`] : []),
  ].filter((part) => part !== "");
  return parts.length === 0 ? "" : noteText("compaction", `${HEAD}\n\n${parts.join("\n\n")}`);
}

const HEAD = "The conversation above was made smaller. All of it is kept; this is where things stand.";

interface Said {
  ref: string;
  text: string;
  item: Item;
}

const requestsIn = (rounds: readonly Round[]): Said[] =>
  rounds.flatMap(({ items }) =>
    items.flatMap((item) => {
      const text = wordsOf(item);
      return item.kind === "user" && text !== "" ? [{ ref: `u${item.n}`, text, item }] : [];
    }),
  );

const repliesIn = (rounds: readonly Round[]): Said[] =>
  rounds.flatMap(({ items }) =>
    items.flatMap((item) => {
      const text = item.kind === "reply" ? textOf(item.parts).trim() : "";
      return item.kind === "reply" && text !== "" ? [{ ref: `r${item.n}`, text, item }] : [];
    }),
  );

/** What a person or a program said; "" of a note. */
const wordsOf = (item: Item): string =>
  item.kind !== "user" || item.note ? "" : withoutNotes(textOf(item.content)).trim();

/** Of what does not fit whole. */
const SHORT = 120;

/** Whole while there is room; then a line with its reference each, in the room that is left beside; then counted. */
function listed(head: string, said: readonly Said[], room: number): string {
  const lines: string[] = [];
  let left = room;
  for (const { ref, text } of said) {
    const isWhole = text.length <= left - (lines.length > 0 ? SHORT : 0);
    const shown = isWhole ? text : `${cutText(text.replaceAll(/\s+/g, " "), SHORT)} … (recall ${ref})`;
    if (shown.length > left + SHORT) break;
    left -= shown.length;
    lines.push(`- (${ref}) ${shown}`);
  }
  const more = said.length - lines.length;
  if (said.length === 0) return "";
  return [head, ...lines, ...(more > 0 ? [`- and ${more} older ones: recall finds them by words`] : [])].join("\n");
}

/** The last that was said, where it is out of view itself. */
function runningRequest(items: readonly Item[], hidden: readonly Round[]): Item | undefined {
  const last = items.findLast((item) => wordsOf(item) !== "");
  return last && hidden.some((round) => round.items.includes(last)) ? last : undefined;
}
