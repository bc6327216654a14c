// Where Holdfast itself is installed: what its next start runs, which its commands must not change.
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isInside } from "../../file-access/paths.ts";
import { type Link, linkAt } from "./linked.ts";
import { entriesOfDir, exists, isFile, realOr } from "./mounts.ts";

export interface OwnInstall {
  /** Our package. */
  package: string;
  /** The program that runs us. */
  node: string;
}

/** What a start of ours runs. */
const RUN = ["bin", "dist"];

/** Undefined where it cannot be told: built into another program. */
export function ownInstall(): OwnInstall | undefined {
  for (let dir = dirname(realOr(fileURLToPath(import.meta.url))); dir !== dirname(dir); dir = dirname(dir)) {
    try {
      const { name } = JSON.parse(readFileSync(join(dir, "package.json"), "utf8"));
      return name === "holdfast" ? { package: dir, node: realOr(process.execPath) } : undefined;
    } catch {} // further up
  }
  return undefined;
}

export interface OwnPlaces {
  /** Read-only in whatever tree they lie. */
  paths: string[];
  /** Names that lead to us: nothing can be mounted on a link, so they are put back. */
  links: Link[];
}

/**
 * Of a tree that commands may write. A package of ours that lies in it is read-only as a whole; of a tree that is itself our package,
 * or a part of it, what a start runs. `allowed`: directories that the user gave to commands by name.
 */
export function ownPlacesIn(tree: string, own: OwnInstall, allowed: readonly string[]): OwnPlaces {
  const isAllowed = (path: string) => allowed.includes(path) || allowed.includes(own.package);
  const ours = isInside(own.package, tree) ? RUN.map((name) => join(own.package, name)) : [own.package];
  const stores = [join(own.package, "node_modules"), ...storesAbove(own.package)];
  const names = stores
    .map((store) => join(store, ".bin", "holdfast"))
    .concat(stores.map((store) => join(store, "holdfast")));
  const paths = [...ours, own.node, ...names.filter(isFile), ...stores.flatMap(searchers)].filter(
    (path) => path !== tree && isInside(tree, path) && exists(path) && !isAllowed(path),
  );
  const links = names
    .filter((path) => isInside(tree, path) && !isAllowed(path))
    .filter((path) => realOr(path) !== path && isInside(own.package, realOr(path)))
    .map(linkAt);
  return { paths: [...new Set(paths)], links };
}

/** Where packages beside ours are. */
function storesAbove(own: string): string[] {
  const stores: string[] = [];
  for (let dir = dirname(own); dir !== dirname(dir); dir = dirname(dir))
    if (basename(dir) === "node_modules") stores.push(dir);
  return stores;
}

/** The one program of another package that runs outside: grep and glob are made of it. */
const searchers = (store: string): string[] =>
  entriesOfDir(join(store, "@vscode"))
    .filter((name) => name.startsWith("ripgrep"))
    .map((name) => realOr(join(store, "@vscode", name)));
