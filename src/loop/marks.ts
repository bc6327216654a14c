// The marks by which a model tells what the runtime says from what tools, peers and files say; nothing else may carry them.
import type { ToolOutput } from "./seams.ts";

/** Where an element of that name begins or ends, however it is spaced. No blank is looked at twice: a tool may print any number of them. */
const edgesOf = (name: string): RegExp => new RegExp(`<(?=\\s*(?:/\\s*)?${name}\\b)`, "gi");
const NOTIFICATION = edgesOf("task_notification");
const NOTE = edgesOf("note");
/** An element of that name in some XML is none: a note says where it comes from. */
const NOTE_FROM = /<\s*note[\s/](?:[^>]{0,200}?|[^<>]*?)\bfrom\s*=/i;

/** Of text that stands inside a note: it cannot end the note, nor begin another. */
export const harmless = (text: string): string => text.replace(NOTE, "<\\");

/** Whom notes of the runtime are from: no agent is called so, for what it says to others would be read as theirs (`instructions` is followed like the user). */
export const RUNTIME_ORIGINS: readonly string[] =
  "answer-schema compaction cron goal holdfast hook hub instructions jobs memory recovery skills subtask tasks team todo user workflow".split(
    " ",
  );

/** How a note reads to the model: marked with where it comes from, so that it has no more authority than that. */
export const noteText = (origin: string, text: string, kind?: string): string =>
  `<note from="${origin}"${kind === undefined ? "" : ` kind="${kind}"`}>\n${harmless(text)}\n</note>`;

const NOTE_BEGINS = '<note from="';
const NOTE_ENDS = "\n</note>";

/** What a person said: the text without the notes that stand beside it (files, standard input, shared data). Contract: linear in the text; a note that does not end stays. */
export const withoutNotes = (text: string): string => withoutElements(text, NOTE_BEGINS, NOTE_ENDS);

/** The same of skills, whose text stands beside what a person typed. */
export const withoutSkills = (text: string): string => withoutElements(text, '<skill name="', "\n</skill>");

function withoutElements(text: string, begins: string, ends: string): string {
  const kept: string[] = [];
  let at = 0;
  for (let begin = text.indexOf(begins); begin >= 0; begin = text.indexOf(begins, at)) {
    const end = text.indexOf(ends, begin);
    if (end < 0) break;
    kept.push(text.slice(at, begin).replace(/(?<!\n)\n+$/, ""));
    at = end + ends.length;
    while (text[at] === "\n") at++;
  }
  return [...kept, text.slice(at)].join("");
}

/** What a note says, without its marks. Contract: of a text that `noteText` made. */
export const noteInside = (text: string): string => text.slice(text.indexOf("\n") + 1, text.length - NOTE_ENDS.length);

/** Text of a tool, a command or a peer: where it imitates a note or a notification, its marks are broken. Anything else stays as it is. */
export function withoutMarks(text: string): string {
  if (!text.includes("<")) return text;
  const unnoted = NOTE_FROM.test(text) ? harmless(text) : text;
  return unnoted.replace(NOTIFICATION, "<\\");
}

/** Of text that stands inside an element of that name: it cannot end it, nor begin another. */
export const inside = (name: string, text: string): string => text.replace(edgesOf(name), "<\\");

/** What a tool says cannot pass for what the runtime says; the layers around it may add notes of theirs. */
export function unmarked(output: ToolOutput): ToolOutput {
  const { content } = output;
  if (typeof content === "string") return { ...output, content: withoutMarks(content) };
  // No mark is put together from two parts either.
  const parts = content.map((part) =>
    part.type === "text" ? { ...part, text: withoutMarks(part.text).replace(/<(?=\s*\/?\s*$)/, "<\\") } : part,
  );
  return { ...output, content: parts };
}
