// `holdfast contexts diff`: what changed between two checkpoints, as a person reads it: unified diffs, values old and new.

import type { Context } from "../../contexts/context.ts";
import type { DataChange, Diff } from "../../contexts/diff.ts";
import type { FileVersion } from "../../contexts/file-keeper.ts";
import { oneLine } from "../../front/presentation/printable.ts";
import type { JsonToo } from "../flags.ts";
import { createPage, hunks, isBinary } from "./diff-page.ts";

/** What is longer is told by its size. */
const MAX_BYTES = 256_000;

const KINDS = [
  ["+", "added"],
  ["~", "changed"],
  ["-", "removed"],
] as const;

type Kind = (typeof KINDS)[number][1];

/** `patch` is missing where there is nothing to show; then `why` says it. */
interface Patch {
  path: string;
  kind: Kind;
  patch?: string;
  why?: string;
  before?: Omit<FileVersion, "content">;
  after?: Omit<FileVersion, "content">;
}

export async function showDiff(
  context: Context,
  flags: JsonToo & { stat?: boolean },
  from: string | number,
  to?: string | number,
): Promise<void> {
  const diff = await context.diff(from, to, flags.stat ? {} : { maxBytes: MAX_BYTES });
  const { contents: _, ...names } = diff;
  const patches = flags.stat ? undefined : patchesOf(diff);
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ ...names, ...(patches && { patches }) })}\n`);
    return;
  }
  const page = createPage();
  for (const [mark, kind] of KINDS) {
    for (const change of diff[kind]) {
      page.line(`${mark} data ${oneLine(change.key, 200)}  ${change.before} → ${change.after} bytes`);
      if (!flags.stat) page.body(valueDiff(change));
    }
    for (const path of diff.files?.[kind] ?? []) {
      const one = patches?.find((patch) => patch.path === path);
      page.line(`${mark} file ${oneLine(path, 500)}${one?.why === undefined ? "" : `  ${one.why}`}`);
      page.body(one?.patch);
    }
  }
  page.end();
  if (page.isEmpty) process.stderr.write("Nothing differs.\n");
}

function patchesOf({ files, contents = [] }: Diff): Patch[] {
  const kinds = new Map(KINDS.flatMap(([, kind]) => (files?.[kind] ?? []).map((path) => [path, kind] as const)));
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
  if (sides.some(({ content, bytes }) => !content && bytes > MAX_BYTES)) return said(`too long to show, ${sizes}`);
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

function valueDiff({ before, after, old, new: fresh }: DataChange): string | undefined {
  if ((before > 0 && old === undefined) || (after > 0 && fresh === undefined)) return "  too long to show";
  const text = (value: unknown) => (value === undefined ? "" : JSON.stringify(value, null, 2));
  return hunks(text(old), text(fresh));
}
