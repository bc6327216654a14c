// The marks by which a model tells what the runtime says from what tools, peers and files say; nothing else may carry them.

const MARK = /<(?=note from=|task_notification\b)/i;
const MARKS = /<(?=\/?note\b|\/?task_notification\b)/gi;

/** Of text that stands inside a note: it cannot end the note, nor begin another. */
export const harmless = (text: string): string => text.replace(/<(?=\/?note\b)/gi, "<\\");

/** How a note reads to the model: marked with where it comes from, so that it has no more authority than that. */
export const noteText = (origin: string, text: string): string => `<note from="${origin}">\n${harmless(text)}\n</note>`;

/** Text of a tool, a command or a peer: where it imitates a note or a notification, its marks are broken. Anything else stays as it is. */
export const withoutMarks = (text: string): string => (MARK.test(text) ? text.replace(MARKS, "<\\") : text);
