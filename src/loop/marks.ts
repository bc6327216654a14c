// The marks by which a model tells what the runtime says from what tools, peers and files say; nothing else may carry them.

/** However it is spaced, and whether it begins or ends one. */
const NOTIFICATION = /<(?=\s*\/?\s*task_notification\b)/gi;
const NOTE = /<(?=\s*\/?\s*note\b)/gi;
/** An element of that name in some XML is none: a note says where it comes from. */
const NOTE_FROM = /<\s{0,20}note\s[^>]{0,200}?\bfrom\s{0,20}=/i;

/** Of text that stands inside a note: it cannot end the note, nor begin another. */
export const harmless = (text: string): string => text.replace(NOTE, "<\\");

/** How a note reads to the model: marked with where it comes from, so that it has no more authority than that. */
export const noteText = (origin: string, text: string): string => `<note from="${origin}">\n${harmless(text)}\n</note>`;

/** Text of a tool, a command or a peer: where it imitates a note or a notification, its marks are broken. Anything else stays as it is. */
export function withoutMarks(text: string): string {
  if (!text.includes("<")) return text;
  const unnoted = NOTE_FROM.test(text) ? harmless(text) : text;
  return unnoted.replace(NOTIFICATION, "<\\");
}
