// One line to type: for a reason, a message, what to search for.
import { own } from "../../ledger/own.ts";
import { printable } from "../presentation/printable.ts";
import { lineWidth } from "./cells.ts";
import { pressed } from "./key-name.ts";
import { cutRow, graphemes } from "./rows.ts";
import type { TypedKey } from "./view.ts";

export interface LineInput {
  readonly value: string;
  /** Contract: true when it was taken. Enter, Escape and what moves up and down are not. */
  key(key: TypedKey): boolean;
  /** Contract: one row that fits; `column` is where the caret is. */
  render(label: string, columns: number): { row: string; column: number };
}

const characters = (text: string): string[] => [...graphemes(text)].map(({ segment }) => segment);

type Halves = [before: string[], after: string[]];

const toStart = (before: string[], after: string[]): Halves => [[], [...before, ...after]];
const toEnd = (before: string[], after: string[]): Halves => [[...before, ...after], []];

/** What a key makes of what stands before and after the caret. */
const MOVES: Record<string, (before: string[], after: string[]) => Halves> = {
  backspace: (before, after) => [before.slice(0, -1), after],
  delete: (before, after) => [before, after.slice(1)],
  left: (before, after) => [before.slice(0, -1), [...before.slice(-1), ...after]],
  right: (before, after) => [[...before, ...after.slice(0, 1)], after.slice(1)],
  home: toStart,
  end: toEnd,
  "ctrl+a": toStart,
  "ctrl+e": toEnd,
  "ctrl+u": (_, after) => [[], after],
  "ctrl+k": (before) => [before, []],
  "ctrl+w": (before, after) => [characters(before.join("").replace(/\S*\s*$/, "")), after],
};

/** The least room for what is typed: the label gives way. */
const LEAST_COLUMNS = 10;

export function createLineInput(): LineInput {
  let before: string[] = [];
  let after: string[] = [];

  const insert = (text: string): void => {
    before = characters(before.join("") + printable(text).replace(/\s+/g, " "));
  };

  return {
    get value() {
      return [...before, ...after].join("");
    },
    key(key) {
      if (key.kind === "paste") {
        insert(key.text);
        return true;
      }
      const { name = "", text } = pressed(key.data);
      if (text !== undefined) insert(text);
      const move = text === undefined ? own(MOVES, name) : undefined;
      if (move) [before, after] = move(before, after);
      return text !== undefined || move !== undefined;
    },
    render(label, columns) {
      const head = cutRow(label, Math.max(1, columns - LEAST_COLUMNS));
      const room = Math.max(1, columns - lineWidth(head) - 1); // one for the caret behind the last character
      const shown: string[] = [];
      let width = 0;
      for (const one of before.toReversed()) {
        width += lineWidth(one);
        if (width > room) break;
        shown.unshift(one);
      }
      const column = lineWidth(head + shown.join(""));
      let left = columns - column;
      for (const one of after) {
        left -= lineWidth(one);
        if (left < 0) break;
        shown.push(one);
      }
      return { row: head + shown.join(""), column: Math.min(column, columns - 1) };
    },
  };
}
