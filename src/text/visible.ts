// Text on one line in which nothing is hidden: what acts on a terminal, or turns text around, is shown by its code.

const HIDDEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff]|\udb40[\udc00-\udfff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** On one line: control characters, and those that hide or turn text around, are shown by their code. */
export const visible = (text: string): string => text.replace(HIDDEN, codeOf);

function codeOf(char: string): string {
  if (char === "\n") return "\\n";
  if (char === "\t") return "\\t";
  const code = hexOf(char);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code}`;
}

/** The code of a character, in four digits or more. */
export const hexOf = (char: string): string => char.codePointAt(0)!.toString(16).padStart(4, "0");
