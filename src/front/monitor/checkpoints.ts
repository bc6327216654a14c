// Checkpoints as a tree, and the files that changed between two of them.
import type { Checkpoint } from "../../contexts/checkpoints.ts";
import type { Context } from "../../contexts/context.ts";
import { type Jump, visibleRanges } from "../../contexts/visible-ranges.ts";
import type { Seq } from "../../ledger/store.ts";
import type { ContextPast } from "../past/context-past.ts";
import { CHANGE_KINDS, MAX_DIFF_BYTES, patchesOf } from "../presentation/patches.ts";
import { oneLine, printable } from "../presentation/printable.ts";
import type { CheckpointRow, FilesChanged } from "./context-api.ts";

const MOST_ROWS = 1_000;
const MOST_FILES = 300;
const PATCH_CHARS = 60_000;
/** Of all patches together. */
const ALL_CHARS = 250_000;

/** A restore begins another branch at the position that it went back to. `jumps`: of the conversation. */
export function checkpointRows(
  all: readonly Checkpoint[],
  jumps: readonly Jump[],
  forks: readonly Fork[],
): CheckpointRow[] {
  const last = Math.max(all.at(-1)?.seq ?? 0, jumps.at(-1)?.seq ?? 0);
  const now = visibleRanges(jumps, last);
  const isIn = (ranges: readonly (readonly [Seq, Seq])[], seq: Seq) =>
    ranges.some(([from, to]) => from <= seq && seq <= to);
  const first = Math.max(0, all.length - MOST_ROWS);
  /** The last one up to that event on the timeline that it was on. */
  const before = (event: Seq) => {
    const ranges = visibleRanges(jumps, event);
    return all.findLast(({ seq }) => seq <= event && isIn(ranges, seq));
  };
  const forksAt = Map.groupBy(forks, (fork) => before(fork.seq)?.seq);
  return all.slice(first).map(({ seq, at, name, auto, note, files }) => {
    const parent = before(seq - 1);
    return {
      ...{ seq, at, name: oneLine(name, 200), auto, current: isIn(now, seq) },
      forks: forksAt.get(seq)?.map(({ context }) => context) ?? [],
      ...(note !== undefined && { note: oneLine(note, 160) }),
      ...(typeof files?.files === "number" && { files: files.files }),
      ...(parent && { parent: parent.seq }),
    };
  });
}

interface Fork {
  context: string;
  seq: Seq;
}

/** From one checkpoint to another, or to now. */
export async function filesChanged(
  context: Context,
  { from, to, edits }: { from: Seq; to?: Seq; edits: FilesChanged["edits"] },
): Promise<FilesChanged> {
  const all = await context.checkpoints();
  const named = (seq: Seq) => ({ seq, name: oneLine(all.find((one) => one.seq === seq)?.name ?? `event ${seq}`, 200) });
  const diff = await context.diff(from, to, { maxBytes: MAX_DIFF_BYTES });
  const ends = { from: named(from), ...(to !== undefined && { to: named(to) }) };
  if (!diff.files) return { ...ends, files: [], total: 0, edits, problem: "these checkpoints hold no files" };
  const { files: names } = diff;
  const patches = new Map(patchesOf(diff).map((patch) => [patch.path, patch]));
  let room = ALL_CHARS;
  const files = CHANGE_KINDS.flatMap(([, kind]) =>
    names[kind].map((path): FilesChanged["files"][number] => {
      const one = patches.get(path);
      const whole = printable(one?.patch ?? one?.why ?? "");
      const text = whole.slice(0, Math.min(PATCH_CHARS, Math.max(0, room)));
      room -= text.length;
      const isCut = text.length < whole.length;
      const status = kind === "removed" ? "deleted" : kind;
      return { path: printable(path), status, ...(text !== "" && { diff: text }), ...(isCut && { cut: true }) };
    }),
  );
  return { ...ends, files: files.slice(0, MOST_FILES), total: files.length, edits };
}

/** As of that event: what had changed since the context began, up to the last checkpoint that holds files, and what was recorded since. */
export async function filesThen(context: Context, past: ContextPast, seq: Seq): Promise<FilesChanged> {
  const { files } = await past.at(seq);
  const first = (await context.checkpoints()).find((one) => one.files);
  if (files.checkpoint && first)
    return filesChanged(context, { from: first.seq, to: files.checkpoint.seq, edits: files.edits });
  const from = { seq: 0, name: "the beginning" };
  return { from, files: [], total: 0, edits: files.edits, problem: "no checkpoint up to then holds files" };
}
