// A name of a file for any text: ids and names come from stores that others write to, and none of them may lead out of its folder.
import { createHash } from "node:crypto";

/** What file systems take for one name is 255 bytes; the rest is for what is put before and behind it. */
const MOST = 200;

/** Contract: one component of a path, never `.` or `..`, another one for another text; an id of the house stays as it is. */
export function fileName(text: string): string {
  const safe = text
    .replace(/^\.|[^A-Za-z0-9._-]/gu, (char) => [...Buffer.from(char)].map((byte) => `%${hex(byte)}`).join(""))
    .replace(/^$/, "%");
  if (safe.length <= MOST) return safe;
  return `${safe.slice(0, MOST - 66)}%~${createHash("sha256").update(text).digest("hex")}`;
}

const hex = (byte: number): string => byte.toString(16).padStart(2, "0");
