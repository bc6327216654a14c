// What git takes for the settings of the user's repository when the harness runs it: a file made here, never the repository's own.
import { createHash } from "node:crypto";
import { mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeDir } from "../../ledger/make-dir.ts";
import { isRegistered } from "./registered.ts";

export interface Configured {
  /** What is configured for all repositories of the user, or what this one says. */
  scope: "user" | "repository";
  /** As git lists it: section and name in small letters. */
  key: string;
  value: string;
}

/** How files, names and commits are kept. None of these names a program, an address, or a file to take more settings from. */
const KEPT = new Set(
  [
    "core.filemode core.symlinks core.ignorecase core.precomposeunicode core.autocrlf core.eol core.safecrlf",
    "core.checkroundtripencoding core.excludesfile core.attributesfile core.sharedrepository core.logallrefupdates",
    "core.bigfilethreshold core.compression core.loosecompression core.sparsecheckout core.sparsecheckoutcone",
    "index.version index.sparse i18n.commitencoding merge.renames merge.renamelimit merge.directoryrenames",
    "user.name user.email user.useconfigonly author.name author.email committer.name committer.email",
  ].flatMap((line) => line.split(" ")),
);
/** The format of the repository; one would have git read another file of settings. */
const FORMAT = /^extensions\.(?!worktreeconfig$)[a-z]+$/;
/** Where objects that are missing would come from; they are never fetched from here, but known to be missing. */
const PROMISED = /^remote\.[^\n]+\.promisor$/;

/** Of the repository, in its own place. What is not there (yet) is a link that leads nowhere, which git takes for nothing. */
const SHARED = "objects refs packed-refs reftable logs info worktrees shallow HEAD lfs".split(" ");

/**
 * A folder for `GIT_COMMON_DIR`. Git reads a repository's settings in there and nowhere else, whatever branch is checked out and whatever
 * file they include: so filters, diff and merge programs, monitors, hooks and keys of the repository's own choice are not known at all.
 * Contract: `dir` is out of the reach of commands.
 */
export function settingsFor(common: string, dir: string, configured: readonly Configured[]): string {
  const text = settingsText(configured.filter(({ scope }) => scope === "repository"));
  const name = createHash("sha256").update(`${common}\0${text}`).digest("hex").slice(0, 24);
  makeDir(join(dir, ".settings"));
  const all = realpathSync.native(join(dir, ".settings"));
  const path = join(all, name);
  if (isRegistered(path)) return path;
  const fresh = mkdtempSync(join(all, "new-"));
  writeFileSync(join(fresh, "config"), text, { flush: true });
  for (const one of SHARED) symlinkSync(join(common, one), join(fresh, one));
  try {
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    if (!isRegistered(path)) throw error; // else another process was first
  }
  return path;
}

/** A new worktree shows the same part of the files. Git keeps that for each tree, where it is told to; undefined: it is not. */
export function sparseSettings(configured: readonly Configured[]): string | undefined {
  const last = (wanted: string) => configured.findLast(({ key }) => key === wanted);
  const sparse = [last("core.sparsecheckout"), last("core.sparsecheckoutcone")].filter((one) => one !== undefined);
  return sparse.length > 0 && last("extensions.worktreeconfig") ? sparse.map(written).join("") : undefined;
}

function settingsText(configured: readonly Configured[]): string {
  const kept = configured.filter(({ key }) => KEPT.has(key) || FORMAT.test(key) || PROMISED.test(key));
  const isVersioned = kept.some(({ key }) => FORMAT.test(key));
  return [`[core]\n\trepositoryformatversion = ${isVersioned ? 1 : 0}\n\tbare = false\n`, ...kept.map(written)].join(
    "",
  );
}

const written = ({ key, value }: Configured): string =>
  `[${sectionOf(key)}]\n\t${key.slice(key.lastIndexOf(".") + 1)} = ${quoted(value)}\n`;

function sectionOf(key: string): string {
  const [section = "", ...rest] = key.slice(0, key.lastIndexOf(".")).split(".");
  return rest.length === 0 ? section : `${section} "${rest.join(".").replace(/[\\"]/g, "\\$&")}"`;
}

const quoted = (value: string): string =>
  `"${value.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\t", "\\t").replaceAll("\b", "\\b")}"`;
