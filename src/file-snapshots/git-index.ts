// Reading git's index: which paths it names, and which of them are links to a commit of another repository. Runs nothing.
import fs from "node:fs";
import path from "node:path";
import type { RawPath } from "./names.ts";

export interface IndexEntry {
  path: RawPath;
  /** A commit of another repository: a submodule, or a repository that was added as if it were one. */
  isLink: boolean;
}

/** Of the index in a git directory, and of what it shares with others. Contract: throws when one cannot be understood. */
export function readIndex(gitDir: string): IndexEntry[] {
  const entries = entriesIn(fs.readFileSync(path.join(gitDir, "index")));
  for (const name of fs.readdirSync(gitDir))
    if (name.startsWith("sharedindex.")) entries.push(...entriesIn(fs.readFileSync(path.join(gitDir, name))));
  return entries;
}

/** The bytes of a name of an object: SHA-1, SHA-256. */
const HASHES = [20, 32];

function entriesIn(bytes: Buffer): IndexEntry[] {
  if (bytes.toString("latin1", 0, 4) !== "DIRC") throw new Error("not an index");
  for (const size of HASHES) {
    const found = entriesWith(bytes, size);
    if (found) return found;
  }
  throw new Error("not understood");
}

const LONG = 0xfff;
const KIND = 0xf000;
const LINK = 0xe000;

/** Versions 2 to 4. Undefined: names of objects have another size, or it is cut off. */
function entriesWith(bytes: Buffer, size: number): IndexEntry[] | undefined {
  const version = bytes.readUInt32BE(4);
  const entries: IndexEntry[] = [];
  let at = 12;
  let last = "";
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    const start = at;
    const flagsAt = start + 40 + size;
    if (flagsAt + 4 > bytes.length) return undefined;
    const flags = bytes.readUInt16BE(flagsAt);
    at = flagsAt + (version >= 3 && (flags & 0x4000) !== 0 ? 4 : 2);
    let strip = 0;
    if (version === 4) {
      let byte = bytes[at++] ?? 0; // past the end: no name ends there
      strip = byte & 127;
      while (byte & 128) {
        byte = bytes[at++] ?? 0;
        strip = ((strip + 1) << 7) | (byte & 127);
      }
    }
    const end = bytes.indexOf(0, at);
    if (end < 0) return undefined;
    last = (version === 4 ? last.slice(0, last.length - strip) : "") + bytes.toString("latin1", at, end);
    if (last.length < LONG ? (flags & LONG) !== last.length : (flags & LONG) !== LONG) return undefined;
    entries.push({ path: last, isLink: (bytes.readUInt32BE(start + 24) & KIND) === LINK });
    at = version === 4 ? end + 1 : start + ((end - start + 8) & ~7);
  }
  return entries;
}
