// One transcript as a file: private, appended to, and after a kill in mid-line whole again up to its last line.
import fs from "node:fs";
import path from "node:path";
import { isRecord } from "../../ledger/guards.ts";
import type { LineMark } from "./transcript-lines.ts";

/** By these one sees that nobody has written to it since. */
export interface TranscriptPlace {
  inode: number;
  size: number;
}

export interface LastLine {
  /** As it stands in the file. */
  written: string;
  line: { cwd: string; version: string; parentUuid: string | null; holdfast: LineMark };
  place: TranscriptPlace;
}

const BLOCK = 1 << 16;
const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR, O_WRONLY } = fs.constants;

export function transcriptPlace(file: string): TranscriptPlace | undefined {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false });
  return stat?.isFile() ? { inode: stat.ino, size: stat.size } : undefined;
}

/** Undefined: no such file, nothing in it, or its last line is none of ours. What is behind the last line is cut off. */
export function lastLine(file: string): LastLine | undefined {
  const place = transcriptPlace(file);
  if (!place) return undefined;
  const fd = fs.openSync(file, O_RDWR | O_NOFOLLOW);
  try {
    const tail = tailOf(fd, place.size);
    const end = tail.lastIndexOf("\n") + 1;
    if (end === 0) return undefined;
    const whole = place.size - (tail.length - end);
    if (whole < place.size) fs.ftruncateSync(fd, whole);
    const written = tail.subarray(tail.lastIndexOf("\n", end - 2) + 1, end).toString("utf8");
    const line = parsed(written);
    return line && { written, line, place: { ...place, size: whole } };
  } finally {
    fs.closeSync(fd);
  }
}

/** As much of the end as holds the last whole line, and what is behind it. */
function tailOf(fd: number, size: number): Buffer {
  for (let length = Math.min(size, BLOCK); ; length = Math.min(size, length * 2)) {
    const tail = Buffer.alloc(length);
    fs.readSync(fd, tail, 0, length, size - length);
    const end = tail.lastIndexOf("\n");
    if (length === size || (end > 0 && tail.lastIndexOf("\n", end - 1) >= 0)) return tail;
  }
}

function parsed(text: string): LastLine["line"] | undefined {
  try {
    const line: unknown = JSON.parse(text);
    const { cwd, version, parentUuid, holdfast } = isRecord(line) ? line : {};
    const known = typeof cwd === "string" && typeof version === "string" && isMark(holdfast);
    return known && (parentUuid === null || typeof parentUuid === "string")
      ? { cwd, version, parentUuid, holdfast }
      : undefined;
  } catch {
    return undefined;
  }
}

const isMark = (value: unknown): value is LineMark => isRecord(value) && typeof value.seq === "number" && value.seq > 0;

/** Goes on with what is there; without `place` another file takes its place once it is whole. */
export async function writeLines(
  file: string,
  place: TranscriptPlace | undefined,
  lines: Lines,
): Promise<TranscriptPlace> {
  if (!place) fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const at = place ? file : `${file}.tmp`;
  if (!place) fs.rmSync(at, { force: true });
  const fd = fs.openSync(at, (place ? O_APPEND : O_CREAT | O_EXCL) | O_WRONLY | O_NOFOLLOW, 0o600);
  try {
    let held = "";
    for await (const line of lines) {
      held += line;
      if (held.length < BLOCK) continue;
      fs.writeFileSync(fd, held);
      held = "";
    }
    if (held !== "") fs.writeFileSync(fd, held);
  } finally {
    fs.closeSync(fd);
  }
  if (!place) fs.renameSync(at, file);
  return transcriptPlace(file)!;
}

type Lines = Iterable<string> | AsyncIterable<string>;
