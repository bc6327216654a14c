// The tool glob: files by name, newest first.
import { join } from "node:path";
import * as z from "zod";
import { nearbyNames } from "../../file-access/nearby-names.ts";
import { displayPath, printablePath, resolvePath } from "../../file-access/paths.ts";
import { leavesOut, permitOf } from "../../file-access/permit.ts";
import { ripgrep } from "../../file-access/ripgrep.ts";
import { hold, pathOf, release } from "../../file-access/safe-open.ts";
import { newestFirst, whereFound } from "../../file-access/search-tree.ts";
import { defineTool, type ToolOutput } from "../../loop/seams.ts";
import { pathMatcher, splitPattern } from "../../text/glob.ts";

const SHOWN = 200;

export const globTool = defineTool<{ pattern: string; path?: string }>({
  name: "glob",
  description: "List files by glob pattern, newest first; skips what .gitignore names.",
  schema: () => z.strictObject({ pattern: z.string().min(1), path: z.string().optional() }),
  effect: "read",
  async execute(run) {
    const { input, cwd, signal } = run;
    const { path: shown, pattern } = splitPattern(input);
    const base = resolvePath(cwd, shown);
    const permit = permitOf(run);
    const dir = hold(permit, base, { shown });
    if (!dir) return failure(`${shown} does not exist${nearbyNames(permit, cwd, base)}`);
    try {
      if (!dir.stat.isDirectory()) return failure(`${shown} is not a directory`);
      if (pattern.split("/").includes("..")) {
        return failure("the pattern must stay below path: give the directory as path");
      }
      const matches = pathMatcher(pattern);
      const found: string[] = [];
      const began = Date.now();
      const result = await ripgrep(["--files"], {
        cwd: pathOf(dir),
        signal,
        onLine: (line) => matches(line) && !leavesOut(permit, join(dir.real, line)) && found.push(line),
      });
      if (signal.aborted) return failure("interrupted");
      if (result.code === 2 && found.length === 0 && result.error !== "") return failure(result.error);
      const lines = whereFound(permit, dir, newestFirst(dir, found), { most: SHOWN, began }).map((file) =>
        printablePath(displayPath(cwd, join(base, file))),
      );
      if (found.length > SHOWN) lines.push(`[${found.length - SHOWN} more; narrow the pattern]`);
      return { content: lines.join("\n") || "(no files)" };
    } finally {
      release(dir);
    }
  },
});

const failure = (content: string): ToolOutput => ({ content, isError: true });
