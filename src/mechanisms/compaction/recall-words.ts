// Literal words in a text, in whatever case, with some of what stands around them.
import { cutText, cutTextTail } from "../../text/cut.ts";
import { lineAt } from "./recall-lines.ts";

const AROUND = 160;
const MOST_FURTHER = 99;

export const wordsPattern = (words: string): RegExp =>
  new RegExp(words.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "gi");

export interface FoundWords {
  text: string;
  line: number;
  /** Further places; at most 99. */
  further: number;
}

/** The first place. Contract: `pattern` is that of `wordsPattern`. */
export function findWords(text: string, pattern: RegExp): FoundWords | undefined {
  pattern.lastIndex = 0;
  const found = pattern.exec(text);
  if (!found) return undefined;
  let further = 0;
  while (further < MOST_FURTHER && pattern.test(text)) further++;
  const [before, behind] = [text.slice(0, found.index), text.slice(found.index + found[0].length)];
  const [start, end] = [cutTextTail(before, AROUND), cutText(behind, AROUND)];
  const around = `${start}${found[0]}${end}`.replaceAll(/\s+/g, " ").trim();
  const line = lineAt(text, found.index);
  const open = start.length < before.length ? "…" : "";
  return { text: `${open}${around}${end.length < behind.length ? "…" : ""}`, line, further };
}
