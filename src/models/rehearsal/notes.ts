// Owns what is said about notes: finished background jobs with their true status, and anything else by its origin.
import type { Note } from "./situation.ts";
import { fenced, linesOf } from "./steps/output.ts";
import type { Words } from "./words.ts";

const NOTIFICATION = /<task_notification\b([^>]*)>([\s\S]*?)<\/task_notification>/g;
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
  const field = (name: string) => new RegExp(`${name}["']?\\s*[>:=]?\\s*["']?(-?\\w+)`, "i").exec(text)?.[1];
  const id = /job_\w+/.exec(text)?.[0] ?? field("id") ?? "?";
  const status = /\b(completed|failed|killed)\b/i.exec(field("status") ?? text)?.[1]?.toLowerCase() ?? "unknown";
  const code = /exit[ _-]?code["']?\s*[>:=]?\s*["']?(-?\d+)/i.exec(text)?.[1];
  const tail = /<(tail|output)\b[^>]*>([\s\S]*?)<\/\1>/i.exec(text)?.[2];
  const lines = linesOf(tail ?? "").slice(-TAIL_LINES);
  const said = words.job(id, status, code);
  return lines.length > 0 ? `${said}\n${fenced(lines)}` : said;
}
