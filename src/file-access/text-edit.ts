// Finding and replacing text in a file: exactly one place unless all are meant, line endings aside.

import { similarity } from "../text/similarity.ts";
import { refused } from "./refused.ts";
import { type TextFile, toLf, withEol } from "./text-file.ts";

export interface Edit {
  old_text: string;
  new_text: string;
  replace_all?: boolean;
}

const SHOWN_LINES = 10;
const CANDIDATES = 3;
const ALIKE = 0.5;
const MAX_SEARCHED_LINES = 20_000;

/** Contract: throws `refused` with what was found instead. */
export function applyEdit(file: TextFile, edit: Edit): { file: TextFile; lines: number[] } {
  const wanted = toLf(edit.old_text);
  if (wanted === "") throw refused("old_text is empty");
  if (wanted === toLf(edit.new_text)) throw refused("old_text and new_text are the same");
  const plain = toLf(file.text);
  const found = placesOf(plain, wanted);
  if (found.length === 0) throw refused(`old_text was not found${nearest(plain, wanted)}`);
  const lines = linesAt(plain, found);
  if (found.length > 1 && !edit.replace_all) {
    throw refused(
      `old_text was found ${found.length} times (lines ${listLines(lines)}); add lines around it, or set replace_all`,
    );
  }
  const original = offsetsInOriginal(file.text);
  const replacement = withEol(toLf(edit.new_text), file.eol);
  let text = "";
  let from = 0;
  for (const at of found) {
    text += file.text.slice(from, original(at)) + replacement;
    from = original(at + wanted.length);
  }
  return { file: { ...file, text: text + file.text.slice(from) }, lines };
}

export const listLines = (lines: number[]): string =>
  lines.slice(0, SHOWN_LINES).join(", ") + (lines.length > SHOWN_LINES ? ", …" : "");

function placesOf(text: string, part: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) places.push(at);
  return places;
}

function linesAt(text: string, places: number[]): number[] {
  let line = 1;
  let at = 0;
  return places.map((place) => {
    for (; at < place; at++) if (text.charCodeAt(at) === 10) line++;
    return line;
  });
}

/** From a place in the text with plain line ends to the same place in the file's own. Contract: asked in rising order. */
function offsetsInOriginal(text: string): (at: number) => number {
  if (!text.includes("\r\n")) return (at) => at;
  let plain = 0;
  let original = 0;
  return (at) => {
    while (plain < at) {
      original += text.charCodeAt(original) === 13 && text.charCodeAt(original + 1) === 10 ? 2 : 1;
      plain++;
    }
    return original;
  };
}

/** `; nearest: …` with the lines most like what was asked for. */
function nearest(text: string, wanted: string): string {
  const lines = text.split("\n");
  const asked = wanted.split("\n");
  if (asked.length > 1 && asked.every((l) => l === "" || /^\d*\|/.test(l))) {
    return ": leave out the `N|` that read_file puts before each line";
  }
  const loose = looseMatch(lines, asked);
  if (loose >= 0) {
    const shown = lines.slice(loose, loose + Math.min(asked.length, SHOWN_LINES)).join("\n");
    return `; lines ${loose + 1}-${loose + asked.length} differ only in white space:\n${shown}`;
  }
  const key = asked.reduce((a, b) => (b.trim().length > a.trim().length ? b : a), "").trim();
  const near = lines
    .slice(0, MAX_SEARCHED_LINES)
    .map((line, i) => ({ line, number: i + 1, score: similarity(line.trim(), key) }))
    .filter((c) => c.score >= ALIKE)
    .sort((a, b) => b.score - a.score || a.number - b.number)
    .slice(0, CANDIDATES);
  return near.length === 0
    ? "; nothing like it is there"
    : `; nearest:\n${near.map((c) => `line ${c.number}: ${c.line.slice(0, 200)}`).join("\n")}`;
}

const squeeze = (line: string): string => line.trim().replace(/\s+/g, " ");

function looseMatch(lines: string[], asked: string[]): number {
  const wanted = asked.map(squeeze);
  if (wanted.every((l) => l === "")) return -1;
  const have = lines.slice(0, MAX_SEARCHED_LINES).map(squeeze);
  return have.findIndex((_, i) => wanted.every((line, k) => have[i + k] === line));
}
