// The tool write_file: a whole file, atomically.
import * as z from "zod";
import { executeChange, intendChange, type MakeChange, reconcileChange } from "../../file-access/file-change.ts";
import { parseText, toBytes, withEol } from "../../file-access/text-file.ts";
import { defineTool } from "../../loop/seams.ts";

interface WriteInput {
  path: string;
  content: string;
}

export const writing: MakeChange<WriteInput> = (existing, { content }, path) => {
  const old = existing && isText(existing.bytes) ? parseText(existing.bytes, path) : undefined;
  const bare = content.replace(/^\ufeff/, "");
  const bytes = old
    ? toBytes({ bom: old.bom, text: old.eol === "\r\n" && !bare.includes("\r\n") ? withEol(bare, "\r\n") : bare })
    : Buffer.from(content, "utf8");
  const said = `${existing ? "Wrote" : "Created"} ${path} (${bytes.length} bytes)`;
  return { bytes, said, texts: { before: old?.text ?? "", after: toText(bytes) } };
};

export const writeFileTool = defineTool<WriteInput>({
  name: "write_file",
  description: "Create a file or replace all of it (read it first).",
  schema: () => z.strictObject({ path: z.string().min(1), content: z.string() }),
  effect: "reconcile",
  intend: (run) => intendChange(run, writing),
  execute: (run) => executeChange(run, writing),
  reconcile: async (run) => reconcileChange(run),
});

const toText = (bytes: Buffer): string => bytes.toString("utf8").replace(/^\ufeff/, "");

function isText(bytes: Buffer): boolean {
  try {
    parseText(bytes, "");
    return true;
  } catch {
    return false; // replaced as a whole: nothing of it is kept
  }
}
