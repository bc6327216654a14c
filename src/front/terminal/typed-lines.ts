// Whole lines as they are typed, for a terminal that is not drawn: edited with readline's keys, or as a dumb terminal sends them.
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { untilQuiet } from "../text/until-quiet.ts";

export interface TypedLines {
  /** What stands there of the next line, where that can be known. */
  readonly begun: string;
  /** Contract: what is typed until it resolves is dropped, but for Ctrl-C. False: the signal ended it. */
  dropUntilQuiet(signal: AbortSignal): Promise<boolean>;
  close(): void;
}

export interface TypedLinesOptions {
  input: NodeJS.ReadStream;
  write: (text: string) => void;
  columns: () => number;
  /** The terminal only takes lines: it shows by itself what is typed. */
  isDumb: boolean;
  onLine: (line: string) => void;
  /** Ctrl-C. */
  onInterrupt: () => void;
  /** Ctrl-D, or nobody is there any more. */
  onEnd: () => void;
}

export const openTypedLines = (opts: TypedLinesOptions): TypedLines =>
  opts.isDumb ? bareLines(opts) : editedLines(opts);

/** What stands before the words that are typed. */
export const PROMPT_MARK = "> ";
const CLEAR_LINE = { ctrl: true, name: "u" };
const TO_END = { ctrl: true, name: "e" };

function editedLines({ input, write, columns, onLine, onInterrupt, onEnd }: TypedLinesOptions): TypedLines {
  /** What it would draw anew is not drawn: lines are only added. */
  let isSilent = false;
  const output = new Writable({
    decodeStrings: false,
    write(text: string | Uint8Array, _, done) {
      if (!isSilent) write(typeof text === "string" ? text : Buffer.from(text).toString("utf8"));
      done();
    },
  });
  const silently = (key: { ctrl: boolean; name: string }): void => {
    isSilent = true;
    lines.write(null, key);
    isSilent = false;
  };
  Object.defineProperty(output, "columns", { get: columns });
  const lines = createInterface({ input, output, terminal: true, prompt: PROMPT_MARK });
  let isDropping = false;
  lines.on("line", (line) => isDropping || onLine(line));
  lines.on("SIGINT", onInterrupt).on("close", onEnd);
  return {
    get begun() {
      silently(TO_END);
      return lines.line;
    },
    async dropUntilQuiet(signal) {
      isDropping = true;
      try {
        return await untilQuiet(input, signal);
      } finally {
        isDropping = false;
        silently(TO_END);
        if (lines.line !== "") write("\n"); // what was begun stays above, and counts for nothing
        silently(CLEAR_LINE);
      }
    },
    close() {
      lines.removeListener("close", onEnd);
      lines.close();
    },
  };
}

const CTRL_C = "\u0003";

/** The terminal's own line: it is edited there, and shown by it. */
function bareLines({ input, write, onLine, onInterrupt, onEnd }: TypedLinesOptions): TypedLines {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let isDropping = false;
  let wasDropped = false;
  const onData = (data: Buffer | string) => {
    const text = typeof data === "string" ? data : decoder.write(data);
    if (isDropping) {
      wasDropped = true;
      if (text.includes(CTRL_C)) onInterrupt(); // as a key, while everything comes as keys
      return;
    }
    const lines = (rest + text).split(/\r?\n/);
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
  };
  input.on("data", onData).on("end", onEnd);
  input.resume();
  process.on("SIGINT", onInterrupt);
  return {
    begun: "",
    async dropUntilQuiet(signal) {
      [isDropping, wasDropped, rest] = [true, false, ""];
      // Otherwise the terminal keeps a half line to itself, and gives it with the Enter that comes later.
      if (input.isTTY) input.setRawMode(true);
      try {
        return await untilQuiet(input, signal);
      } finally {
        isDropping = false;
        if (input.isTTY) input.setRawMode(false);
        if (wasDropped) write("\n"); // the terminal may have shown the half of a line
      }
    },
    close() {
      process.removeListener("SIGINT", onInterrupt);
      input.removeListener("data", onData).removeListener("end", onEnd);
      input.pause();
    },
  };
}
