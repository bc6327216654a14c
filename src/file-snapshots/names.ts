// Names as the file system has them: bytes, one character each inside, and how they are shown.
import { isUtf8 } from "node:buffer";

/** A path or name whose characters are its bytes (latin1). What comes from `readdir` and goes into trees. */
export type RawPath = string;

export const rawOf = (text: string): RawPath => (isPlain(text) ? text : Buffer.from(text, "utf8").toString("latin1"));

/** As a system call takes it. */
export const atSystem = (raw: RawPath): string | Buffer => (isPlain(raw) ? raw : Buffer.from(raw, "latin1"));

/** Contract: the name itself where it is UTF-8, otherwise with its odd bytes as `\xNN`. */
export function shownOf(raw: RawPath): string {
  if (isPlain(raw)) return raw;
  const bytes = Buffer.from(raw, "latin1");
  if (isUtf8(bytes)) return bytes.toString("utf8");
  return raw.replace(/[\\\x80-\xff]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

export const joined = (dir: RawPath, name: RawPath): RawPath => (dir === "" ? name : `${dir}/${name}`);

export const parentOf = (raw: RawPath): RawPath => raw.slice(0, Math.max(0, raw.lastIndexOf("/")));

export const nameIn = (raw: RawPath): RawPath => raw.slice(raw.lastIndexOf("/") + 1);

export const isWithin = (raw: RawPath, dir: RawPath): boolean => dir === "" || raw === dir || raw.startsWith(`${dir}/`);

/** Holds a repository's own state, whoever's it is: never read, written or removed. */
export const isGitName = (name: RawPath): boolean => name.length === 4 && name.toLowerCase() === ".git";

const TEMPORARY = ".holdfast-restore-";

/** What a restore writes before it renames; a killed one leaves it behind, and nobody keeps it. */
export const temporaryName = (): RawPath => `${TEMPORARY}${process.pid}-${Math.random().toString(36).slice(2)}`;
export const isTemporary = (name: RawPath): boolean => name.startsWith(TEMPORARY);

function isPlain(text: string): boolean {
  return !/[^\x00-\x7f]/.test(text);
}
