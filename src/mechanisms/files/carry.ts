// The files that an agent has read and written, for when the calls that did it are out of its view.
import { displayPath } from "../../file-access/paths.ts";
import { SEEN_SLICE, type SeenFiles } from "../../file-access/seen-files.ts";
import { own } from "../../ledger/own.ts";
import type { Carrying } from "../../loop/carry.ts";
import type { Turn } from "../../loop/seams.ts";
import { counted } from "../../text/counted.ts";
import { fittingLines } from "../../text/fitting.ts";
import { visible } from "../../text/visible.ts";

/** Of the window. */
const SHARE = 0.05;
/** As much of a hash as nobody mistakes. */
const HASH_CHARS = 12;

/** Those that it wrote first, of both the last ones first. */
export function carryFiles(turn: Pick<Turn, "agent" | "slice" | "root">, { room }: Pick<Carrying, "room">): string {
  const seen = Object.entries(own(turn.slice<SeenFiles>(SEEN_SLICE), turn.agent) ?? {});
  if (seen.length === 0) return "";
  const isWritten = ([, { wrote }]: (typeof seen)[number]) => wrote !== undefined;
  const newest = seen.toSorted(([, a], [, b]) => b.seq - a.seq);
  const lines = [...newest.filter(isWritten), ...newest.filter((one) => !isWritten(one))].map(
    ([path, { hash, ...by }]) => `- ${visible(displayPath(turn.root, path))} ${hash.slice(0, HASH_CHARS)} ${howOf(by)}`,
  );
  const rest = (count: number) => `- and ${counted(count, "more file")}: recall finds one by its path`;
  return ["Files you know, with the beginning of their sha256 when you last saw them:"]
    .concat(fittingLines(lines, room(SHARE), rest))
    .join("\n");
}

function howOf({ read, wrote, inputId }: Pick<SeenFiles[string][string], "read" | "wrote" | "inputId">): string {
  const ways = [
    ...(wrote === undefined ? [] : [`written by ${wrote}`]),
    ...(read === undefined ? [] : [`read by ${read}`]),
    ...(inputId === undefined ? [] : ["brought by an input"]),
  ];
  return ways.length === 0 ? "seen" : ways.join(", ");
}
