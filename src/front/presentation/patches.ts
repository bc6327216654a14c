// What changed in files between two checkpoints, as unified diffs; what cannot be shown is said in words.
import { isUtf8 } from "node:buffer";
import type { Diff } from "../../contexts/diff.ts";
import type { FileVersion } from "../../contexts/file-keeper.ts";
import { lineDiff } from "../../file-access/line-diff.ts";

/** What is longer is told by its size. */
export const MAX_DIFF_BYTES = 256_000;

export const CHANGE_KINDS = [
  ["+", "added"],
  ["~", "changed"],
  ["-", "removed"],
] as const;

type Kind = (typeof CHANGE_KINDS)[number][1];

/** `patch` is missing where there is nothing to show; then `why` says it. */
export interface Patch {
  path: string;
  kind: Kind;
  patch?: string;
  why?: string;
  before?: Omit<FileVersion, "content">;
  after?: Omit<FileVersion, "content">;
}

export const isBinary = (content: Uint8Array): boolean => content.subarray(0, 8_000).includes(0) || !isUtf8(content);

/** The hunks alone; undefined when there are none. */
export const hunks = (before: string, after: string): string | undefined =>
  lineDiff("", before, after).split("\n").slice(2).join("\n") || undefined;

export function patchesOf({ files, contents = [] }: Diff): Patch[] {
  const kinds = new Map(CHANGE_KINDS.flatMap(([, kind]) => (files?.[kind] ?? []).map((path) => [path, kind] as const)));
  return contents.flatMap(({ path, before, after }) => {
    const kind = kinds.get(path);
    const sides = {
      ...(before && { before: withoutContent(before) }),
      ...(after && { after: withoutContent(after) }),
    };
    return kind ? [{ path, kind, ...fileDiff(path, before, after), ...sides }] : [];
  });
}

const withoutContent = ({ content: _, ...rest }: FileVersion) => rest;

function fileDiff(path: string, before?: FileVersion, after?: FileVersion): Pick<Patch, "patch" | "why"> {
  const sides = [before, after].filter((side) => side !== undefined);
  const mode = before && after && before.mode !== after.mode ? modes(before, after) : undefined;
  const sizes = `${before?.bytes ?? 0} → ${after?.bytes ?? 0} bytes`;
  const said = (why: string) => ({ why: mode ? `${mode}, ${why}` : why });
  if (sides.length === 0) return said("a folder");
  if (sides.some(({ content, bytes }) => !content && bytes > MAX_DIFF_BYTES)) return said(`too long to show, ${sizes}`);
  if (sides.some(({ content }) => !content)) return said("its content is damaged");
  if (sides.some(({ content }) => content && isBinary(content))) return said(`binary, ${sizes}`);
  const [old, fresh] = [contentOf(before), contentOf(after)];
  if (old === fresh) return mode ? { why: mode } : said(before?.kind === after?.kind ? "the same" : "link or file");
  const body = hunks(old, fresh);
  if (body === undefined) return said("only line ends differ");
  const heads = [`--- ${before ? `a/${path}` : "/dev/null"}`, `+++ ${after ? `b/${path}` : "/dev/null"}`];
  return { patch: [...heads, body].join("\n"), ...(mode && { why: mode }) };
}

const modes = (before: FileVersion, after: FileVersion): string =>
  `mode ${before.mode.toString(8)} → ${after.mode.toString(8)}`;

/** Of a link: where it leads, as one line. */
const contentOf = (side: FileVersion | undefined): string =>
  side?.content ? (side.kind === "link" ? "link to " : "") + Buffer.from(side.content).toString("utf8") : "";
