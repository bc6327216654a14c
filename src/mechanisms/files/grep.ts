// The tool grep: text in files by ripgrep, grouped by file, newest file first.
import { basename, dirname, join, relative, sep } from "node:path";
import * as z from "zod";
import { byNumber } from "../../file-access/kernel-names.ts";
import { nearbyNames } from "../../file-access/nearby-names.ts";
import { displayPath, isInside, printablePath, resolvePath } from "../../file-access/paths.ts";
import { leavesOut, type Permit, permitOf } from "../../file-access/permit.ts";
import { type RipgrepResult, ripgrep } from "../../file-access/ripgrep.ts";
import { hold, notRegular, type OpenFile, pathOf, release } from "../../file-access/safe-open.ts";
import { holdFound, newestFirst, unchangedSince } from "../../file-access/search-tree.ts";
import { isSecret } from "../../file-access/secret-names.ts";
import { defineTool, type ToolOutput } from "../../loop/seams.ts";
import { cutText } from "../../text/cut.ts";
import { pathMatcher } from "../../text/glob.ts";

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
  description: "Search files by regular expression (ripgrep). Skips files that may hold secrets unless path names one.",
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
  async execute(run) {
    const { input, cwd, signal } = run;
    const shown = input.path ?? ".";
    const asked = resolvePath(cwd, shown);
    const permit = permitOf(run);
    const held = hold(permit, asked, { shown });
    if (!held) return failure(`${shown} does not exist${nearbyNames(permit, cwd, asked)}`);
    try {
      const isTree = held.stat.isDirectory();
      if (!isTree && !held.stat.isFile()) throw notRegular(shown);
      const glob = input.glob === undefined ? undefined : pathMatcher(input.glob);
      const isWanted = (file: string) =>
        glob?.(file) !== false && !(isTree && (leavesOut(permit, join(held.real, file)) || isKept(permit, held, file)));
      const found = new Found(isWanted, input.mode === "files");
      const search = { input, signal, found };
      const { code, error } = isTree
        ? await searchTree(permit, held, search)
        : await searchHeld([{ held, name: basename(asked) }], search);
      if (signal.aborted) return failure("interrupted");
      if (code === 2 && found.files.size === 0) return failure(error || "the search failed");
      const base = isTree ? asked : dirname(asked);
      return {
        content: found.show(input.mode ?? "content", (file) => printablePath(displayPath(cwd, join(base, file)))),
      };
    } finally {
      release(held);
    }
  },
});

/** A person decides who reads a secret, and nobody decided on the files of a tree one by one. Not even counted: a count would answer questions. */
function isKept(permit: Permit, tree: OpenFile, file: string): boolean {
  const from = isInside(permit.root, tree.real) ? permit.root : dirname(tree.real);
  return isSecret(relative(from, join(tree.real, file)).split(sep));
}

interface Search {
  input: GrepInput;
  signal: AbortSignal;
  found: Found;
}

async function searchTree(permit: Permit, dir: OpenFile, search: Search): Promise<RipgrepResult> {
  const { input, signal, found } = search;
  const began = Date.now();
  const result = await ripgrep([...flags(input), "-e", input.pattern, "--", "./"], {
    cwd: pathOf(dir),
    signal,
    onLine: (line) => found.add(line),
  });
  if (signal.aborted) return result;
  const order = newestFirst(dir, [...found.files.keys()]);
  const settled = unchangedSince(permit, dir, order.slice(0, SHOWN), began);
  const unsure = order.slice(0, SHOWN).filter((file) => !settled.has(file));
  found.keep(order, settled);
  if (unsure.length > 0) await searchAgain(permit, dir, unsure, search);
  return result;
}

/** Files in folders that changed while ripgrep ran: once more, each held. */
async function searchAgain(permit: Permit, dir: OpenFile, files: string[], search: Search): Promise<void> {
  const held = files.flatMap((name) => {
    const file = holdFound(permit, dir, name);
    return file ? [{ held: file, name }] : [];
  });
  try {
    if (held.length > 0) await searchHeld(held, search);
  } finally {
    for (const file of held) release(file.held);
  }
}

/** By open files, never by name. */
function searchHeld(files: { held: OpenFile; name: string }[], search: Search): Promise<RipgrepResult> {
  const { input, signal, found } = search;
  const names = new Map(files.map(({ held, name }, i) => [inChild(held, 3 + i), name]));
  return ripgrep([...flags(input), "-e", input.pattern, "--", ...names.keys()], {
    cwd: "/",
    signal,
    fds: files.map(({ held }) => held.fd),
    onLine: (line) => found.add(line, names),
  });
}

const inChild = (held: OpenFile, fd: number): string => (held.viaProc ? byNumber(fd) : `/dev/fd/${fd}`);

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
  private readonly isWanted: (file: string) => boolean;
  private readonly namesOnly: boolean;
  private isTorn = false;
  private order: string[] = [];
  private kept = 0;
  private dropped = 0;

  constructor(isWanted: (file: string) => boolean, namesOnly: boolean) {
    this.isWanted = isWanted;
    this.namesOnly = namesOnly;
  }

  /** `names`: of files that ripgrep knows by number. */
  add(line: string, names?: Map<string, string>): void {
    if (line === "--") return; // between two places
    const isTorn = this.isTorn;
    this.isTorn = !this.namesOnly && !line.includes("\0");
    if (isTorn || this.isTorn) return; // a name with a line feed in it: neither half is one
    const nul = line.includes("\0") ? line.indexOf("\0") : line.length;
    const said = line.slice(0, nul);
    const file = names ? names.get(said) : said.replace(/^\.\//, "");
    if (file === undefined) return;
    const lines = this.files.get(file);
    if (!lines && !this.isWanted(file)) return;
    if (this.kept++ >= MAX_KEPT) {
      this.dropped++;
      return;
    }
    const rest = line.slice(nul + 1);
    if (lines) lines.push(rest);
    else this.files.set(file, [rest]);
  }

  /** Of the files so far only these, shown in this order; what lies behind the first ones is only counted. */
  keep(order: string[], settled: Set<string>): void {
    this.order = order;
    order.forEach((file, i) => {
      if (settled.has(file)) return;
      if (i >= SHOWN) this.dropped += this.files.get(file)?.length ?? 0;
      this.files.delete(file);
    });
  }

  show(mode: NonNullable<GrepInput["mode"]>, name: (file: string) => string): string {
    const order = this.order.length > 0 ? this.order : [...this.files.keys()];
    const all = order.flatMap((file) => {
      const lines = this.files.get(file);
      if (!lines) return [];
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
