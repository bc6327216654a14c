// Owns the tool glob: files by name, newest first.
import { statSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { defineTool, type ToolOutput } from "../loop/seams.ts";
import { globToRegExp } from "./glob-pattern.ts";
import { nearbyNames } from "./nearby-names.ts";
import { displayPath, resolvePath } from "./paths.ts";
import { ripgrep } from "./ripgrep.ts";

const SHOWN = 200;

export const globTool = defineTool<{ pattern: string; path?: string }>({
  name: "glob",
  description: "List files by glob pattern, newest first; skips what .gitignore names.",
  schema: () => z.strictObject({ pattern: z.string().min(1), path: z.string().optional() }),
  effect: "read",
  async execute({ input, cwd, signal }) {
    const base = resolvePath(cwd, input.path ?? ".");
    const stat = statSync(base, { throwIfNoEntry: false });
    if (!stat) return failure(`${input.path} does not exist${nearbyNames(cwd, base)}`);
    if (!stat.isDirectory()) return failure(`${input.path} is not a directory`);
    if (input.pattern.startsWith("/") || input.pattern.split("/").includes("..")) {
      return failure("the pattern must stay below path: give the directory as path");
    }
    const matches = globToRegExp(input.pattern);
    const found: string[] = [];
    const result = await ripgrep(["--files"], {
      cwd: base,
      signal,
      onLine: (line) => matches.test(line) && found.push(line),
    });
    if (signal.aborted) return failure("interrupted");
    if (result.code === 2 && found.length === 0 && result.error !== "") return failure(result.error);
    const lines = newestFirst(base, found)
      .slice(0, SHOWN)
      .map((file) => displayPath(cwd, join(base, file)));
    if (found.length > SHOWN) lines.push(`[${found.length - SHOWN} more; narrow the pattern]`);
    return { content: lines.join("\n") || "(no files)" };
  },
});

export function newestFirst(base: string, files: string[]): string[] {
  const at = new Map(files.map((f) => [f, statSync(join(base, f), { throwIfNoEntry: false })?.mtimeMs ?? 0]));
  return files.sort((a, b) => at.get(b)! - at.get(a)! || (a < b ? -1 : 1));
}

const failure = (content: string): ToolOutput => ({ content, isError: true });
