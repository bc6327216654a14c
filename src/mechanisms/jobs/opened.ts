// Places outside the project that one call was allowed to read, and that the sandbox would hide: they are shown to that call, read-only, without their secrets.
import { join } from "node:path";
import { isInside } from "../../file-access/paths.ts";
import { isSecret, plainSecrets } from "../../file-access/secret-names.ts";
import { secretPlacesIn, secretsBelow } from "./home-view.ts";
import { exists, isDirectory, type MountLayer, maskAt, realOr, tree } from "./mounts.ts";

/**
 * Of those that were allowed the ones in `hiding`. What else is hidden stays so: /tmp is the context's own and would keep what it takes to
 * mount on; /run has the sockets of the machine. Commands change nothing there, so that what was judged is what is shown.
 */
export const opened = (outside: readonly { path: string; isOpen: boolean }[], hiding: readonly string[]): string[] =>
  outside
    .filter(({ path, isOpen }) => isOpen && hiding.some((dir) => isInside(dir, path)))
    .map(({ path }) => path)
    .filter((path) => exists(path) && realOr(path) === path && !isSecret(path.split("/").filter(Boolean)));

export function showing(path: string, home: string | undefined): MountLayer[] {
  const below = isDirectory(path) ? secretsBelow(path).map(maskAt) : [];
  if (home === undefined) return [tree(path, "--ro-bind"), ...below];
  const named = plainSecrets().map((name) => join(home, name));
  return [
    tree(path, "--ro-bind"),
    ...below,
    ...named.filter((secret) => isInside(path, secret)).map((secret) => maskAt(realOr(secret))),
    ...secretPlacesIn({ tree: path, isWritable: false }, home, new Set()).layers,
  ];
}
