// Steps on files: list, read, search, write, replace a text.
import { call, type Stage, type Step } from "../plan.ts";
import type { Files, IntentOf } from "../request.ts";
import { byFolder, fenced, fileLines, firstLine, foundIn } from "./results.ts";

const FILES_SHOWN = 50;
const MATCHES_SHOWN = 20;

export function* listFiles(stage: Stage, { label, pattern, path }: Files): Step {
  const { say } = stage;
  const { text, isError } = yield* call(stage, "glob", path === undefined ? { pattern } : { pattern, path });
  if (isError) return { text: say("listFailed", { label, path, why: firstLine(text) }), ok: false };
  const { found, rest } = foundIn(text);
  if (found.length === 0) return { text: say("noFiles", { label, pattern, path }), ok: true };
  const n = found.length + rest;
  const shown = found.slice(0, FILES_SHOWN).map((one) => `- ${one}`);
  if (n > shown.length) shown.push(say("more", { n: n - shown.length }));
  const folders = byFolder(found);
  const counts = rest === 0 && folders.length > 1 ? [say("byFolder", { counts: folders.join(", ") })] : [];
  return { text: [say("files", { n, label, path }), ...shown, ...counts].join("\n"), ok: true };
}

export function* readFile(stage: Stage, path: string): Step {
  const { say } = stage;
  const { text, isError } = yield* call(stage, "read_file", { path });
  if (isError) return { text: say("readFailed", { path, why: firstLine(text) }), ok: false };
  const { lines, remarks } = fileLines(text);
  // Nothing but a remark of the tool: it knows better than a guess.
  if (lines.length === 0 && remarks.length > 0) return { text: `${path}: ${remarks.join(" ")}`, ok: true };
  const filled = lines.filter((line) => line.trim() !== "");
  if (filled.length === 0) return { text: say("emptyFile", { path }), ok: true };
  const [title, ...more] = /\.(?:md|markdown|mdx|rst)$/i.test(path) ? headings(lines) : [];
  const about =
    title === undefined
      ? [say("begins"), fenced(filled.slice(0, 5))]
      : [
          say("title", { text: title }),
          ...(more.length > 0 ? [say("headings", { list: more.slice(0, 5).join(" · ") })] : []),
        ];
  return { text: [say("readSummary", { path, n: lines.length }), ...about, ...remarks].join("\n"), ok: true };
}

function headings(lines: string[]): string[] {
  let code = false;
  return lines.flatMap((line) => {
    if (/^\s*(?:```|~~~)/.test(line)) code = !code;
    const heading = code ? null : /^#{1,6}\s+(.+?)\s*#*$/.exec(line);
    return heading ? [heading[1]!] : [];
  });
}

export function* searchFor(stage: Stage, { text: wanted, path }: IntentOf<"search">): Step {
  const { say } = stage;
  const pattern = wanted.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
  const { text, isError } = yield* call(stage, "grep", path === undefined ? { pattern } : { pattern, path });
  if (isError) return { text: say("searchFailed", { text: wanted, why: firstLine(text) }), ok: false };
  const { found, rest } = foundIn(text);
  if (found.length === 0) return { text: say("noMatches", { text: wanted }), ok: true };
  const shown = found.slice(0, MATCHES_SHOWN);
  const n = found.length + rest;
  const more = n > shown.length ? [say("more", { n: n - shown.length })] : [];
  return { text: [say("matches", { text: wanted, n }), fenced(shown), ...more].join("\n"), ok: true };
}

export function* writeFile(stage: Stage, { path, content }: IntentOf<"write">): Step {
  const { say } = stage;
  const { text, isError } = yield* call(stage, "write_file", { path, content });
  if (isError) return { text: say("writeFailed", { path, why: firstLine(text) }), ok: false };
  return { text: say("written", { path, n: [...content].length }), ok: true };
}

/** Reads it first: nothing is changed unseen. */
export function* editFile(stage: Stage, { path, oldText, newText, all }: IntentOf<"edit">): Step {
  const { say } = stage;
  let result = yield* call(stage, "read_file", { path });
  if (!result.isError) {
    const input = { path, old_text: oldText, new_text: newText };
    result = yield* call(stage, "edit_file", all ? { ...input, replace_all: true } : input);
  }
  if (result.isError) return { text: say("editFailed", { path, why: firstLine(result.text) }), ok: false };
  return { text: say("edited", { path, oldText, newText }), ok: true };
}
