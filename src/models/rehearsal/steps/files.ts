// Steps on files: list, read, search, write, replace a text.
import { attempt, type Stage, type Step } from "../plan.ts";
import type { IntentOf } from "../request.ts";
import { byFolder, fenced, fileLines, foundIn } from "./results.ts";

const FILES_SHOWN = 50;
const MATCHES_SHOWN = 20;

export const listFiles = (stage: Stage, { files: { label, pattern, path } }: IntentOf<"list">): Step => {
  const { say } = stage;
  const input = path === undefined ? { pattern } : { pattern, path };
  const done = (text: string): string => {
    const { found, rest } = foundIn(text);
    if (found.length === 0) return say("noFiles", { label, pattern, path });
    const n = found.length + rest;
    const shown = found.slice(0, FILES_SHOWN).map((one) => `- ${one}`);
    if (n > shown.length) shown.push(say("more", { n: n - shown.length }));
    const folders = byFolder(found);
    const counts = rest === 0 && folders.length > 1 ? [say("byFolder", { counts: folders.join(", ") })] : [];
    return [say("files", { n, label, path }), ...shown, ...counts].join("\n");
  };
  return attempt(stage, { name: "glob", input }, done, (why) => say("listFailed", { label, path, why }));
};

export const readFile = (stage: Stage, { path }: IntentOf<"read">): Step => {
  const { say } = stage;
  const done = (text: string): string => {
    const { lines, remarks } = fileLines(text);
    // Nothing but a remark of the tool: it knows better than a guess.
    if (lines.length === 0 && remarks.length > 0) return `${path}: ${remarks.join(" ")}`;
    const filled = lines.filter((line) => line.trim() !== "");
    if (filled.length === 0) return say("emptyFile", { path });
    const [title, ...more] = /\.(?:md|markdown|mdx|rst)$/i.test(path) ? headings(lines) : [];
    const first = more.length > 0 ? [say("headings", { list: more.slice(0, 5).join(" · ") })] : [];
    const about = title ? [say("title", { text: title }), ...first] : [say("begins"), fenced(filled.slice(0, 5))];
    return [say("readSummary", { path, n: lines.length }), ...about, ...remarks].join("\n");
  };
  return attempt(stage, { name: "read_file", input: { path } }, done, (why) => say("readFailed", { path, why }));
};

function headings(lines: string[]): string[] {
  let code = false;
  return lines.flatMap((line) => {
    if (/^\s*(?:```|~~~)/.test(line)) code = !code;
    return code ? [] : (/^#{1,6}\s+(.+?)\s*#*$/.exec(line)?.slice(1) ?? []);
  });
}

export const searchFor = (stage: Stage, { text, path }: IntentOf<"search">): Step => {
  const { say } = stage;
  const pattern = text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
  return attempt(stage, { name: "grep", input: path === undefined ? { pattern } : { pattern, path } }, (lines) => {
    const { found, rest } = foundIn(lines);
    if (found.length === 0) return say("noMatches", { text });
    const shown = found.slice(0, MATCHES_SHOWN);
    const n = found.length + rest;
    const more = n > shown.length ? [say("more", { n: n - shown.length })] : [];
    return [say("matches", { text, n }), fenced(shown), ...more].join("\n");
  });
};

export const writeFile = (stage: Stage, { path, content }: IntentOf<"write">): Step =>
  attempt(stage, { name: "write_file", input: { path, content } }, () =>
    stage.say("written", { path, n: [...content].length }),
  );

/** Reads it first: nothing is changed unseen. */
export function* editFile(stage: Stage, { path, oldText, newText, all }: IntentOf<"edit">): Step {
  const seen = yield* attempt(stage, { name: "read_file", input: { path } });
  if (!seen.ok) return seen;
  const input = { path, old_text: oldText, new_text: newText, ...(all && { replace_all: true }) };
  return yield* attempt(stage, { name: "edit_file", input }, () => stage.say("edited", { path, oldText, newText }));
}
