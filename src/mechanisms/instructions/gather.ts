// Reading instructions: each file once, with the files it imports behind it, within bounds; and what is not read, with its reason.
import { isUtf8 } from "node:buffer";
import fs from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { isInside, realPath } from "../../file-access/paths.ts";
import { hold, readHeld, release } from "../../file-access/safe-open.ts";
import { isSecret, isSecretIn } from "../../file-access/secret-names.ts";
import { hashOf } from "../../file-access/seen-files.ts";
import { messageOf } from "../../ledger/error.ts";
import { pathMatcher } from "../../text/glob.ts";
import { type InstructionsPlace, isRule, withTilde } from "./files.ts";
import { importsIn } from "./imports.ts";

export interface Instructions {
  /** Its real path. */
  file: string;
  shown: string;
  why: string;
  text: string;
  hash: string;
  /** The real path of the file that imports it. */
  importedBy?: string;
  /** A rule: only for these paths, relative to the folder that its `.claude` lies in. */
  paths?: string[];
  base?: string;
}

export interface Gathered {
  loaded: Instructions[];
  leftOut: { shown: string; why: string }[];
}

export interface GatherOptions {
  /** Where it may lead, as real paths: a repository's file is no way out of it. Undefined: a person's own file. */
  within?: readonly [string, ...string[]];
  home: string;
  /** What an agent has already, by hash and by real path: it is not read twice. */
  known?: readonly Pick<Instructions, "file" | "hash" | "shown">[];
}

const MOST_BYTES = 100_000;
const MOST_TOGETHER = 300_000;
const MOST_HOPS = 4;

/** Contract: reads nothing that the places do not name or import; what is not there is not spoken of. */
export async function gather(places: readonly InstructionsPlace[], opts: GatherOptions): Promise<Gathered> {
  const gathered: Gathered = { loaded: [], leftOut: [] };
  let together = 0;
  const take = async (place: InstructionsPlace, hops: number): Promise<void> => {
    const { shown } = place;
    const found = await readOne(place, opts, { isImport: hops > 0 });
    if (!found) return;
    const why = "why" in found ? found.why : refusalOf(found.read, hops);
    if (why !== undefined || "why" in found)
      return void gathered.leftOut.push({ shown, why: hops > 0 ? `${why} (${place.why})` : (why ?? "") });
    const { read } = found;
    together += read.text.length;
    if (read.text !== "") gathered.loaded.push(read);
    for (const name of importsIn(read.text)) await take(importOf(name, read, opts), hops + 1);
  };
  const refusalOf = (read: Instructions, hops: number): string | undefined => {
    const same = [...(opts.known ?? []), ...gathered.loaded].find(
      ({ file, hash }) => file === read.file || hash === read.hash,
    );
    if (same) return same.shown === read.shown ? "it is read already" : `the same as ${same.shown}`;
    if (hops > MOST_HOPS) return `imported over more than ${MOST_HOPS} files`;
    if (together + read.text.length > MOST_TOGETHER) return `more than ${MOST_TOGETHER / 1000} kB of instructions`;
    return undefined;
  };
  for (const place of places) await take(place, 0);
  return gathered;
}

function importOf(name: string, from: Instructions, { home, within }: GatherOptions): InstructionsPlace {
  const file = name.startsWith("~/") ? join(home, name.slice(2)) : resolve(dirname(from.file), name);
  const near = within !== undefined && isInside(within[0], file);
  const shown = near ? join(dirname(from.shown), relative(dirname(from.file), file)) : withTilde(file, home);
  return { file, shown, why: `imported by ${from.shown}`, importedBy: from.file };
}

type Read = { read: Instructions } | { why: string } | undefined;

async function readOne(
  { file, shown, why, base, importedBy }: InstructionsPlace,
  { within }: GatherOptions,
  { isImport }: { isImport: boolean },
): Promise<Read> {
  try {
    const found = within === undefined ? readOwn(file) : readWithin(file, shown, within);
    if (!found) return undefined;
    const isHidden = isImport ? isSecret(found.real.split("/").slice(1)) : isSecretBelow(found.real, within);
    if (isHidden) return { why: "it is a place of secrets" };
    if (!isUtf8(found.content)) return { why: "it is not text in UTF-8" };
    const whole = found.content
      .toString("utf8")
      .replace(/^\ufeff/, "")
      .replaceAll("\r\n", "\n");
    const read = isRule(file) ? (await import("./rule.ts")).readRule(whole) : { text: whole };
    if ("says" in read) return { why: read.says };
    const { text, paths } = read;
    const hash = hashOf(Buffer.from(text.trim()));
    return {
      read: {
        file: found.real,
        shown,
        why,
        text: text.trim(),
        hash,
        ...(importedBy && { importedBy }),
        ...(paths && { paths, base: base ?? "" }),
      },
    };
  } catch (error) {
    return { why: messageOf(error) };
  }
}

/** `AGENTS.md` may be a link: what it leads to is asked about, as if it were read by a tool. A person's own file is a person's word. */
const isSecretBelow = (real: string, within: readonly string[] = []): boolean =>
  within.some((root) => isInside(root, real) && isSecretIn(root, real));

type Found = { real: string; content: Buffer } | undefined;

function readOwn(file: string): Found {
  const stat = fs.statSync(file, { throwIfNoEntry: false });
  if (!stat || stat.isDirectory()) return undefined;
  checkFile(stat);
  return { real: realPath(file), content: fs.readFileSync(file) };
}

function readWithin(file: string, shown: string, within: readonly [string, ...string[]]): Found {
  const held = hold({ root: within[0], roots: [...within], exclude: [], judged: undefined }, file, { shown });
  if (!held) return undefined;
  try {
    if (held.stat.isDirectory()) return undefined;
    checkFile(held.stat);
    return { real: held.real, content: readHeld(held, shown) };
  } finally {
    release(held);
  }
}

function checkFile(stat: fs.Stats): void {
  if (!stat.isFile()) throw new Error("it is not a regular file");
  if (stat.size > MOST_BYTES)
    throw new Error(`it has ${Math.ceil(stat.size / 1000)} kB, and instructions at most ${MOST_BYTES / 1000}`);
}

/** Whether a rule is for this file. `root`: what the patterns of a person's own rules are relative to. */
export function isFor({ paths, base }: Pick<Instructions, "paths" | "base">, file: string, root: string): boolean {
  const from = base || root;
  return (
    paths === undefined || (isInside(from, file) && paths.some((pattern) => pathMatcher(pattern)(relative(from, file))))
  );
}
