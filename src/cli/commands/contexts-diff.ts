// `holdfast contexts diff`: what changed between two checkpoints, as a person reads it: unified diffs, values old and new.

import type { Context } from "../../contexts/context.ts";
import type { DataChange } from "../../contexts/diff.ts";
import { CHANGE_KINDS, hunks, MAX_DIFF_BYTES, patchesOf } from "../../front/presentation/patches.ts";
import { oneLine } from "../../front/presentation/printable.ts";
import type { JsonToo } from "../flags.ts";
import { createPage } from "./diff-page.ts";

export async function showDiff(
  context: Context,
  flags: JsonToo & { stat?: boolean },
  from: string | number,
  to?: string | number,
): Promise<void> {
  const diff = await context.diff(from, to, flags.stat ? {} : { maxBytes: MAX_DIFF_BYTES });
  const { contents: _, ...names } = diff;
  const patches = flags.stat ? undefined : patchesOf(diff);
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ ...names, ...(patches && { patches }) })}\n`);
    return;
  }
  const page = createPage();
  for (const [mark, kind] of CHANGE_KINDS) {
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

function valueDiff({ before, after, old, new: fresh }: DataChange): string | undefined {
  if ((before > 0 && old === undefined) || (after > 0 && fresh === undefined)) return "  too long to show";
  const text = (value: unknown) => (value === undefined ? "" : JSON.stringify(value, null, 2));
  return hunks(text(old), text(fresh));
}
