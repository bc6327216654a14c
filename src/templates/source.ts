// The text of one template file and how a mistake in it is reported: file, line, column, and what to do.
import { type ErrorCode, HoldfastError } from "../ledger/error.ts";
import { nearestName } from "../text/similarity.ts";

export interface Source {
  readonly file: string;
  /** Without byte order mark, lines end in \n. */
  readonly text: string;
  line(at: number): number;
  position(at: number): { line: number; column: number };
}

export function createSource(file: string, raw: string): Source {
  const text = (raw.startsWith("\uFEFF") ? raw.slice(1) : raw).replaceAll("\r\n", "\n");
  let known: number[] | undefined;
  const startsOf = (): number[] => {
    known ??= lineStarts(text);
    return known;
  };
  const line = (at: number): number => {
    const starts = startsOf();
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= at) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };
  return {
    file,
    text,
    line,
    // Characters, not UTF-16 units: an emoji is one column.
    position: (at) => ({ line: line(at), column: [...text.slice(startsOf()[line(at) - 1], at)].length + 1 }),
  };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** The error for something at an offset. `what` has no full stop; `advice` is a sentence. */
export function problem(
  source: Source,
  at: number,
  what: string,
  advice: string,
  more: { code?: ErrorCode; detail?: Record<string, unknown>; cause?: unknown } = {},
): HoldfastError {
  const { line, column } = source.position(at);
  return new HoldfastError(more.code ?? "invalid", `${source.file}:${line}:${column}: ${what}. ${advice}`, {
    detail: { file: source.file, line, column, ...more.detail },
    ...(more.cause === undefined ? {} : { cause: more.cause }),
  });
}

const SHOWN = 60;

/** Text from anywhere, safe in a message of one line. */
export function quotedSource(text: string): string {
  const characters = [...text.slice(0, 2 * SHOWN + 1)];
  const shown = characters.length > SHOWN ? `${characters.slice(0, SHOWN).join("")}…` : text;
  return JSON.stringify(shown).replace(/[\u007f-\u009f\u2028\u2029]/g, " ");
}

/** ` (did you mean "topic"?)` or "". */
export function didYouMean(wanted: string, names: Iterable<string>): string {
  const near = nearestName(wanted, names);
  return near === undefined ? "" : ` (did you mean ${quotedSource(near)}?)`;
}
