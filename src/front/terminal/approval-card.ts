// The card that asks a person: who asks, what exactly, and which answers there are. What was not on the screen cannot be allowed.

import type { ApprovalAnswer, ApprovalRequest } from "../../mechanisms/approvals/events.ts";
import type { ChangePreview } from "../../mechanisms/files/change-preview.ts";
import {
  type ApprovalScope,
  answerBy,
  choicesFor,
  describeRequest,
  PAUSE_MS,
  READ_MS,
} from "../presentation/approval.ts";
import { ASKED_HERE } from "../presentation/blocks.ts";
import { escapedName } from "../presentation/printable.ts";
import type { Style } from "../presentation/style.ts";
import { pressed } from "./key-name.ts";
import { createLineInput, type LineInput } from "./line-input.ts";
import { cutRow, rowsOf, wordRows } from "./rows.ts";
import { createScroll, type Scroll, scrollBy, shownLines } from "./scroll.ts";
import type { Panel, Size, TypedKey, View } from "./view.ts";

export interface ApprovalCardOptions {
  request: ApprovalRequest;
  /** Of a call that changes a file. */
  change?: ChangePreview | undefined;
  /** How many more wait behind it. */
  waiting: number;
  style: Style;
  shownAt: number;
  /** When the last key at all was typed before it appeared. */
  typedAt?: number | undefined;
  now: () => number;
  /** Calls later, unless what it gives is called first. */
  after?: (ms: number, then: () => void) => () => void;
  /** Contract: called once. */
  answered: (answer: ApprovalAnswer) => void;
  /** It wants to be drawn again. */
  changed: () => void;
  /** A letter that was taken for an answer, and was the first of a word: it belongs where the rest of it goes. */
  givesBack: (letter: TypedKey) => void;
}

/** Before a row that goes on with the one above it: no line of what is asked can pass for one of ours. */
const GOES_ON = "  ┊ ";
/** What is asked has at least so many rows: what it is, its text, and why it is asked. */
const LEAST_BODY = 3;
const SHORT: Record<ApprovalScope, string> = { once: "once", exactly: "again", rule: "rule", no: "no" };
const WHY_KEY = "w";

/** Who typed so shortly before it appeared may be in the middle of a sentence, and its Enter is not a yes. */
const TYPING_MS = 2_000;
/** Keys that come closer together were not pressed one by one: they are pasted, or rolled over. */
const BURST_MS = 80;
const MOVES = new Set(["up", "down", "pageUp", "pageDown", "home", "end"]);

type Hint = "keys" | "early" | "unread";
const HINTS: Record<Exclude<Hint, "keys">, string> = {
  early: "you were typing, so nothing was answered: wait a moment, then press a key",
  unread: "read it to its end first: PgDn",
};

/**
 * Contract: Escape and Ctrl-C are never taken, nor what is typed for something else; nothing pasted answers.
 * A letter, or Enter, answers once the card stood for READ_MS and nothing was typed for PAUSE_MS. Enter after Up or Down need not wait for
 * the pause: nobody types those into a sentence. Any of them answers only when no other key follows within BURST_MS.
 */
export function createApprovalCard(opts: ApprovalCardOptions): Panel {
  const { request, style, now, changed, after = later } = opts;
  const choices = choicesFor(request);
  const no = choices.find(({ scope }) => scope === "no")!;
  const described = describeRequest({ request, ...(opts.change && { change: opts.change }), style });
  const rows = [
    ...choices.map((choice) => ({ key: choice.key, says: escapedName(choice.says), choice })),
    { key: WHY_KEY, says: "no, and say why", choice: undefined },
  ];
  /** In a low window the answers stand below what is asked, and are scrolled with it. */
  const answers = rows.map(({ key, says }) => `  ${style.bold(`[${key}]`)} ${says}`);
  const wide = createScroll(listOf(described), GOES_ON);
  const low = createScroll(listOf([...described, ...answers]), GOES_ON);
  let scroll: Scroll = wide;
  let isEnd = false;
  let wasRead = false;
  let isAnswered = false;
  let typedAt = opts.typedAt ?? Number.NEGATIVE_INFINITY;
  let pastedAt = Number.NEGATIVE_INFINITY;
  /** The answer that waits for whether another key follows, and the letter that asked for it. */
  let soon: { cancel: () => void; letter?: TypedKey } | undefined;
  let hint: Hint = "keys";
  let reason: LineInput | undefined;
  /** Undefined: who was typing when it appeared has to choose first. */
  let selected: number | undefined = opts.shownAt - typedAt < TYPING_MS ? undefined : 0;
  /** It was chosen by Up or Down, and nothing was typed since. */
  let isChosen = false;

  function isTooEarly(name: string): boolean {
    const at = now();
    if (at - opts.shownAt < READ_MS || at - pastedAt < PAUSE_MS) return true;
    if (MOVES.has(name) || (isChosen && (name === "enter" || selected === rows.length - 1)))
      return at - typedAt < BURST_MS;
    return at - typedAt < PAUSE_MS;
  }

  /** Somebody types for something else: what they have not chosen again is not chosen. */
  function typing(name: string): void {
    if (!MOVES.has(name)) typedAt = now(); // one that is held down must not put itself off for ever
    [hint, selected, isChosen] = ["early", undefined, false];
    changed();
  }

  /** Contract: the key that asks for it counts as typed, so that one that follows at once is too early. */
  function answerSoon(at: number | undefined, letter?: TypedKey): void {
    typedAt = now();
    const cancel = after(BURST_MS, () => {
      soon = undefined;
      answer(at);
      changed();
    });
    soon = { cancel, ...(letter && { letter }) };
  }

  /** Another key follows: nothing was answered. */
  function takeBack(): void {
    soon?.cancel();
    if (soon?.letter) opts.givesBack(soon.letter);
    soon = undefined;
  }

  function answer(at: number | undefined, why?: string): void {
    const row = at === undefined ? undefined : rows[at];
    if (!row) return;
    if (!row.choice && why === undefined) reason = createLineInput();
    else if (row.choice && row.choice.scope !== "no" && !wasRead) hint = "unread";
    else {
      isAnswered = true;
      opts.answered(answerBy(row.choice ?? no, { from: ASKED_HERE, ...(why && { reason: why }) }));
    }
  }

  function move(by: 1 | -1): void {
    isChosen = true;
    if (by === 1 && !isEnd) scroll.by(1);
    else if (selected === undefined) selected = 0;
    else if (by === -1 && selected === 0) scroll.by(-1);
    else selected = Math.min(rows.length - 1, selected + by);
  }

  function reasonKey(input: LineInput, data: string): boolean {
    const { name } = pressed(data);
    typedAt = now();
    if (name === "enter") answer(rows.length - 1, input.value.trim());
    else if (name === "up" || (name === "backspace" && input.value === "")) reason = undefined;
    else return input.key({ kind: "key", data }) || name === "down";
    return true;
  }

  function answerKey(data: string): boolean {
    const { name = "", text } = pressed(data);
    if (isTooEarly(name) || (name === "enter" && selected === undefined)) {
      typing(name);
      return false;
    }
    const at = rows.findIndex(({ key }) => key === name.toLowerCase());
    hint = "keys";
    if (name === "up" || name === "down") move(name === "up" ? -1 : 1);
    else if (name === "enter") answerSoon(selected);
    else if (selected === rows.length - 1 && text !== undefined) {
      reason = createLineInput();
      reason.key({ kind: "key", data });
    } else if (at >= 0) answerSoon(at, { kind: "key", data });
    else if (!scrollBy(scroll, name)) {
      typing(name); // a letter that answers nothing begins a word
      return false;
    }
    return true;
  }

  function choiceRows(columns: number): string[][] {
    return rows.map(({ key, says }, i) => {
      const [first = "", ...more] = wordRows(`${i === selected ? "▸" : " "} [${key}] ${says}`, columns, "      ");
      const all = [first.replace(`[${key}]`, style.bold(`[${key}]`)), ...more];
      return i === selected ? all.map(style.cyan) : all;
    });
  }

  function foot(columns: number, position: string | undefined): string {
    const says =
      hint === "keys" ? `${rows.map(({ key }) => key).join(" ")}, or ↑↓ Enter · Esc interrupts` : HINTS[hint];
    const all = [...(position === undefined ? [] : [position]), says].join(" · ");
    return hint === "keys" ? style.dim(cutRow(all, columns)) : style.yellow(cutRow(all, columns));
  }

  const shortKeys = (): string =>
    rows
      .map(({ key, choice }, i) => `${i === selected ? "▸" : ""}${key} ${choice ? SHORT[choice.scope] : "say why"}`)
      .join("  ");

  function render({ columns, rows: height }: Size): View {
    const behind = opts.waiting > 0 ? ` · ${opts.waiting} more wait behind it` : "";
    const title = `${style.yellow(style.bold(`${escapedName(request.agent)} asks: may I?`))}${behind}`;
    const titles = rowsOf(title, columns, "  ");
    const chosen = choiceRows(columns);
    const room = height - titles.length - chosen.flat().length - 1;
    const isLow = room < LEAST_BODY;
    const head = isLow ? [cutRow(title, columns)] : titles;
    scroll = isLow ? low : wide;
    const total = described.length + (isLow ? answers.length : 0);
    const shown = scroll.view({ columns, rows: Math.max(1, isLow ? height - head.length - 2 : room) });
    ({ isEnd } = shown);
    wasRead ||= isEnd;
    const isWhole = isEnd && shown.first === 1 && !shown.rows[0]?.startsWith(GOES_ON);
    const position = isWhole ? undefined : shownLines(shown, total);
    const body = [...head, ...shown.rows, ...(isLow ? [cutRow(shortKeys(), columns)] : chosen.flat())];
    if (reason) {
      const { row, column } = reason.render("  why not? ", columns);
      return { lines: [...body, row], caret: { row: body.length, column } };
    }
    const above = head.length + shown.rows.length;
    const caretRow = isLow ? above : above + chosen.slice(0, selected ?? 0).flat().length;
    return { lines: [...body, foot(columns, position)], caret: { row: caretRow, column: 0 } };
  }

  return {
    render,
    key(key) {
      if (isAnswered) return true; // pressed twice: not meant for whatever comes next
      const isPaste = key.kind === "paste";
      const { name } = isPaste ? {} : pressed(key.data);
      if (!isPaste && name === undefined) return false;
      takeBack();
      if (isPaste) {
        pastedAt = now();
        isChosen = false;
        return (reason?.key(key) ?? false) && taken();
      }
      if (name === "escape" || name === "ctrl+c") return false;
      return (reason ? reasonKey(reason, key.data) : answerKey(key.data)) && taken();
    },
  };

  function taken(): boolean {
    changed();
    return true;
  }
}

function later(ms: number, then: () => void): () => void {
  const timer = setTimeout(then, ms);
  return () => clearTimeout(timer);
}

const listOf = (lines: readonly string[]) => ({ length: lines.length, line: (i: number) => lines[i]! });
