// Text of a file inside a message.

/** One short line, whatever it holds. */
export function quoted(text: string): string {
  const flat = JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text)
    .slice(1, -1)
    .replace(/[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, "�");
  return `\`${flat}\``;
}
