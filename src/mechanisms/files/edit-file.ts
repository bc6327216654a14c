// The tool edit_file: one replacement in one file.
import * as z from "zod";
import { executeChange, intendChange, type MakeChange, reconcileChange } from "../../file-access/file-change.ts";
import { changeByEdits } from "../../file-access/file-edits.ts";
import type { Edit } from "../../file-access/text-edit.ts";
import { defineTool } from "../../loop/seams.ts";

type EditInput = Edit & { path: string };

const make: MakeChange<EditInput> = (existing, input, path) => changeByEdits(existing, [input], path);

export const editFileTool = defineTool<EditInput>({
  name: "edit_file",
  description: "Replace old_text, which must occur exactly once in the file, or everywhere with replace_all.",
  schema: () =>
    z.strictObject({
      path: z.string().min(1),
      old_text: z.string(),
      new_text: z.string(),
      replace_all: z.boolean().optional(),
    }),
  effect: "reconcile",
  intend: (run) => intendChange(run, make),
  execute: (run) => executeChange(run, make),
  reconcile: async (run) => reconcileChange(run),
});
