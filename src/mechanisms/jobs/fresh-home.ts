// The home of a command that has more than others (the network, the repository): fresh for each, so that nothing an earlier one wrote there tells programs what to do.

import { closeSync, constants, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { isInside } from "../../file-access/paths.ts";
import { errorCode } from "../../ledger/guards.ts";
import type { MountLayer } from "./mounts.ts";
import { CACHES } from "./sandbox-places.ts";

/** Where the context's own home is reached from outside the command, which sees nothing there. */
const KEPT_SEEN = "/run/holdfast-home";

export interface FreshHome {
  /** In place of the context's own home. */
  layers: MountLayer[];
  /** For each command; `all` is everything that is mounted for its kind. */
  each(all: readonly MountLayer[]): string[];
}

/** `kept` is the context's own home: of it only `caches` are seen. */
export function freshHome(home: string, kept: string, caches: readonly string[]): FreshHome {
  return {
    layers: [
      { path: home, how: "private", args: ["--tmpfs", home] },
      { path: KEPT_SEEN, how: "private", args: ["--bind", kept, KEPT_SEEN] },
    ],
    each(all) {
      const shown = mountedBelow(home, all);
      const isFree = (path: string) => !shown.some((other) => isInside(other, path) || isInside(path, other));
      const shared = caches.filter((name) => isFree(join(home, name)));
      return [
        ...["--tmpfs", home],
        ...shown.flatMap((path) => ["--bind", path, path]), // what cannot be written stays so
        // A link made meanwhile is followed only to where commands of this kind see it, too.
        ...shared.flatMap((name) => ["--bind-try", join(KEPT_SEEN, name), join(home, name)]),
        ...["--tmpfs", KEPT_SEEN],
      ];
    },
  };
}

/** Those that are there, or could be made: a command may have put anything in their way. */
export const cachesIn = (kept: string): string[] => CACHES.filter((name) => makeBelow(kept, name));

/** What lies deeper comes with it. */
function mountedBelow(home: string, all: readonly MountLayer[]): string[] {
  const paths = all
    .filter(({ path, how, args }) => how !== "mask" && args.length > 0 && path !== home && isInside(home, path))
    .map(({ path }) => path);
  return [...new Set(paths)].filter((path) => !paths.some((other) => other !== path && isInside(other, path)));
}

/** Whatever commands made of the way there: no link is followed, and what is in the way stays. */
function makeBelow(dir: string, name: string): boolean {
  const opened: number[] = [];
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  const open = (path: string): string => {
    const fd = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    opened.push(fd);
    return `/proc/self/fd/${fd}`;
  };
  try {
    let at = open(dir);
    for (const part of name.split("/")) {
      makeOne(`${at}/${part}`);
      at = open(`${at}/${part}`);
    }
    return true;
  } catch {
    return false;
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

function makeOne(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
}
