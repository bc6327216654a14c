// Owns the tool grep: text in files by ripgrep, grouped by file, newest file first.
import { statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import * as z from "zod";
import { defineTool, type ToolOutput } from "../loop/seams.ts";
import { newestFirst } from "./glob.ts";
import { globToRegExp } from "./glob-pattern.ts";
import { nearbyNames } from "./nearby-names.ts";
import { displayPath, resolvePath } from "./paths.ts";
import { ripgrep } from "./ripgrep.ts";
import { cutText } from "./text.ts";

const SHOWN = 200;
const MAX_LINE_CHARS = 500;
/** Lines kept in memory; beyond, they are only counted. */
const MAX_KEPT = 20_000;

interface GrepInput {
  pattern: string;
  path?: string;
  glob?: string;
  ignore_case?: boolean;
  context?: number;
  mode?: "content" | "files" | "count";
}

export const grepTool = defineTool<GrepInput>({
  name: "grep",
  description: "Search files by regular expression (ripgrep).",
  schema: () =>
    z.strictObject({
      pattern: z.string().min(1),
      path: z.string().optional(),
      glob: z.string().optional(),
      ignore_case: z.boolean().optional(),
      context: z.int().min(0).max(20).optional(),
      mode: z.enum(["content", "files", "count"]).optional(),
    }),
  effect: "read",
  async execute({ input, cwd, signal }) {
    const asked = resolvePath(cwd, input.path ?? ".");
    const stat = statSync(asked, { throwIfNoEntry: false });
    if (!stat) return failure(`${input.path} does not exist${nearbyNames(cwd, asked)}`);
    const base = stat.isDirectory() ? asked : dirname(asked);
    const target = stat.isDirectory() ? "./" : `./${basename(asked)}`;
    const found = new Found(input.glob === undefined ? undefined : globToRegExp(input.glob));
    const { code, error } = await ripgrep([...flags(input), "-e", input.pattern, "--", target], {
      cwd: base,
      signal,
      onLine: (line) => found.add(line),
    });
    if (signal.aborted) return failure("interrupted");
    if (code === 2 && found.files.size === 0) return failure(error || "the search failed");
    return {
      content: found.show(
        input.mode ?? "content",
        (files) => newestFirst(base, files),
        (f) => displayPath(cwd, join(base, f)),
      ),
    };
  },
});

function flags(input: GrepInput): string[] {
  const out = ["--engine=auto"];
  if (input.ignore_case) out.push("--ignore-case");
  if (input.mode === "files") return [...out, "--files-with-matches"];
  out.push("--null", "--with-filename", "--no-heading");
  if (input.mode === "count") out.push("--count");
  else out.push("--line-number", ...(input.context ? [`--context=${input.context}`] : []));
  return out;
}

/** `path NUL rest` a line; in mode files the path alone. */
class Found {
  readonly files = new Map<string, string[]>();
  private readonly glob: RegExp | undefined;
  private kept = 0;
  private dropped = 0;

  constructor(glob: RegExp | undefined) {
    this.glob = glob;
  }

  add(line: string): void {
    if (line === "--") return; // between two places
    const nul = line.includes("\0") ? line.indexOf("\0") : line.length;
    const file = line.slice(0, nul).replace(/^\.\//, "");
    if (this.glob && !this.glob.test(file)) return;
    if (this.kept++ >= MAX_KEPT) {
      this.dropped++;
      return;
    }
    const rest = line.slice(nul + 1);
    const lines = this.files.get(file);
    if (lines) lines.push(rest);
    else this.files.set(file, [rest]);
  }

  show(
    mode: NonNullable<GrepInput["mode"]>,
    sort: (files: string[]) => string[],
    name: (file: string) => string,
  ): string {
    const all = sort([...this.files.keys()]).flatMap((file) => {
      const lines = this.files.get(file)!;
      if (mode === "files") return [name(file)];
      if (mode === "count") return [`${name(file)}:${lines[0]}`];
      return [{ heading: name(file) }, ...lines];
    });
    const out: string[] = [];
    let shown = 0;
    for (const line of all) {
      if (shown >= SHOWN) break;
      if (typeof line === "string") {
        out.push(line.length > MAX_LINE_CHARS ? `${cutText(line, MAX_LINE_CHARS)}…` : line);
        shown++;
      } else out.push(line.heading);
    }
    const rest = all.filter((l) => typeof l === "string").length + this.dropped - shown;
    if (rest > 0) out.push(`[${rest} more; narrow the search]`);
    return out.join("\n") || "(no matches)";
  }
}

const failure = (content: string): ToolOutput => ({ content, isError: true });
