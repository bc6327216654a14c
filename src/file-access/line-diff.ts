// The diff a person sees: unified, three lines of context. It loads the library `diff`: whoever is needed at every start imports it late.
import { type StructuredPatchHunk, structuredPatch } from "diff";

const CONTEXT = 3;
/** More lines that differ are shown as one block: the exact alignment is not worth the wait. */
const MAX_EDITS = 2_000;
const MAX_LINES = 400_000;

/** Each line with its sign before it. */
type Hunk = Pick<StructuredPatchHunk, "oldStart" | "oldLines" | "newStart" | "newLines" | "lines">;

/** Ends of lines do not count, nor whether the last line has one. "" where nothing else differs. */
export function lineDiff(path: string, before: string, after: string): string {
  const out = [`--- ${before === "" ? "/dev/null" : path}`, `+++ ${path}`];
  const { a, b, skipped } = withoutEnds(toLines(before), toLines(after));
  for (const { oldStart, oldLines, newStart, newLines, lines } of aligned(a, b) ?? [oneBlock(a, b)]) {
    const from = skipped + (oldLines > 0 ? oldStart : oldStart - 1);
    const to = skipped + (newLines > 0 ? newStart : newStart - 1);
    out.push(`@@ -${from},${oldLines} +${to},${newLines} @@`);
    for (const line of lines) out.push(line);
  }
  return out.length === 2 ? "" : out.join("\n");
}

function toLines(text: string): string[] {
  if (text === "") return [];
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** What both begin and end with is left out but for the context; `skipped` lines of it before the first. */
function withoutEnds(before: string[], after: string[]): { a: string[]; b: string[]; skipped: number } {
  const start = commonStart(before, after);
  const end = commonEnd(before, after, start);
  const skipped = Math.max(0, start - CONTEXT);
  const beyond = Math.max(0, end - CONTEXT);
  return {
    a: before.slice(skipped, before.length - beyond),
    b: after.slice(skipped, after.length - beyond),
    skipped,
  };
}

function commonStart(a: string[], b: string[]): number {
  let n = 0;
  while (n < a.length && n < b.length && a[n] === b[n]) n++;
  return n;
}

function commonEnd(a: string[], b: string[], start: number): number {
  const most = Math.min(a.length, b.length) - start;
  let n = 0;
  while (n < most && a[a.length - 1 - n] === b[b.length - 1 - n]) n++;
  return n;
}

/** Undefined: too much differs. Lines go by number, so that long ones that begin alike cost no more than others. */
function aligned(before: string[], after: string[]): Hunk[] | undefined {
  if (before.length + after.length > MAX_LINES) return undefined;
  const numbers = new Map<string, number>();
  const texts: string[] = [];
  const numbered = (lines: string[]): string => lines.map((line) => `${numberOf(line)}\n`).join("");
  const numberOf = (line: string): number => {
    const known = numbers.get(line);
    if (known !== undefined) return known;
    numbers.set(line, texts.length);
    return texts.push(line) - 1;
  };
  const options = { context: CONTEXT, maxEditLength: MAX_EDITS };
  const patch = structuredPatch("", "", numbered(before), numbered(after), undefined, undefined, options);
  return patch?.hunks.map((hunk) => ({
    ...hunk,
    lines: hunk.lines.map((line) => line[0] + texts[Number(line.slice(1))]!),
  }));
}

/** All from the first to the last line that differs. */
function oneBlock(a: string[], b: string[]): Hunk {
  const start = commonStart(a, b);
  const end = commonEnd(a, b, start);
  const signed = (sign: string, lines: string[]) => lines.map((line) => sign + line);
  const lines = [
    ...signed(" ", a.slice(0, start)),
    ...signed("-", a.slice(start, a.length - end)),
    ...signed("+", b.slice(start, b.length - end)),
    ...signed(" ", a.slice(a.length - end)),
  ];
  return { oldStart: 1, oldLines: a.length, newStart: 1, newLines: b.length, lines };
}
