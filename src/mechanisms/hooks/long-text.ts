// What happens to long text of a hook: over 10,000 characters it goes to a file, and its head with the path takes its place.
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { messageOf } from "../../ledger/error.ts";
import { newId } from "../../ledger/id.ts";
import { makeDir } from "../../ledger/make-dir.ts";
import { cutText } from "../../text/cut.ts";

const MAX_CHARS = 10_000;
const HEAD_CHARS = 2_000;

/** Contract: never throws; where no file can be written the head stands alone and says so. */
export async function boundText(text: string, dir: string, max = MAX_CHARS): Promise<string> {
  if (text.length <= max) return text;
  const head = cutText(text, HEAD_CHARS);
  const rest = `[… ${text.length - head.length} of ${text.length} characters left out`;
  const file = path.join(dir, `${newId("hook")}.txt`);
  try {
    makeDir(dir);
    await writeFile(file, text, { mode: 0o600, flag: "wx" });
    return `${head}\n${rest}; the whole: ${file}]`;
  } catch (error) {
    return `${head}\n${rest}; they could not be kept: ${messageOf(error)}]`;
  }
}
