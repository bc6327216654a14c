// What is said about notes: finished background jobs with their true status, reminders, the team, anything else by its origin.
import { linesIn, type Say } from "./phrases.ts";
import { fenced, linesOf } from "./steps/results.ts";
import { readTeamNote, type TranscriptNote } from "./transcript.ts";

const NOTIFICATION = /<task_notification>([\s\S]*?)<\/task_notification>/g;
const TAIL_LINES = 5;
/** They advise or remind the agent itself; nobody waits to hear of them. */
const ADVICE = new Set(["memory", "hook", "holdfast", "todo", "recovery", "hub", "skills"]);
/** What the user gave with the words: piped in, or a file that they name. */
const BROUGHT = /^(?:standard input|file .+)$/;

interface NoteOptions {
  /** With the answer to something else, only what would be lost otherwise. */
  meanwhile: boolean;
  /** Whose notes are messages. */
  mates: readonly string[];
}

export function notesText(say: Say, notes: readonly TranscriptNote[], { meanwhile, mates }: NoteOptions): string {
  const parts = notes.flatMap((note) => {
    const jobs = [...note.text.matchAll(NOTIFICATION)].map(([, body = ""]) => jobText(say, body));
    if (jobs.length > 0) return jobs;
    return meanwhile && ADVICE.has(note.from) ? [] : noteText(say, note, mates);
  });
  return parts.join("\n\n");
}

function noteText(say: Say, note: TranscriptNote, mates: readonly string[]): string[] {
  const { from, kind, text } = note;
  if (from === "goal") return []; // how it stands is said by the runtime
  if (BROUGHT.test(from)) return [say("brought", { from, n: linesOf(text).length })];
  // What is scheduled and what an idle teammate says begin with a word in brackets.
  const untagged = text.replace(/^\[\w+\]\s*/, "");
  if (from === "cron") return [untagged];
  const read = readTeamNote(note);
  if (read?.kind === "status") return [];
  if (read?.kind === "plan")
    return [[say("planArrived", read), fenced(linesOf(read.plan)), say("yourDecision", read)].join("\n")];
  if (kind === "idle") return [say("idle", { name: from, text: untagged.trim() })];
  return [mates.includes(from) ? say("message", { name: from, text }) : say("note", { from, text })];
}

/** In the order of the phrases for them. */
const STATUSES = ["completed", "failed", "killed", "timeout", "unknown"];

function jobText(say: Say, body: string): string {
  // The command and its output are not the harness speaking: no fact is read from them.
  const [facts = ""] = body.split(/<(?:command|output)\b/);
  const field = (name: string) => new RegExp(`<${name}>([\\w-]+)`).exec(facts)?.[1];
  const status = field("status") ?? "unknown";
  const ended = linesIn(say, "statuses")[STATUSES.indexOf(status)] ?? status;
  const heading = say("job", { id: field("id") ?? "?", status: ended, code: field("exit_code") });
  const output = /<output\b[^<>]*>([\s\S]*)<\/output>/.exec(body)?.[1] ?? "";
  const lines = linesOf(output).slice(-TAIL_LINES);
  return [heading, ...(lines.length > 0 ? [fenced(lines)] : [])].join("\n");
}
