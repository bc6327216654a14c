// Owns the guess what a path that does not exist was meant to be.
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { displayPath } from "./paths.ts";
import { similarity } from "./similarity.ts";

const SHOWN = 3;
const ENOUGH = 0.5;

/** `; did you mean a, b?` or "". Looks beside the path, in its deepest directory that exists. */
export function nearbyNames(cwd: string, path: string): string {
  let dir = dirname(path);
  let wanted = basename(path);
  for (;;) {
    try {
      const names = readdirSync(dir);
      const near = names
        .map((name) => ({ name, score: similarity(name.toLowerCase(), wanted.toLowerCase()) }))
        .filter((c) => c.score >= ENOUGH)
        .sort((a, b) => b.score - a.score)
        .slice(0, SHOWN)
        .map((c) => displayPath(cwd, join(dir, c.name)));
      return near.length === 0 ? "" : `; did you mean ${near.join(", ")}?`;
    } catch {
      if (dirname(dir) === dir) return "";
      wanted = basename(dir);
      dir = dirname(dir);
    }
  }
}
