// What is said about notes: finished background jobs with their true status, reminders, the team, anything else by its origin.
import type { SituationNote } from "./situation.ts";
import { fenced, linesOf } from "./steps/output.ts";
import { readTeamNote } from "./team-notes.ts";
import type { Words } from "./words.ts";

const NOTIFICATION = /<task_notification\b([^<>]*)>([\s\S]*?)<\/task_notification>/g;
const TAIL_LINES = 5;
/** They advise or remind the agent itself; nobody waits to hear of them. */
const ADVICE = new Set(["memory", "hook", "holdfast", "todo", "recovery", "hub", "skills"]);

/** What the user gave with the words: piped in, or a file that they name. */
const BROUGHT = /^(?:standard input|file .+)$/;

/** `meanwhile`: with the answer to something else, only what would be lost otherwise. `mates`: whose notes are messages. */
export function notesText(
  words: Words,
  notes: readonly SituationNote[],
  opts: { meanwhile: boolean; mates: readonly string[] },
): string {
  const parts = notes.flatMap((note) => {
    const jobs = [...note.text.matchAll(NOTIFICATION)].map((m) => jobText(words, `${m[1]}\n${m[2]}`));
    if (jobs.length > 0) return jobs;
    if (readTeamNote(note)?.kind === "status") return [];
    return opts.meanwhile && ADVICE.has(note.from) ? [] : [noteText(words, note, opts.mates)];
  });
  return parts.join("\n\n");
}

function noteText(words: Words, note: SituationNote, mates: readonly string[]): string {
  const { from, text } = note;
  if (BROUGHT.test(from)) return words.brought(from, linesOf(text).length);
  if (from === "cron") return text.replace(/^\[Scheduled\]\s*/, "");
  const said = readTeamNote(note);
  if (said?.kind === "asks") {
    return [words.planArrived(said), fenced(linesOf(said.plan)), words.yourDecision(said)].join("\n");
  }
  const idle = /^\[idle\]\s*([\s\S]*)$/.exec(text);
  if (idle) return words.idle(from, idle[1]!.trim());
  return mates.includes(from) ? words.message(from, text) : words.note(from, text);
}

function jobText(words: Words, text: string): string {
  // The command and its output are not the harness speaking: no fact is read from them.
  const facts = text.replace(/<command\b[\s\S]*/i, "").replace(/<(?:output|tail)\b[\s\S]*/i, "");
  const field = (name: string) => new RegExp(`${name}["']?\\s*[>:=]\\s*["']?(-?\\w+)`, "i").exec(facts)?.[1];
  const id = /job_\w+/.exec(facts)?.[0] ?? "?";
  const status = field("status")?.toLowerCase() ?? "unknown";
  const tail = /<(tail|output)\b[^<>]*>([\s\S]*?)<\/\1>/i.exec(text.slice(facts.length - 1))?.[2];
  const lines = linesOf(tail ?? "").slice(-TAIL_LINES);
  const said = words.job(id, status, field("exit[ _-]?code"));
  return lines.length > 0 ? `${said}\n${fenced(lines)}` : said;
}
