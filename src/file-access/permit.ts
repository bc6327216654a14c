// What one call may touch: the project's tree and what the gate granted, without what is protected or left out.
import { relative, sep } from "node:path";
import type { ToolRun } from "../loop/seams.ts";
import { pathMatcher } from "../text/glob.ts";
import { checkName, isInside, printablePath, realPath } from "./paths.ts";
import { isProtected } from "./protected-names.ts";
import { refused } from "./refused.ts";

export interface Permit {
  /** Real path of the project's tree, for messages. */
  root: string;
  /** Real paths: the root and what the gate granted, files or directories. */
  roots: string[];
  exclude: ((real: string) => boolean)[];
  /** What the gate judged; undefined where no gate said. */
  judged: string | undefined;
}

/** Never opened, whoever grants it: reading there may block, and changing is not writing a file. */
const KERNEL = /^\/(proc|dev)(\/|$)/;

export function permitOf({ root, grants }: Pick<ToolRun, "root" | "grants">): Permit {
  const real = realPath(root);
  // Absent in what an older version recorded, and in programs that run a tool without a gate.
  const { paths = [], exclude = [], judged } = grants ?? {};
  return { root: real, roots: [real, ...paths], exclude: exclude.map(excluder), judged };
}

/** Contract: throws `refused` unless this real path may be touched. A grant of a directory does not open what is protected below it. */
export function demand(permit: Permit, real: string, opts: { shown: string; writes: boolean }): void {
  const shown = printablePath(opts.shown);
  if (KERNEL.test(real)) throw refused(`${shown} belongs to the kernel; look at it with bash`);
  if (permit.judged !== undefined && !isInside(permit.judged, real)) throw changing(opts.shown);
  let reason: string | undefined;
  for (const root of permit.roots) {
    if (!isInside(root, real)) continue;
    const below = real.startsWith(`${root}/`) ? real.slice(root.length + 1) : relative(root, real);
    reason = opts.writes ? isProtected(below.split(sep)) : undefined;
    if (reason !== undefined) continue;
    checkName(below);
    if (leavesOut(permit, real)) throw refused(`${shown} is denied by a rule`);
    return;
  }
  throw refused(
    reason === undefined ? `${shown} is outside ${permit.root}` : `${shown} is protected from file tools: ${reason}`,
  );
}

/** Whatever was swapped since the gate looked: a link to another place, inside too, is not followed. */
export const changing = (shown: string) =>
  refused(`${printablePath(shown)} was changed by someone else at this moment; look again`);

/** Whether something inside is left out; false for most calls, without looking. */
export const leavesOut = (permit: Permit, real: string): boolean => permit.exclude.some((covers) => covers(real));

export function allows(permit: Permit, real: string): boolean {
  try {
    demand(permit, real, { shown: real, writes: false });
    return true;
  } catch {
    return false;
  }
}

/** A real path covers what is below it; with `*`, `?`, `[` or `{` it is a pattern of real paths. */
function excluder(entry: string): (real: string) => boolean {
  const patterns = /[*?[{]/.test(entry) ? [pathMatcher(entry), pathMatcher(`${entry}/**`)] : [];
  return (real) => isInside(entry, real) || patterns.some((matches) => matches(real.slice(1)));
}
