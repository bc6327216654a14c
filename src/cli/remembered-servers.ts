// The MCP servers of --mcp-config, as a context remembers them: files by their place and content, JSON not at all.
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { Start } from "../contexts/start.ts";
import { readTextFile } from "../ledger/text-file.ts";

type Remembered = NonNullable<Start["mcpConfig"]>;

/** A file that says what it said when it was given: its text is used, and not read a second time. */
export interface KeptConfig {
  file: string;
  text: string;
}

/** JSON begins with a brace; anything else is a file. */
export const isJson = (given: string): boolean => given.trim().startsWith("{");

/** What is remembered of the flag. One that cannot be read is said where it is used. */
export function givenServers(mcpConfig: readonly string[] = []): Remembered | undefined {
  if (mcpConfig.length === 0) return undefined;
  const files = mcpConfig.flatMap((given) => {
    const file = resolve(given);
    const text = isJson(given) ? undefined : textOf(file);
    return text === undefined ? [] : [{ file, hash: hashOf(text) }];
  });
  return { files, json: mcpConfig.some(isJson) };
}

/** Whoever could write to such a file meanwhile would start what they like, outside of the sandbox. */
export function unchangedFiles({ files }: Remembered): { kept: KeptConfig[]; changed: Remembered["files"] } {
  const kept: KeptConfig[] = [];
  const changed: Remembered["files"] = [];
  for (const one of files) {
    const text = textOf(one.file);
    if (text !== undefined && hashOf(text) === one.hash) kept.push({ file: one.file, text });
    else changed.push(one);
  }
  return { kept, changed };
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

function textOf(file: string): string | undefined {
  try {
    return readTextFile(file);
  } catch {
    return undefined;
  }
}
