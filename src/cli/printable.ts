// Owns what may reach a terminal: no control characters, no escape sequences, no text that turns itself around.

const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-_])/g;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export const printable = (text: string): string =>
  text.replace(/\r\n?/g, "\n").replace(ESCAPES, "").replace(CONTROLS, "");

/** One line of at most `width` characters. */
export function oneLine(text: string, width = 120): string {
  const flat = printable(text).replace(/\s+/g, " ").trim();
  return flat.length <= width ? flat : `${flat.slice(0, width - 1)}…`;
}
