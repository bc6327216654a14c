// Owns the tool edit_file: one replacement in one file.
import * as z from "zod";
import { defineTool } from "../loop/seams.ts";
import { changeByEdits } from "./edits-change.ts";
import { executeChange, type MakeChange, planChange, reconcileChange } from "./file-change.ts";
import type { Edit } from "./text-edit.ts";

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
  intend: async (run) => planChange(run, make).intent,
  execute: async (run) => executeChange(run, make),
  reconcile: async (run) => reconcileChange(run),
});
