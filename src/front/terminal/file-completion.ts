// The files and folders of the project that fit what was typed after `@`. .gitignore is respected.
import { setImmediate } from "node:timers/promises";
import { fuzzyMatch } from "@earendil-works/pi-tui/dist/fuzzy.js";
import { ripgrep } from "../../file-access/ripgrep.ts";

export interface FileCompletion {
  /** The best first; folders end in `/`. Contract: nothing after the signal, and it never throws. */
  files(query: string, signal: AbortSignal): Promise<string[]>;
}

export interface FileCompletionOptions {
  root: string;
  /** Ends what still runs. */
  signal: AbortSignal;
  /** At most so many files are listed. */
  most?: number;
  /** How long a listing is good for. */
  keptMs?: number;
}

const MOST_FILES = 50_000;
const KEPT_MS = 5_000;
const MOST_GIVEN = 50;
/** So many are judged before keys get their turn again. */
const AT_ONCE = 2_000;

export function createFileCompletion(opts: FileCompletionOptions): FileCompletion {
  const { root, most = MOST_FILES, keptMs = KEPT_MS } = opts;
  let listing: { began: number; paths: Promise<string[]> } | undefined;

  /** One for all who ask while it is fresh: each key asks, and only the first waits for the disk. */
  function paths(): Promise<string[]> {
    if (!listing || Date.now() - listing.began > keptMs)
      listing = { began: Date.now(), paths: listed(root, most, opts.signal) };
    return listing.paths;
  }

  return {
    async files(query, signal) {
      if (signal.aborted) return [];
      const all = await Promise.race([paths(), aborted(signal)]);
      return best(all, query, signal);
    },
  };
}

const aborted = (signal: AbortSignal): Promise<string[]> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve([]), { once: true }));

async function listed(root: string, most: number, signal: AbortSignal): Promise<string[]> {
  const enough = new AbortController();
  const files: string[] = [];
  const onLine = (line: string): void => {
    // What cannot be shown as it is cannot be typed either.
    if (files.length < most && !/[\p{Cc}\p{Cf}]/u.test(line)) files.push(line.replace(/^\.\//, ""));
    if (files.length >= most) enough.abort();
  };
  // What was found until an error, or the bound, is still worth offering.
  await ripgrep(["--files"], { cwd: root, signal: AbortSignal.any([signal, enough.signal]), onLine }).catch(() => {});
  return [...foldersOf(files), ...files];
}

function foldersOf(files: string[]): Set<string> {
  const folders = new Set<string>();
  for (const file of files)
    for (let end = file.lastIndexOf("/"); end > 0; end = file.lastIndexOf("/", end - 1)) {
      const folder = file.slice(0, end + 1);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  return folders;
}

async function best(paths: string[], query: string, signal: AbortSignal): Promise<string[]> {
  const parts = query.split(/[\s/]+/).filter((part) => part !== "");
  const found: { path: string; score: number }[] = [];
  for (let from = 0; from < paths.length; from += AT_ONCE) {
    if (from > 0) await setImmediate();
    if (signal.aborted) return [];
    for (const path of paths.slice(from, from + AT_ONCE)) {
      const score = scoreOf(path, parts);
      if (score !== undefined) found.push({ path, score });
    }
  }
  found.sort((a, b) => a.score - b.score || a.path.length - b.path.length || (a.path < b.path ? -1 : 1));
  return found.slice(0, MOST_GIVEN).map(({ path }) => path);
}

/** The lower the better; undefined: it does not fit. A name counts more than the folders above it, and so does a path that is near. */
function scoreOf(path: string, parts: string[]): number | undefined {
  const bare = path.replace(/\/$/, "");
  const depth = bare.split("/").length;
  let score = depth;
  for (const part of parts) {
    const match = fuzzyMatch(part, bare);
    if (!match.matches) return undefined;
    score += match.score;
  }
  const name = bare.slice(bare.lastIndexOf("/") + 1).toLowerCase();
  const last = parts.at(-1)?.toLowerCase() ?? "";
  if (last !== "" && name.includes(last)) score -= name.startsWith(last) ? 60 : 30;
  return score;
}
