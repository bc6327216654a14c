// Which programs a command finds that has more than others (the network, the repository): those of the machine, whatever commands put on the search path.
import { accessSync, constants } from "node:fs";
import { isAbsolute, join } from "node:path";
import { isInside } from "../../file-access/paths.ts";
import { realOr } from "./mounts.ts";

/** Where links are seen; they come first on the search path. */
const SEEN = "/run/holdfast-programs";
/** What is recognised by its name when it is granted something. */
const NAMES = "git gh glab curl wget ssh scp sftp rsync docker podman kubectl helm terraform aws gcloud az".split(" ");
/** They run what the project says anyway: one that only the project has is found there. */
const MANAGERS = "npm npx pnpm pnpx yarn bun bunx deno uv uvx poetry pdm pipenv bundle gem composer".split(" ");
/** Which one it is says where it installs: that of a virtual environment comes first. */
const INSTALLERS = ["pip", "pip3"];

interface Places {
  /** Where commands write. */
  written: readonly string[];
  /** In it, where they cannot: installed tools. */
  shown: readonly string[];
}

/**
 * Arguments of bubblewrap; none where no command can write what is searched. `npx` and virtual environments put the project in front: for such a
 * command it is not searched at all, as any name that the machine lacks (`jq`, `tree`) would be the project's to give.
 */
export function machinePrograms(searched: string, { written, shown }: Places): string[] {
  const isIn = (dirs: readonly string[], path: string) => dirs.some((dir) => isInside(dir, path));
  const isChangeable = (path: string) => [path, realOr(path)].some((one) => isIn(written, one) && !isIn(shown, one));
  if (searched === "") return []; // the shell's own
  const dirs = searched.split(":");
  const fixed = dirs.filter((dir) => isAbsolute(dir) && !isChangeable(dir));
  if (fixed.length === dirs.length) return [];
  const find = (name: string, among: string[]) => among.map((dir) => join(dir, name)).find(isProgram);
  const links = [
    ...NAMES.map((name) => {
      const among = fixed.filter((dir) => !isChangeable(join(dir, name)));
      return { name, at: find(name, among) };
    }),
    ...MANAGERS.filter((name) => !find(name, fixed)).map((name) => ({ name, at: find(name, dirs.filter(isAbsolute)) })),
    ...INSTALLERS.map((name) => ({ name, at: find(name, dirs.filter(isAbsolute)) })),
  ].flatMap(({ name, at }) => (at === undefined ? [] : ["--symlink", at, join(SEEN, name)]));
  return ["--tmpfs", SEEN, ...links, "--remount-ro", SEEN, "--setenv", "PATH", [SEEN, ...fixed].join(":")];
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
