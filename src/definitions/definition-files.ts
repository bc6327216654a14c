// Which files of a place are definitions: those in its subfolders too, each folder once, within bounds.
import fs from "node:fs";
import path from "node:path";

const MOST_FOLDERS = 200;
const DEEPEST = 8;

export interface DefinitionFiles {
  /** Relative to the place; those of an upper folder first, then by name. */
  files: string[];
  /** There are folders that were not looked into. */
  isCut: boolean;
}

/** Contract: ends on any tree. Links are followed, and a folder that several lead to is looked into once. */
export function definitionFiles(dir: string): DefinitionFiles {
  const files: string[] = [];
  const seen = new Set<string>();
  let level = [""];
  for (let depth = 0; level.length > 0; depth++) {
    const below: string[] = [];
    for (const folder of level) {
      if (seen.size >= MOST_FOLDERS || depth > DEEPEST) return { files, isCut: true };
      const real = realFolder(path.join(dir, folder));
      if (real === undefined || seen.has(real)) continue;
      seen.add(real);
      for (const entry of entriesOf(real)) {
        const name = path.join(folder, entry.name);
        if (entry.name.endsWith(".md") && !isFolder(entry, real)) files.push(name);
        else if (!isLeftOut(entry.name) && isFolder(entry, real)) below.push(name);
      }
    }
    level = below;
  }
  return { files, isCut: false };
}

/** A repository that the folder was cloned from brings these, and nobody keeps agents in them. */
const isLeftOut = (name: string): boolean => name.startsWith(".") || name === "node_modules";

function isFolder(entry: fs.Dirent, parent: string): boolean {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  try {
    return fs.statSync(path.join(parent, entry.name)).isDirectory();
  } catch {
    return false; // it leads nowhere, or round and round
  }
}

function realFolder(dir: string): string | undefined {
  try {
    return fs.realpathSync(dir);
  } catch {
    return undefined;
  }
}

function entriesOf(dir: string): fs.Dirent[] {
  try {
    return fs.readdirSync(dir, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}
