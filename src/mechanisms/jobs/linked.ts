// Links that stand where something is protected: what they lead to is protected as they are, and they go on leading there.
import { readdirSync, readlinkSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { realOr } from "./mounts.ts";

/** A name that must lead where it leads: nothing can be mounted on a link, so it is put back. */
export interface Link {
  path: string;
  /** As it is written. */
  to: string;
  /** The name itself when it leads nowhere. */
  real: string;
}

/** In these any file may say what agents do, and may be a link. */
const FOLDERS = new Set([".claude", ".holdfast"]);
const DEEPEST = 6;
const MOST_LOOKED_AT = 2_000;

export const linkAt = (path: string): Link => ({ path, to: readlinkSync(path), real: realOr(path) });

export const leadsAsBefore = ({ path, to, real }: Link): boolean =>
  realOr(path) === real && (real !== path || linkTarget(path) === to);

/** Where it leads, or would once something is there. */
export function targetOf({ path, to, real }: Link): string {
  if (real !== path) return real;
  const target = resolve(dirname(path), to);
  return join(realOr(dirname(target)), basename(target));
}

/** Links in a protected folder, and the folders that were looked through for them. */
export function linksIn(path: string): { links: Link[]; folders: string[] } {
  const links: Link[] = [];
  const folders: string[] = [];
  let left = MOST_LOOKED_AT;
  const look = (dir: string, depth: number) => {
    folders.push(dir);
    for (const entry of entriesOf(dir)) {
      if (left-- <= 0) return;
      if (entry.isSymbolicLink()) links.push(linkAt(join(dir, entry.name)));
      else if (entry.isDirectory() && depth < DEEPEST) look(join(dir, entry.name), depth + 1);
    }
  };
  if (FOLDERS.has(basename(path))) look(realOr(path), 1);
  return { links, folders };
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function entriesOf(dir: string) {
  try {
    return readdirSync(dir, { withFileTypes: true });
  } catch {
    return []; // a file, or not to be read
  }
}
