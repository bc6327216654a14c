// Owns fields: the words a command receives, as far as they are known before it runs.

/** Anything at all. The marks cannot be written in a command: control characters are refused before. */
export const UNKNOWN = "\0";
/** Names of files of the project, as `git ls-files` prints them. */
export const NAMES = "\x01";
/** The same, but hidden files may be among them: what prints their content asks. */
export const ALL_NAMES = "\x03";
/** A number or another text without a slash and without meaning as a flag. */
export const PLAIN = "\x02";

export interface Field {
  text: string;
  /** An unquoted `*`, `?` or `[` is left in it. */
  glob: boolean;
  /** One possibility among others: the real value is only known at run time. */
  guessed: boolean;
  /** It may become several words, or none. */
  splits: boolean;
}

export const field = (text: string): Field => ({ text, glob: false, guessed: false, splits: false });

export const isKnown = (f: Field): boolean => !f.guessed && !/[\0-\x03]/.test(f.text);
export const isUnknown = (f: Field): boolean => f.guessed || f.text.includes(UNKNOWN);

/** For people, and for matching rules. */
export function show(f: Field): string {
  const text = f.text.replace(/[\0-\x03]/g, () => "$?");
  return /[\s'"\\]/.test(text) || text === "" ? `'${text.replaceAll("'", "'\\''")}'` : text;
}

export const showAll = (fields: readonly Field[]): string => fields.map(show).join(" ");
