// What is seen of the home: installed tools, none of its credentials.

import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { isInside } from "../../file-access/paths.ts";
import { isSecret, plainSecrets } from "../../file-access/secret-names.ts";
import { monotonicMs } from "../../ledger/holder.ts";
import { exists, type MountLayer, mask, maskAt, pinned, realOr } from "./mounts.ts";
import { PACKAGES, PRIVATE, TOOLS } from "./sandbox-places.ts";

const AFRESH_MS = 1_000;
const DEEPEST = 6;
const MOST_LOOKED_AT = 5_000;
/** Certificates of others are no secrets, and nothing works without them. */
const CERTIFICATES =
  /(?:^|[-_.])(?:ca|cacerts?|certs?|bundle|chain|roots?|public)[-_.].*\.pem$|^cacerts?\.pem$|^cert\.pem$|\.asc$/i;

/** Where tools are installed, with what is masked in each. Looked through anew at most every second. */
export function createTools(home: string): () => MountLayer[] {
  let last: { at: number; tools: MountLayer[] } | undefined;
  return () => {
    if (!last || monotonicMs() - last.at > AFRESH_MS) last = { at: monotonicMs(), tools: shownTools(home) };
    return last.tools;
  };
}

function shownTools(home: string): MountLayer[] {
  return TOOLS.flatMap(([folder, shown]) =>
    (shown?.split(" ") ?? [""])
      .map((name) => join(home, folder, name))
      .filter((path) => existsSync(path)) // a link that leads nowhere is nothing to mount
      .map((path) => ({
        path,
        how: "tree",
        args: ["--ro-bind", path, path, ...secretsBelow(path).flatMap(mask)],
      })),
  );
}

/** Masks for the secrets of the home, where the project's tree holds the home. In a writable tree their folders are pinned too, so that none can be moved from under its mask. */
export function secretPlacesIn(
  { tree, isWritable }: { tree: string; isWritable: boolean },
  home: string,
  unsure: ReadonlySet<string>,
): { unmade: string[]; layers: MountLayer[] } {
  if (!isInside(tree, home)) return { unmade: [], layers: [] };
  const named = [...PRIVATE, ...plainSecrets()].map((name) => join(home, name));
  const below = TOOLS.flatMap(([folder]) => secretsBelow(join(home, folder)));
  // Folders that exist, and those that several programs share; not every folder that could hold a secret.
  const parents = [...PRIVATE.map((name) => join(home, name)), ...named.filter(exists), ...below].map(dirname);
  const { unmade, layers } = pinned(tree, isWritable ? [home, ...parents] : [], unsure);
  return { unmade, layers: [...layers, ...[...named, ...below].map((path) => maskAt(realOr(path)))] };
}

/** The same where programs were told to keep their settings and data, when that is not the home: there it is not seen anyway. */
export function secretsAt(home: string, { config, data }: { config?: string; data?: string }): string[] {
  const at = (dir: string | undefined, usual: string) =>
    dir === undefined || isInside(home, dir)
      ? []
      : plainSecrets().flatMap((name) => (name.startsWith(usual) ? [join(dir, name.slice(usual.length))] : []));
  const uv = data === undefined || isInside(home, data) ? [] : [join(data, "uv/credentials")];
  return [...at(config, ".config/"), ...at(data, ".local/share/"), ...uv];
}

/** Names of secrets below a folder, as deep as tools keep their settings. */
export function secretsBelow(top: string): string[] {
  const found: string[] = [];
  let left = MOST_LOOKED_AT;
  const look = (dir: string, above: string, depth: number) => {
    for (const entry of entriesOf(dir)) {
      if (left-- <= 0) return;
      const path = join(dir, entry.name);
      if (isSecret([above, entry.name].filter(Boolean)) && !CERTIFICATES.test(entry.name)) found.push(path);
      else if (entry.isDirectory() && depth < DEEPEST && !PACKAGES.has(entry.name)) look(path, entry.name, depth + 1);
    }
  };
  look(top, basename(top), 1);
  // Nothing is mounted on a link: what it leads to is masked where it is seen.
  const real = realOr(top);
  return [...new Set(found.map(realOr))].flatMap((path) => {
    const inside = isInside(real, path);
    return real === top || !inside ? [path] : [join(top, relative(real, path)), path];
  });
}

function entriesOf(dir: string) {
  try {
    return readdirSync(dir, { withFileTypes: true });
  } catch {
    return []; // a file, or not to be read
  }
}
