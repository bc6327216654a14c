// The state sheet: what must not go with the past, made once when an epoch begins. From the fold alone; no model and no keyword picks anything.
import type { Carried } from "../../loop/carry.ts";
import { itemName } from "../../loop/item-names.ts";
import { noteInside, noteText, RUNTIME_ORIGINS, withoutMarks, withoutNotes, withoutSkills } from "../../loop/marks.ts";
import type { ViewOptions } from "../../loop/seams.ts";
import type { AgentState } from "../../loop/transcript.ts";
import { type Item, textOf } from "../../models/model.ts";
import { counted } from "../../text/counted.ts";
import { cutText, cutTextTail } from "../../text/cut.ts";
import { fittingTexts } from "../../text/fitting.ts";
import type { Round } from "./rounds.ts";
import { itemSize } from "./size.ts";

export interface SheetParts {
  /** Out of view. */
  hidden: readonly Round[];
  /** Calls whose results are shown as a line. */
  masked: Iterable<string>;
  /** The whole conversation, and the turn that runs. */
  items: readonly Item[];
  turn: Pick<NonNullable<AgentState["turn"]>, "from"> | undefined;
  carry: ViewOptions["carry"];
  /** Characters that the window holds, about. */
  window: number;
}

/** Shares of the window. What mechanisms carry has its own (`src/loop/carry.ts`). */
const REQUESTS = 0.05;
const DECISIONS = 0.1;
const NOTES = 0.03;
const RUNNING = 0.15;

export interface Sheet {
  text: string;
  /** What is being worked on, where it is out of view. */
  asked?: string;
}

/** Contract: undefined where nothing is out of view that it would have to say, and no mechanism carries anything; else at most seven tenths of the window. */
export async function sheetOf(parts: SheetParts): Promise<Sheet | undefined> {
  const sheet = await written(parts);
  if (!sheet) return undefined;
  // Characters that are a token each weigh more: then there is room for fewer.
  const text = `${sheet.text}${sheet.asked ?? ""}`;
  const weight = itemSize(said(text)) / text.length;
  return weight > HEAVY ? written({ ...parts, window: parts.window / weight }) : sheet;
}

const HEAVY = 1.1;
const said = (text: string): Item => ({ kind: "user", content: [{ type: "text", text }] });

const HEAD =
  "The conversation above was made smaller. All of it is kept, and recall brings any part back; this is where things stand.";
const ASKED = "What you are working on follows behind these notes, as it was said.";

async function written({ hidden, masked, items, turn, carry, window }: SheetParts): Promise<Sheet | undefined> {
  const past = hidden.flatMap((round) => round.items);
  const gone = new Set([...past.map(itemName), ...masked]);
  const running = runningRequest(items, turn).filter((item) => past.includes(item));
  const carried = await carry({ window, shows: (ref) => !gone.has(ref) });
  const others = past.filter((item) => !running.includes(item)).toReversed();
  const own = [
    listed("What was asked for, the newest first:", others.filter(isRequest), REQUESTS * window),
    listed("What you said and decided, the newest first:", others.filter(isReply), DECISIONS * window),
    listed("What you were told besides, the newest first:", others.filter(isLasting), NOTES * window),
    ...carried.filter((one) => !hasNote(one)).map(({ text }) => text),
    ...(running.length > 0 ? [ASKED] : []),
  ].filter((part) => part !== "");
  const notes = carried.filter(hasNote).map(({ origin, text }) => noteText(origin, withoutMarks(text)));
  if (own.length === 0 && notes.length === 0) return undefined;
  const wordsOfRunning = (isNote: boolean) =>
    running
      .filter((item) => (item.kind === "user" && item.note === true) === isNote)
      .map((item) => verbatim(item, (RUNNING * window) / running.length));
  const asked = wordsOfRunning(false); // with the weight of who said it; what notes say has that of notes
  const sheet = noteText("compaction", withoutMarks([HEAD, ...own].join("\n\n")));
  return {
    text: [sheet, ...notes, ...wordsOfRunning(true)].join("\n\n"),
    ...(asked.length > 0 && { asked: asked.join("\n\n") }),
  };
}

/** Rules come in notes of their own: from nobody else they would be followed. Of a program's mechanism the sheet says it. */
const hasNote = ({ origin }: Carried): boolean => RUNTIME_ORIGINS.includes(origin);

type UserItem = Extract<Item, { kind: "user" }>;

const isPeer = ({ from }: UserItem): boolean => from !== undefined && !RUNTIME_ORIGINS.includes(from);

/** Whose notes say what somebody wants: a schedule's are the words of whoever set it. */
const ASKING = new Set(["user", "cron"]);

/** Of a person, a program or another agent, whatever way it came. */
const isRequest = (item: Item): boolean =>
  item.kind === "user" && (!item.note || isPeer(item) || ASKING.has(item.from ?? ""));

const isReply = (item: Item): boolean => item.kind === "reply" && textOf(item.parts).trim() !== "";

/** Notes of these speak of a moment that is over, or their mechanisms carry what they said. */
const PASSING = new Set(["answer-schema", "compaction", "instructions", "recovery", "skills", "team", "todo"]);

const isLasting = (item: Item): boolean =>
  item.kind === "user" && item.note === true && !isRequest(item) && !PASSING.has(item.from ?? "compaction");

/** What is being worked on: what was said in this turn; where nobody said anything, the notes that began it. */
function runningRequest(items: readonly Item[], turn: SheetParts["turn"]): Item[] {
  if (!turn) return items.filter((item) => item.kind === "user" && !item.note).slice(-1);
  const own = items.slice(turn.from);
  const asked = own.filter((item) => item.kind === "user" && !item.note);
  if (asked.length > 0) return asked;
  const begun = own.findIndex((item) => item.kind !== "user");
  return own.slice(0, begun < 0 ? own.length : begun);
}

/** Of what does not fit whole. */
const SHORT = 120;

/** Whole while there is room; then a line with its reference each; then counted. */
function listed(head: string, items: readonly Item[], room: number): string {
  if (items.length === 0) return "";
  const texts = items.map((item) => {
    const text = wordsOf(item);
    const name = `- (${itemName(item)}${fromOf(item)}) `;
    const short = cutText(cutText(text, 4 * SHORT).replaceAll(/\s+/g, " "), SHORT);
    return {
      whole: `${name}${quoted(text)}`,
      short: short.length === text.length ? `${name}${text}` : `${name}${short} …`,
    };
  });
  const rest = (count: number) => `- and ${counted(count, "older one")}: recall finds them by words`;
  return [head, ...fittingTexts(texts, room, rest)].join("\n");
}

/** What somebody said cannot look like a line or a part of the sheet. */
const quoted = (text: string): string => text.replaceAll("\n", "\n  | ");

const fromOf = (item: Item): string =>
  item.kind !== "user" || item.from === undefined ? "" : `, from ${item.from}${isPeer(item) ? ", another agent" : ""}`;

/** The words of it: of an input what was typed, without what stands beside. */
function wordsOf(item: Item): string {
  if (item.kind !== "user") return item.kind === "reply" ? textOf(item.parts).trim() : "";
  const words = item.note ? noteInside(wholeOf(item)) : withoutNotes(wholeOf(item)).trim();
  return words === "" ? "(no words; something stands beside it)" : words;
}

/** What stands beside the words begins on a line of its own. The text of a skill is carried by itself. */
const wholeOf = ({ content }: UserItem): string =>
  content
    .flatMap((part, i) => (part.type === "text" ? [i === 0 ? part.text : withoutSkills(part.text)] : []))
    .filter((text) => text !== "")
    .reduce((whole, text) => (whole === "" ? text : `${whole}\n${text.replace(/^\n/, "")}`), "");

/** As it was said where there is room; else its two ends. */
function verbatim(item: Item, room: number): string {
  if (item.kind !== "user") return "";
  const text = wholeOf(item);
  const more = item.content.some((part) => part.type !== "text")
    ? [`[pictures or documents: recall ${itemName(item)}]`]
    : [];
  if (text.length <= room) return [text, ...more].join("\n");
  const words = item.note ? text : withoutNotes(text).trim();
  const beside = `[what stands beside it is left out here: recall ${itemName(item)}]`;
  if (words.length <= room) return [words, beside].join("\n");
  const half = Math.floor(room / 2);
  const cut = `[… ${words.length - 2 * half} characters are left out here: recall ${itemName(item)} …]`;
  return [cutText(words, half), cut, cutTextTail(words, half)].join("\n");
}
