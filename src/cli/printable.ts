// Owns what may reach a terminal: no control characters, no escape sequences, no text that turns itself around or hides.

const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-_])/g;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f\ufff9-\ufffb]/g;
/** Tags and the variation selectors of plane 14, and all but the first of several selectors: they show nothing and can carry any text. */
const SMUGGLED = /[\u{e0000}-\u{e0fff}]|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]+/gu;

export const printable = (text: string): string =>
  text.replace(/\r\n?/g, "\n").replace(ESCAPES, "").replace(CONTROLS, "").replace(SMUGGLED, "");

/** One line of at most `width` characters. */
export function oneLine(text: string, width = 120): string {
  const flat = printable(text).replace(/\s+/g, " ").trim();
  return flat.length <= width ? flat : `${flat.slice(0, width - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** What a reader cannot see, or sees as a blank, but for the blank itself and the end of a line. */
const UNSEEN = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800](?<![ \n])/gu;
const LONG_RUN = 16;

/** Shows what `printable` hides: a person who approves must see everything. Long runs of it are counted. */
export const escaped = (text: string): string =>
  text.replace(new RegExp(`(?:${UNSEEN.source})+`, "gu"), (run) => {
    const points = [...run];
    if (points.length > LONG_RUN && points.some((c) => c !== "\t")) return `⟨${points.length} invisible characters⟩`;
    return points.map(spelt).join("");
  });

function spelt(char: string): string {
  if (char === "\t") return "\\t";
  const code = char.codePointAt(0)!;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`;
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
