// Words as far as they are known before a command runs: text with holes in it, and the fields a command receives.

/** What is known of a piece that is not known. */
type HoleKind =
  | "unknown" // anything at all
  | "names" // names of files of the project, as `git ls-files` prints them
  | "allNames" // the same, but hidden files may be among them: what prints their content asks
  | "plain"; // a number or another text without a slash and without meaning as a flag

interface Hole {
  /** Where in the reading it stands: it takes one character there. */
  at: number;
  kind: HoleKind;
}

declare const reading: unique symbol;
/** How a word reads. Contract: for patterns and comparisons only; a new word is cut from a word, never made from its reading. */
type Reading = string & { readonly [reading]: true };

/**
 * Text with holes. In the reading a hole is U+FFFC, as an attachment is in attributed text: no flag, name or path of ours has it.
 * The character itself means nothing: what is not known is said by `holes` alone.
 */
export interface Word {
  readonly text: Reading;
  readonly holes: readonly Hole[];
}

/** A word as a command receives it. */
export interface Field extends Word {
  /** An unquoted `*`, `?` or `[` is left in it. */
  glob: boolean;
  /** One possibility among others: the real value is only known at run time. */
  guessed: boolean;
  /** It may become several words, or none. */
  splits: boolean;
}

/** The words of a command: what it is called, and what it is given. */
export type CommandLine = [Field, ...Field[]];
export const isCommandLine = (fields: Field[]): fields is CommandLine => fields.length > 0;

const HOLE = "\ufffc";
const NO_HOLES: readonly Hole[] = [];
const make = (text: string, holes: readonly Hole[]): Word => ({ text: text as Reading, holes });

/** Known text. Text that has U+FFFC in it, as no command may, counts as not known there: a reading is never taken for knowledge. */
export function word<T extends string>(text: T extends Reading ? never : T): Word {
  if (!text.includes(HOLE)) return make(text, NO_HOLES);
  return make(
    text,
    [...text.matchAll(/\ufffc/g)].map((m) => ({ at: m.index, kind: "unknown" })),
  );
}

const HOLES: Record<HoleKind, Word> = {
  unknown: make(HOLE, [{ at: 0, kind: "unknown" }]),
  names: make(HOLE, [{ at: 0, kind: "names" }]),
  allNames: make(HOLE, [{ at: 0, kind: "allNames" }]),
  plain: make(HOLE, [{ at: 0, kind: "plain" }]),
};
/** A word that is one hole. */
export const hole = (kind: HoleKind = "unknown"): Word => HOLES[kind];

const asField = ({ text, holes }: Word): Field => ({ text, holes, glob: false, guessed: false, splits: false });
export const field = <T extends string>(text: T extends Reading ? never : T): Field => asField(word(text));
export const holeField = (kind: HoleKind = "unknown"): Field => asField(hole(kind));
export const fieldOf = asField;
/** It may be anything, and any number of words. */
export const anything = (): Field => ({ ...holeField(), splits: true });

export const has = ({ holes }: Word, ...kinds: HoleKind[]): boolean =>
  holes.length > 0 && holes.some((one) => kinds.includes(one.kind));
export const isHole = ({ text, holes }: Word, kind: HoleKind): boolean => text.length === 1 && holes[0]?.kind === kind;
export const beginsWithHole = ({ holes }: Word, kind: HoleKind): boolean =>
  holes[0]?.at === 0 && holes[0].kind === kind;
/** How the word reads before and after each hole of that kind. */
export const aroundHoles = ({ text, holes }: Word, kind: HoleKind): [before: string, after: string][] =>
  holes.filter((one) => one.kind === kind).map(({ at }) => [text.slice(0, at), text.slice(at + 1)]);
export const isSameWord = (a: Word, b: Word): boolean =>
  a.text === b.text &&
  a.holes.length === b.holes.length &&
  a.holes.every(({ at, kind }, i) => at === b.holes[i]?.at && kind === b.holes[i]?.kind);

export const isKnown = (f: Field): boolean => !f.guessed && f.holes.length === 0;

/** The piece between two places of the reading. */
export function cut({ text, holes }: Word, from: number, to = text.length): Word {
  const piece = text.slice(from, to);
  if (holes.length === 0) return make(piece, NO_HOLES);
  const inside = holes.filter(({ at }) => at >= from && at < to);
  return make(
    piece,
    inside.map(({ at, kind }) => ({ at: at - from, kind })),
  );
}

/** Without what the pattern finds at the beginning. */
export const cutOff = (f: Word, pattern: RegExp): Word => cut(f, pattern.exec(f.text)?.[0].length ?? 0);

export function join(words: readonly Word[], between = ""): Word {
  let text = "";
  const holes: Hole[] = [];
  for (const [i, one] of words.entries()) {
    if (i > 0) text += between;
    for (const { at, kind } of one.holes) holes.push({ at: at + text.length, kind });
    text += one.text;
  }
  return make(text, holes.length === 0 ? NO_HOLES : holes);
}

export function split(f: Word, separator: RegExp): Word[] {
  if (f.holes.length === 0) return f.text.split(separator).map((piece) => make(piece, NO_HOLES));
  const out: Word[] = [];
  let from = 0;
  for (const m of f.text.matchAll(new RegExp(separator, "g"))) {
    out.push(cut(f, from, m.index));
    from = m.index + m[0].length;
  }
  return [...out, cut(f, from)];
}

export const replaceAll = (f: Word, text: string, by: Word): Word => {
  const pieces: Word[] = [];
  let from = 0;
  for (let at = f.text.indexOf(text); at >= 0; at = f.text.indexOf(text, from)) {
    pieces.push(cut(f, from, at), by);
    from = at + text.length;
  }
  return pieces.length === 0 ? f : join([...pieces, cut(f, from)]);
};

/** What the pattern finds, and its groups, as words. Contract: the pattern has the flag `d`. */
export function match(f: Word, pattern: RegExp): (Word | undefined)[] | undefined {
  return pattern.exec(f.text)?.indices?.map((place) => place && cut(f, place[0], place[1]));
}

/** As text, with something in place of each hole: one text for all kinds, or one for each. */
export function fill({ text, holes }: Word, by: string | Record<HoleKind, string>): string {
  if (holes.length === 0) return text;
  let out = "";
  let from = 0;
  for (const { at, kind } of holes) {
    out += text.slice(from, at) + (typeof by === "string" ? by : by[kind]);
    from = at + 1;
  }
  return out + text.slice(from);
}

/** A sentence in which readings stand, for people. */
export const readable = (sentence: string): string =>
  sentence.includes(HOLE) ? sentence.replaceAll(HOLE, "$?") : sentence;

/** For people, as it is written. */
export const plainly = (f: Word): string => fill(f, "$?");

/** For people, and for matching rules: quoted where a shell would want it. */
export function showField(f: Word): string {
  const text = plainly(f);
  return /[\s'"\\]/.test(text) || text === "" ? `'${text.replaceAll("'", "'\\''")}'` : text;
}

export const showAll = (fields: readonly Word[]): string => fields.map(showField).join(" ");
