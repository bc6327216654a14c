// The guess what a path that does not exist was meant to be.
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { similarity } from "../text/similarity.ts";
import { displayPath, printablePath } from "./paths.ts";
import { leavesOut, type Permit } from "./permit.ts";
import { hold, pathOf, release } from "./safe-open.ts";

const SHOWN = 3;
const ENOUGH = 0.5;

/** `; did you mean a, b?` or "". Looks beside the path, in its deepest directory that exists, where the call may look. */
export function nearbyNames(permit: Permit, cwd: string, path: string): string {
  let dir = dirname(path);
  let wanted = basename(path);
  let names = namesIn(permit, dir);
  while (!names && dirname(dir) !== dir) {
    wanted = basename(dir);
    dir = dirname(dir);
    names = namesIn(permit, dir);
  }
  const near = (names ?? [])
    .map((name) => ({ name, score: similarity(name.toLowerCase(), wanted.toLowerCase()) }))
    .filter((c) => c.score >= ENOUGH)
    .sort((a, b) => b.score - a.score)
    .slice(0, SHOWN)
    .map((c) => printablePath(displayPath(cwd, join(dir, c.name))));
  return near.length === 0 ? "" : `; did you mean ${near.join(", ")}?`;
}

function namesIn(permit: Permit, dir: string): string[] | undefined {
  try {
    const held = hold({ ...permit, judged: undefined }, dir, { shown: dir });
    if (!held) return undefined;
    try {
      return readdirSync(pathOf(held)).filter((name) => !leavesOut(permit, join(held.real, name)));
    } finally {
      release(held);
    }
  } catch {
    return undefined; // a guess is not worth an error
  }
}
