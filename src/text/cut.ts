// Cutting text without breaking a character in two.

/** At most `max` UTF-16 units from the start. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  return text.slice(0, isHighSurrogate(text, max - 1) ? max - 1 : max);
}

/** At most `max` UTF-16 units from the end. */
export function cutTextTail(text: string, max: number): string {
  if (text.length <= max) return text;
  const start = text.length - max;
  return text.slice(isHighSurrogate(text, start - 1) ? start + 1 : start);
}

function isHighSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xd800 && unit <= 0xdbff;
}
