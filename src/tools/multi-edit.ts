// Owns the tool multi_edit: several replacements in one file, all or nothing.
import * as z from "zod";
import { defineTool } from "../loop/seams.ts";
import { changeByEdits } from "./edits-change.ts";
import { executeChange, type MakeChange, planChange, reconcileChange } from "./file-change.ts";
import type { Edit } from "./text-edit.ts";

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
  intend: async (run) => planChange(run, make).intent,
  execute: async (run) => executeChange(run, make),
  reconcile: async (run) => reconcileChange(run),
});
