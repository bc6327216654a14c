// Steps on files: list, read, search, write, replace a text.
import { attempt, type Stage, type Step } from "../plan.ts";
import type { IntentOf } from "../request.ts";
import { byFolder, fenced, fileLines, foundIn } from "./results.ts";

const FILES_SHOWN = 50;
const MATCHES_SHOWN = 20;

export const listFiles = (stage: Stage, { files: { label, pattern, path } }: IntentOf<"list">): Step => {
  const { say } = stage;
  return attempt(stage, "glob", { pattern, path }, (text) => {
    const { found, n, more } = foundIn(say, text, FILES_SHOWN);
    if (n === 0) return say("noFiles", { label, pattern, path });
    const shown = found.slice(0, FILES_SHOWN).map((one) => `- ${one}`);
    return [say("files", { n, label, path }), ...shown, ...more, ...byFolder(say, found, n)].join("\n");
  });
};

export const readFile = (stage: Stage, { path }: IntentOf<"read">): Step => {
  const { say } = stage;
  return attempt(stage, "read_file", { path }, (text) => {
    const { lines, remarks } = fileLines(text);
    // Nothing but a remark of the tool: it knows better than a guess.
    if (lines.length === 0 && remarks.length > 0) return `${path}: ${remarks.join(" ")}`;
    const filled = lines.filter((line) => line.trim() !== "");
    if (filled.length === 0) return say("emptyFile", { path });
    const [title, ...more] = /\.(?:md|markdown|mdx|rst)$/i.test(path) ? headings(lines) : [];
    const first = more.length > 0 ? [say("headings", { list: more.slice(0, 5).join(" · ") })] : [];
    const about = title ? [say("title", { text: title }), ...first] : [say("begins"), fenced(filled.slice(0, 5))];
    return [say("readSummary", { path, n: lines.length }), ...about, ...remarks].join("\n");
  });
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
  return attempt(stage, "grep", { pattern, path }, (lines) => {
    const { found, n, more } = foundIn(say, lines, MATCHES_SHOWN);
    if (n === 0) return say("noMatches", { text });
    return [say("matches", { text, n }), fenced(found.slice(0, MATCHES_SHOWN)), ...more].join("\n");
  });
};

export const writeFile = (stage: Stage, { path, content }: IntentOf<"write">): Step =>
  attempt(stage, "write_file", { path, content }, () => stage.say("written", { path, n: [...content].length }));

/** Reads it first: nothing is changed unseen. */
export function* editFile(stage: Stage, { path, oldText, newText, all }: IntentOf<"edit">): Step {
  const seen = yield* attempt(stage, "read_file", { path });
  if (!seen.ok) return seen;
  const input = { path, old_text: oldText, new_text: newText, replace_all: all || undefined };
  return yield* attempt(stage, "edit_file", input, () => stage.say("edited", { path, oldText, newText }));
}
