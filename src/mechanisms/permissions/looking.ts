// What judging sees of the disk; and what of it is recorded with the call, so that the same judgement can be made where the disk is another.
import { statSync } from "node:fs";
import { isFileTool } from "../../file-access/file-tools.ts";
import { realPath } from "../../file-access/paths.ts";
import type { Looked } from "../../loop/seams.ts";
import type { World } from "../../shell-policy/types.ts";

export type Look = Required<Pick<World, "realPath" | "kind" | "links">>;

export const disk: Look = { realPath, kind, links };

/** What one expects without looking: no links, no second names; of a file tool that what it names is a file, of a command that its words are no paths. */
const expected = (tool: string): Look => ({
  realPath: (path) => path,
  kind: () => (isFileTool(tool) ? "file" : "missing"),
  links: () => 1,
});

/** Contract: each path is resolved once: what is granted is what was judged, whatever was swapped since. `seen`: what was not as expected. */
export function lookingFor(
  tool: string,
  look: Look,
  judged: Map<string, string>,
): Look & { seen: () => Looked | undefined } {
  const usual = expected(tool);
  const odd: Record<string, Looked[string]> = {};
  const note = (path: string, what: Looked[string]) => {
    odd[path] = { ...odd[path], ...what };
  };
  const noted = <T>(path: string, saw: T, would: T, what: Looked[string]): T => {
    if (saw !== would) note(path, what);
    return saw;
  };
  return {
    realPath(path) {
      const real = judged.get(path) ?? look.realPath(path);
      judged.set(path, real);
      return noted(path, real, usual.realPath(path), { real });
    },
    kind(path) {
      const found = look.kind(path);
      return noted(path, found, usual.kind(path), { kind: found });
    },
    links(path) {
      const found = look.links(path);
      return noted(path, found, usual.links(path), { links: found });
    },
    seen: () => (Object.keys(odd).length > 0 ? odd : undefined),
  };
}

const KINDS = ["file", "directory", "other", "missing"] as const;

/** What was recorded, and else what one expects: nothing is looked at. */
export function seenThen(tool: string, looked: Looked = {}): Look {
  const usual = expected(tool);
  const known = (path: string): Looked[string] => (Object.hasOwn(looked, path) ? (looked[path] ?? {}) : {});
  return {
    realPath: (path) => known(path).real ?? usual.realPath(path),
    kind: (path) => KINDS.find((one) => one === known(path).kind) ?? usual.kind(path),
    links: (path) => known(path).links ?? usual.links(path),
  };
}

/** How many names a file has: one that is elsewhere too may be read or changed there. */
function links(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.nlink ?? 1;
  } catch {
    return 1;
  }
}

function kind(path: string): ReturnType<World["kind"]> {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat) return "missing";
    return stat.isFile() ? "file" : stat.isDirectory() ? "directory" : "other";
  } catch {
    return "other"; // a loop of links, no right to look: not a file one may open
  }
}
