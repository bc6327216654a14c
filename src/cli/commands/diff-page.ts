// How diffs are printed: bounded, and what is not shown is said.
import { hunks, isBinary } from "../../front/presentation/patches.ts";
import { printable } from "../../front/presentation/printable.ts";

/** Of one file or value, and of all together. */
const MAX_LINES = 400;
const MAX_LINES_IN_ALL = 5_000;

/** A file that is in no commit, or why it is not shown. */
export function newFilePatch(file: { path: string; content?: Uint8Array; bytes: number }): {
  patch?: string;
  why?: string;
} {
  const { path, content, bytes } = file;
  if (!content) return { why: `too long to show, ${bytes} bytes` };
  if (isBinary(content)) return { why: `binary, ${bytes} bytes` };
  const body = hunks("", Buffer.from(content).toString("utf8"));
  return body === undefined ? { why: "empty" } : { patch: [`--- /dev/null`, `+++ b/${path}`, body].join("\n") };
}

/** Prints what there is room for, and says what there is more of. */
export function createPage() {
  let lines = 0;
  let unshown = 0;
  const print = (text: string) => {
    lines++;
    process.stdout.write(`${printable(text)}\n`);
  };
  return {
    line: print,
    body(text: string | undefined) {
      if (text === undefined) return;
      const all = text.split("\n");
      const room = Math.max(0, Math.min(MAX_LINES, MAX_LINES_IN_ALL - lines));
      for (const one of all.slice(0, room)) print(one);
      if (all.length > room) print(`… ${all.length - room} more lines`);
      if (room === 0) unshown++;
    },
    end() {
      if (unshown > 0) process.stderr.write(`${unshown} of them without their content: --json has all\n`);
    },
    get isEmpty() {
      return lines === 0;
    },
  };
}
