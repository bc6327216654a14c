// Owns what is said about notes: finished background jobs with their true status, and anything else by its origin.
import type { Note } from "./situation.ts";
import { fenced, linesOf } from "./steps/output.ts";
import type { Words } from "./words.ts";

const NOTIFICATION = /<task_notification\b([^<>]*)>([\s\S]*?)<\/task_notification>/g;
const TAIL_LINES = 5;

export function notesText(words: Words, notes: readonly Note[], opts: { jobsOnly: boolean }): string {
  const parts = notes.flatMap((note) => {
    const jobs = [...note.text.matchAll(NOTIFICATION)].map((m) => jobText(words, `${m[1]}\n${m[2]}`));
    if (jobs.length > 0) return jobs;
    return opts.jobsOnly ? [] : [words.note(note.from, note.text)];
  });
  return parts.join("\n\n");
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
