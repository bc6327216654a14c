// What is seen of the user's git configuration: names, aliases and habits, no credentials. Each file is seen at its own place.
import { closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { isInside } from "../../file-access/paths.ts";
import { withoutCredentials } from "./git-config-text.ts";
import { changedAt, guardAt, type MountLayer, realOr } from "./mounts.ts";
import { GIT_CONFIGS } from "./sandbox-places.ts";

const MOST_BYTES = 1 << 20;
const MOST_FILES = 32;
const SYSTEM = "/etc/gitconfig";

export interface GitConfigView {
  layers: MountLayer[];
  /** What it was made of: others in their place, or changed ones, are another view. */
  files: string[];
}

/** `dir` keeps what is shown in place of files with credentials; `trees` show their own files as they are. */
export function gitConfigView(
  [home, config]: [home: string, config: string | undefined],
  dir: string,
  trees: readonly string[],
): GitConfigView {
  const wanted = [SYSTEM, ...GIT_CONFIGS.map((name) => join(home, name))];
  if (config !== undefined) wanted.push(join(config, "git/config"));
  const files: string[] = [];
  const layers: MountLayer[] = [];
  for (const file of wanted) {
    if (files.length >= MOST_FILES || files.includes(file)) continue;
    files.push(file);
    const text = readText(file);
    if (text === undefined) continue;
    const shown = text === null ? undefined : withoutCredentials(text);
    for (const path of shown?.includes ?? []) wanted.push(includedBy(file, path, home));
    const isSeen = trees.some((tree) => isInside(tree, file)) || !isInside(home, file);
    if (isSeen && shown?.dropped === false) continue;
    if (trees.some((tree) => isInside(tree, file) && !isInside(tree, home))) continue;
    const whole = shown?.dropped === false ? file : undefined;
    const without = shown && !whole ? keep(dir, files.length, shown.text) : "/dev/null";
    layers.push(guardAt(isSeen ? realOr(file) : file, whole ?? without)); // nothing is mounted on a link
  }
  return { layers, files };
}

export const changesOf = (view: GitConfigView): string => view.files.map(changedAt).join();

function includedBy(file: string, path: string, home: string): string {
  if (path.startsWith("~/")) return join(home, path.slice(2));
  return isAbsolute(path) ? path : resolve(dirname(file), path);
}

/** Undefined: nothing to show. Null: too much to look through. */
function readText(file: string): string | null | undefined {
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return undefined;
    return stat.size <= MOST_BYTES ? readFileSync(fd, "utf8") : null;
  } finally {
    closeSync(fd);
  }
}

/** One that is there already stays the same file: what shows it goes on showing it. */
function keep(dir: string, number: number, text: string): string {
  const file = join(dir, `${number}`);
  if (readText(file) === text) return file;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return file;
}
