// Reading what a job printed, also while its supervisor shortens it.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { linkOf, readBytes } from "./job-files.ts";

/** Past this only head and tail are kept. */
export const OUTPUT_BYTES = 64 << 20;
/** So much of each, where the bound is not smaller. */
export const KEPT_BYTES = 1 << 20;
/** What changes while it is read is read again; a command that empties its own output all the time is not waited for. */
const MOST_LOOKS = 100;

interface Kept {
  head: Buffer;
  /** None where all is in the head. */
  tail?: Buffer;
  gone: number;
  /** Who wrote while it was cut off may have written more. */
  isExact: boolean;
}

/** All that was kept: everything, or head and tail once it had passed its bound; and in words what was not. */
export function jobOutput(attempt: string): { text: string; missing?: string } {
  const { head, tail, gone, isExact } = keptOf(attempt);
  const full = linkOf(join(attempt, "exit")) === undefined ? [] : ["the disk was full: output may be missing"];
  if (!tail) return { text: head.toString("utf8"), ...(full.length > 0 && { missing: full[0] }) };
  const bytes = `${isExact ? "" : "about "}${gone} bytes`;
  return {
    text: `${head.toString("utf8")}\n[… ${bytes} were not kept …]\n${tail.toString("utf8")}`,
    missing: [`${bytes} of its output were not kept, only the first and the last ${head.length}`, ...full].join("; "),
  };
}

/** A supervisor says in the link `cut` what it is about to do before it does it: where that did not change, nothing did that counts. */
function keptOf(attempt: string): Kept {
  for (let looks = 1; ; looks++) {
    const said = linkOf(join(attempt, "cut"));
    const kept = lookAt(attempt, said?.split(" ").map(Number));
    const isSure = !kept.wasCut && linkOf(join(attempt, "cut")) === said;
    if (isSure || looks === MOST_LOOKS) return kept;
  }
}

/** `cut` as `shorten_output` (cut-output.sh) writes it: how much is kept of each end; and, where `out` was emptied, how much was printed until then, and how long `out` was before (0: it is emptied). */
function lookAt(attempt: string, cut: number[] | undefined): Kept & { wasCut: boolean } {
  const nothing = Buffer.alloc(0);
  let out: number | undefined;
  try {
    out = openSync(join(attempt, "out"), "r");
    const size = fstatSync(out).size;
    const kept = readEnds(attempt, { out, size }, cut);
    return { ...kept, wasCut: fstatSync(out).size < size };
  } catch {
    return { head: nothing, gone: 0, isExact: true, wasCut: false }; // it printed nothing yet, or is gone
  } finally {
    if (out !== undefined) closeSync(out);
  }
}

function readEnds(attempt: string, { out, size }: { out: number; size: number }, cut: number[] | undefined): Kept {
  const [keep = KEPT_BYTES, printed, before = 0] = cut ?? [];
  // Shorter than what is kept: the command emptied it itself.
  const isWhole = cut ? printed === undefined && size <= 2 * keep : size <= OUTPUT_BYTES;
  if (isWhole) return { head: readRange(out, 0, size), gone: 0, isExact: true };
  const last = readRange(out, Math.max(0, size - keep), size);
  if (printed === undefined) return { head: readRange(out, 0, keep), tail: last, gone: size - 2 * keep, isExact: true };
  const head = readBytes(join(attempt, "out.head")) ?? Buffer.alloc(0);
  const isEmptied = before === 0 || size < before;
  const earlier = isEmptied ? readBytes(join(attempt, `out.tail.${printed}`)) : undefined;
  const tail = earlier ? Buffer.concat([earlier, last]).subarray(-keep) : last;
  const total = isEmptied ? printed + size : printed - before + size;
  return { head, tail, gone: total - head.length - tail.length, isExact: false };
}

function readRange(fd: number, from: number, to: number): Buffer {
  const bytes = Buffer.alloc(to - from);
  let at = 0;
  while (at < bytes.length) {
    const n = readSync(fd, bytes, at, bytes.length - at, from + at);
    if (n === 0) break;
    at += n;
  }
  return bytes.subarray(0, at);
}

/** New output since `from`, at most `max` bytes. */
export function outputSince(attempt: string, from: number, max: number): { text: string; next: number } {
  try {
    const fd = openSync(join(attempt, "out"), "r");
    try {
      const size = fstatSync(fd).size;
      const start = Math.max(size < from ? 0 : from, size - max); // smaller than before: it was emptied
      return { text: readRange(fd, start, size).toString("utf8"), next: size };
    } finally {
      closeSync(fd);
    }
  } catch {
    return { text: "", next: from };
  }
}
