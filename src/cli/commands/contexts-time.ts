// `holdfast contexts checkpoints|checkpoint|restore|undo|diff|fork`: going back, comparing, and a second timeline.
import type { Checkpoint, RestoreReport } from "../../contexts/checkpoints.ts";
import type { Context } from "../../contexts/context.ts";
import { commandLine, resumeLine } from "../../front/presentation/command-line.ts";
import { oneLine } from "../../front/presentation/printable.ts";
import { HoldfastError, isHoldfastError } from "../../ledger/error.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";

const PARTS = ["conversation", "data", "files"] as const;

/** Each verb has those of its own table. */
type Flags = PlaceFlags & JsonToo & { only?: string; force?: boolean; keepChanged?: boolean; stat?: boolean };

export const TIME_VERBS = {
  async checkpoints(context: Context, flags: Flags) {
    const all = await context.checkpoints();
    if (flags.json) return print(all);
    if (all.length === 0) process.stderr.write("No checkpoints yet: one is made at every prompt.\n");
    for (const one of all) process.stdout.write(`${line(one)}\n`);
  },
  async checkpoint(context: Context, flags: Flags, name: string | undefined) {
    const { filesKept: _, ...made } = await context.checkpoint(name);
    if (flags.json) print(made);
    else process.stdout.write(`${line(made)}\n`);
  },
  async restore(context: Context, flags: Flags, name: string) {
    const done = context.restore(byNameOrPosition(name), { ...partsOf(flags), ...howOf(flags) });
    report(await done.catch(sayHow), flags, context, { isUndo: false });
  },
  async undo(context: Context, flags: Flags) {
    const done = context.undo(howOf(flags)).catch((error: unknown) => {
      if (!isHoldfastError(error, "not_found")) throw error;
      const see = commandLine(["contexts", "checkpoints", context.id], flags);
      throw new HoldfastError(
        "not_found",
        `there is no restore to take back in ${context.id}; what was there before each restore and undo is a checkpoint: see \`${see}\``,
        { cause: error },
      );
    });
    report(await done.catch(sayHow), flags, context, { isUndo: true });
  },
  async diff(context: Context, flags: Flags, a: string, b: string | undefined) {
    const { showDiff } = await import("./contexts-diff.ts");
    await showDiff(context, flags, byNameOrPosition(a), b === undefined ? undefined : byNameOrPosition(b));
  },
  async fork(context: Context, flags: Flags, name: string | undefined) {
    const forked = await context.fork(name === undefined ? undefined : byNameOrPosition(name));
    const { forkOf } = await forked.details();
    const { seq, goesOn = false } = forkOf ?? {};
    if (flags.json) print({ id: forked.id, from: context.id, seq, goesOn });
    else process.stdout.write(`${forked.id}\nGo on with it: ${resumeLine(forked, flags)}${goesOn ? "" : ' "…"'}\n`);
  },
};

/** A refusal in the words of the command line. */
function sayHow(error: unknown): never {
  const detail = isHoldfastError(error, "conflict") && typeof error.detail === "object" ? error.detail : null;
  if (!detail || !("paths" in detail) || !Array.isArray(detail.paths)) throw error;
  const paths: string[] = detail.paths;
  sayPaths(paths);
  const [what, them] = paths.length === 1 ? ["a file that", "it"] : [`${paths.length} files that`, "them"];
  throw new HoldfastError(
    "conflict",
    `this would overwrite ${what} somebody else changed since: look at ${them}, then add --force, or --keep-changed to leave ${them} as ${paths.length === 1 ? "it is" : "they are"}`,
    { cause: error, detail: { paths } },
  );
}

const SHOWN = 50;

function sayPaths(paths: string[]): void {
  for (const path of paths.slice(0, SHOWN)) process.stderr.write(`  ${oneLine(path)}\n`);
  if (paths.length > SHOWN) process.stderr.write(`  … and ${paths.length - SHOWN} more\n`);
}

const howOf = ({ force, keepChanged }: Flags) => ({ force, keepChanged });

const print = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);

/** A number is a position in the ledger, as `checkpoints` shows it. */
const byNameOrPosition = (text: string): string | number => (/^\d+$/.test(text) ? Number(text) : text);

function partsOf({ only }: Flags): Partial<Record<(typeof PARTS)[number], boolean>> {
  if (only === undefined) return {};
  const named = only.split(",").map((part) => part.trim());
  const wrong = named.find((part) => !PARTS.some((one) => one === part));
  if (wrong !== undefined) throw new HoldfastError("invalid", `--only takes ${PARTS.join(", ")}, not "${wrong}"`);
  return Object.fromEntries(PARTS.map((part) => [part, named.includes(part)]));
}

function line({ seq, at, name, auto, note, files }: Checkpoint): string {
  const when = new Date(at).toISOString().slice(0, 19).replace("T", " ");
  const kept = files ? `  files: ${String(files.files ?? "kept")}${files.partial ? " (partial)" : ""}` : "";
  return `${String(seq).padStart(6)}  ${when}  ${auto ? "·" : "★"} ${oneLine(name, 40)}${note ? `  ${oneLine(note, 60)}` : ""}${kept}`;
}

function report(done: RestoreReport, flags: Flags, { id }: Context, { isUndo }: { isUndo: boolean }): void {
  if (flags.json) {
    print(done);
    return;
  }
  const parts = PARTS.filter((part) => done[part]);
  process.stdout.write(`Back at ${oneLine(done.checkpoint, 60)} (${parts.join(", ")})\n`);
  if (done.fileReport) {
    const { written, deleted, skipped } = done.fileReport;
    process.stdout.write(`  files: ${written} written, ${deleted} deleted, ${skipped.length} left alone\n`);
    for (const { path, reason } of skipped.slice(0, 20))
      process.stdout.write(`    ${oneLine(path)}: ${oneLine(reason)}\n`);
  }
  const { overwrote = [], undo } = done;
  if (overwrote.length > 0) {
    const what =
      overwrote.length === 1
        ? "A file that somebody else had changed was"
        : `${overwrote.length} files that somebody else had changed were`;
    process.stderr.write(
      `${what} overwritten; as it was, all is in checkpoint ${undo.seq} (${oneLine(undo.name, 60)}):\n`,
    );
    sayPaths(overwrote);
  }
  // By position: names are given again. And only what was turned back: the rest may have gone on by then.
  const only = parts.length === PARTS.length ? [] : ["--only", parts.join(",")];
  const back = isUndo ? ["restore", id, String(undo.seq), ...only] : ["undo", id];
  process.stderr.write(`Take it back with: ${commandLine(["contexts", ...back], flags)}\n`);
}
