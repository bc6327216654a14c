// What may reach a terminal: no control characters, no escape sequences, no text that turns itself around or hides.

import { columnsOf, fitted, JOINS_THE_NEXT, padded } from "../../text/columns.ts";
import { hexOf } from "../../text/visible.ts";
import { ago } from "./format.ts";

const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-_])/g;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f\ufff9-\ufffb]/g;
/** Tags and the variation selectors of plane 14, and all but the first of several selectors: they show nothing and can carry any text. */
const SMUGGLED = /[\u{e0000}-\u{e0fff}]|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]+/gu;
/** No script puts more marks on one letter: more of them only cost time, and blacken the lines around. */
const TOO_MANY_MARKS = /([\p{M}\u200c\u200d]{8})[\p{M}\u200c\u200d]+/gu;

export const printable = (text: string): string =>
  text
    .replace(/\r\n?/g, "\n")
    .replace(ESCAPES, "")
    .replace(CONTROLS, "")
    .replace(SMUGGLED, "")
    .replace(TOO_MANY_MARKS, "$1");

/** One line that takes at most `width` columns: wide characters, as of Japanese, take two. */
export const oneLine = (text: string, width = 120): string =>
  fitted(printable(text).replace(/\s+/g, " ").trim(), width);

/** How long ago that was. */
export const age = (at: number): string => ago(Date.now() - at);

/** How wide its output may be: set by the terminal for the commands that it runs. */
export const COLUMNS_VARIABLE = "HOLDFAST_COLUMNS";

/** Undefined: nobody shows it in columns; it goes into a pipe or a file. */
export function outputColumns(): number | undefined {
  const given = Number(process.env[COLUMNS_VARIABLE]);
  return process.stdout.columns ?? (Number.isInteger(given) && given > 0 ? given : undefined);
}

/** A heading and a line each, in columns as wide as their widest cell. The last is cut where the terminal ends; in a pipe it has 100 columns. */
export function listing(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, i) => Math.max(columnsOf(name), ...rows.map((row) => columnsOf(row[i] ?? ""))));
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  const left = Math.max(20, (outputColumns() ?? before + 100) - before);
  const line = (row: readonly string[]) =>
    row.map((cell, i) => (i === row.length - 1 ? oneLine(cell, left) : padded(cell, widths[i] ?? 0))).join("  ");
  return `${[head, ...rows].map(line).join("\n")}\n`;
}

/** What a reader cannot see, or sees as a blank, but for the blank itself and the end of a line. */
const UNSEEN = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800](?<![ \n])/gu;
/** What can cover a neighbour: signs that a terminal may draw over what follows, and heaps of marks. */
const COVERING = `(?<joining>${JOINS_THE_NEXT.source})+|(?<marks>\\p{M}{5,})`;
const SPELT = new RegExp(`(?:${UNSEEN.source})+|${COVERING}`, "gu");
const LONG_RUN = 16;

/** Shows what `printable` hides, and what could hide something else: a person who approves must see everything. Long runs of it are counted. */
export const escaped = (text: string): string =>
  text.replace(SPELT, (run: string, joining?: string, marks?: string) => {
    const points = [...run];
    const kind = joining ? "joining signs" : marks ? "combining marks" : "invisible characters";
    if (points.length > LONG_RUN && points.some((c) => c !== "\t")) return `⟨${points.length} ${kind}⟩`;
    return points.map(spelt).join("");
  });

/** The same of a name: on one line, so that none of it can pass for a line of ours. */
export const escapedName = (text: string): string => escaped(text).replaceAll("\n", "\\n");

function spelt(char: string): string {
  if (char === "\t") return "\\t";
  const code = hexOf(char);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code}`;
}

const MANY_BLANKS = 40;
const MANY_LINES = 4;

/** Runs of blanks and of empty lines, which push what follows out of sight, as their count. */
export const collapsed = (text: string): string =>
  text
    .replace(
      new RegExp(`(?:^[ \\t]*\\n){${MANY_LINES},}`, "gm"),
      (run) => `⟨${run.split("\n").length - 1} empty lines⟩\n`,
    )
    .replace(new RegExp(`[ \\t]{${MANY_BLANKS},}`, "g"), (run) => `⟨${run.length} blanks⟩`);

const LETTERS = /\p{Script=Latin}/u;
const ALIKE = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u;

/** Words that mix Latin letters with such as look like them. */
export const lookalikes = (text: string): string[] => [
  ...new Set(text.split(/[\s/"'=:,;|&()]+/).filter((word) => LETTERS.test(word) && ALIKE.test(word))),
];
