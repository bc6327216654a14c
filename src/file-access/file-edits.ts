// A list of edits as one change of one file.
import { HoldfastError } from "../ledger/error.ts";
import type { Change, Existing } from "./file-change.ts";
import { refused } from "./refused.ts";
import { applyEdit, type Edit, listLines } from "./text-edit.ts";
import { parseText, toBytes } from "./text-file.ts";

/** Contract: throws `refused`, naming the edit, when one of them does not fit. */
export function changeByEdits(existing: Existing | undefined, edits: Edit[], path: string): Change {
  if (!existing) throw refused(`${path} does not exist; create it with write_file`);
  const before = parseText(existing.bytes, path);
  let file = before;
  const places: string[] = [];
  edits.forEach((edit, i) => {
    try {
      const done = applyEdit(file, edit);
      file = done.file;
      places.push(listLines(done.lines));
    } catch (error) {
      if (edits.length === 1 || !(error instanceof HoldfastError)) throw error;
      throw refused(`edits.${i}: ${error.message}\nNothing was changed.`);
    }
  });
  return {
    bytes: toBytes(file),
    said: `Edited ${path} at line ${places.join("; ")}`,
    texts: { before: before.text, after: file.text },
  };
}
