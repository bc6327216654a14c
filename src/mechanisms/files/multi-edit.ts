// The tool multi_edit: several replacements in one file, all or nothing.
import * as z from "zod";
import { executeChange, intendChange, type MakeChange, reconcileChange } from "../../file-access/file-change.ts";
import { changeByEdits } from "../../file-access/file-edits.ts";
import type { Edit } from "../../file-access/text-edit.ts";
import { defineTool } from "../../loop/seams.ts";

interface MultiEditInput {
  path: string;
  edits: Edit[];
}

const make: MakeChange<MultiEditInput> = (existing, { edits }, path) => changeByEdits(existing, edits, path);

export const multiEditTool = defineTool<MultiEditInput>({
  name: "multi_edit",
  description: "Several edit_file edits of one file in order, all or nothing.",
  schema: () =>
    z.strictObject({
      path: z.string().min(1),
      edits: z
        .array(z.strictObject({ old_text: z.string(), new_text: z.string(), replace_all: z.boolean().optional() }))
        .min(1),
    }),
  effect: "reconcile",
  intend: (run) => intendChange(run, make),
  execute: (run) => executeChange(run, make),
  reconcile: async (run) => reconcileChange(run),
});
