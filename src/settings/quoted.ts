// Quoting a piece of a file in a message: short, on one line, without control characters.

/** Contract: one line of at most 60 characters between backticks, whatever the text holds. */
export function quoted(text: string): string {
  const flat = JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text)
    .slice(1, -1)
    .replace(/[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, "�");
  return `\`${flat}\``;
}
