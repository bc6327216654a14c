// What a call that changes a file would do to it as it is now: for whoever is asked before it runs. Changes nothing.

import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Change, Existing } from "../../file-access/file-change.ts";
import { changeByEdits } from "../../file-access/file-edits.ts";
import { realPath, resolvePath } from "../../file-access/paths.ts";
import type { Edit } from "../../file-access/text-edit.ts";
import { errorCode } from "../../ledger/guards.ts";
import { own } from "../../ledger/own.ts";
import { writing } from "./write-file.ts";

export interface ChangePreview {
  /** The file itself, whatever links lead to it. */
  path: string;
  isNew: boolean;
  /** Unified; "" when it would stay as it is. */
  diff: string;
}

/** Larger files are not compared while somebody waits. */
const MOST_BYTES = 4_000_000;

type Input = { path: string; content: string; edits: Edit[] } & Edit;

const CHANGES: Record<string, (existing: Existing | undefined, input: Input) => Change> = {
  write_file: (existing, input) => writing(existing, input, input.path),
  edit_file: (existing, input) => changeByEdits(existing, [input], input.path),
  multi_edit: (existing, input) => changeByEdits(existing, input.edits, input.path),
};

interface Asked {
  tool: string;
  input: unknown;
  cwd: string;
}

/**
 * `isOwn`: whether a folder is the project's, for what stands in a store to which other machines write: nothing is read elsewhere then.
 * Undefined: it changes no file by a text that is given, or cannot be told.
 */
export async function previewChange(
  { tool, input, cwd }: Asked,
  isOwn?: (folder: string) => boolean,
): Promise<ChangePreview | undefined> {
  const change = own(CHANGES, tool);
  if (!change) return undefined;
  try {
    const given = input as Input;
    const path = realPath(resolvePath(cwd, given.path));
    if (isOwn && !isOwn(folderThere(path))) return undefined;
    const existing = readNow(path);
    const { before, after } = change(existing, given).texts;
    const { lineDiff } = await import("../../file-access/line-diff.ts");
    return { path, isNew: existing === undefined, diff: lineDiff(given.path, before, after) };
  } catch {
    return undefined; // it would not fit, or cannot be read: the call itself is shown
  }
}

/** The nearest one that is there: the file's own may have to be made. */
function folderThere(path: string): string {
  const folder = dirname(path);
  return folder === path || existsSync(folder) ? folder : folderThere(folder);
}

function readNow(path: string): Existing | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size > MOST_BYTES) throw new Error("not a file of usual size");
    return { bytes: readFileSync(fd), stat };
  } finally {
    closeSync(fd);
  }
}
