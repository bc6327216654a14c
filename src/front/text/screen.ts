// The terminal while a turn runs: what is printed, the reply as it streams, one status line below, and questions that nothing runs over.
import type { Writable } from "node:stream";
import { isDumb } from "../presentation/style.ts";

const CLEAR = "\r\u001b[K";
const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const TICK_MS = 120;

/** Whether standard error shows what is going on: a terminal that is more than a line printer, and text is wanted. */
export const isLiveTerminal = (outputFormat = "text"): boolean =>
  outputFormat === "text" && process.stderr.isTTY === true && !isDumb(process.env);

export interface Screen {
  /** Standard error is a terminal whose cursor may be moved. */
  readonly isLive: boolean;
  /** Lines for people, on standard error. */
  print(lines: readonly string[]): void;
  /** The answer, on standard output: pieces of it as they come, where both are one terminal. */
  answer(text: string): void;
  /** The answer is whole: what comes next begins a line. */
  endAnswer(): void;
  /** What is going on, in one line of at most so many columns; asked for again and again. Undefined: nothing is. */
  status(line: ((columns: number) => string | undefined) | undefined): void;
  /** One question at a time; whatever else is printed waits until it is over. */
  exclusively<T>(ask: () => Promise<T>): Promise<T>;
  /** No status line from here on; everything is out. */
  close(): void;
}

/** Stands for the end of the answer while that waits. */
const END = "\0";

interface Piece {
  to: Writable;
  out: string;
}

interface ScreenOptions {
  isLive: boolean;
  /** Default: those of the process. */
  stdout?: Writable;
  stderr?: Writable & { columns?: number };
}

export function createScreen({ isLive, stdout = process.stdout, stderr = process.stderr }: ScreenOptions): Screen {
  let line: ((columns: number) => string | undefined) | undefined;
  let drawn = false;
  let frame = 0;
  let timer: NodeJS.Timeout | undefined;
  /** The answer stands in the middle of a line: nothing else is put behind it. */
  let midLine = false;
  let questions = 0;
  let last: Promise<unknown> = Promise.resolve();
  const waiting: Piece[] = [];

  const clear = () => {
    if (drawn) stderr.write(CLEAR);
    drawn = false;
  };

  function draw(): void {
    if (!line || questions > 0 || midLine) return;
    const text = line(Math.max(20, stderr.columns || 80) - 3);
    if (text === undefined) {
      clear();
      return;
    }
    stderr.write(`${CLEAR}${FRAMES[frame++ % FRAMES.length]} ${text}`);
    drawn = true;
  }

  function write(piece: Piece): void {
    const out = piece.out === END ? (midLine ? "\n" : "") : piece.out;
    if (out === "") return;
    clear();
    piece.to.write(out);
    if (piece.to === stdout && isLive) midLine = !out.endsWith("\n");
  }

  function put(piece: Piece): void {
    waiting.push(piece);
    flush();
  }

  /** Lines of others wait until the line of the answer is whole. */
  function flush(): void {
    while (questions === 0) {
      const at = midLine ? waiting.findIndex(({ to }) => to === stdout) : 0;
      const [next] = at < 0 ? [] : waiting.splice(at, 1);
      if (!next) return;
      write(next);
    }
  }

  function endLine(): void {
    if (questions > 0) put({ to: stdout, out: END });
    else if (midLine) write({ to: stdout, out: "\n" });
    flush();
  }

  const onExit = () => {
    clear();
    questions = 0;
    endLine();
  };
  process.once("exit", onExit);

  return {
    isLive,
    print(lines) {
      if (lines.length > 0) put({ to: stderr, out: `${lines.join("\n")}\n` });
    },
    answer(text) {
      put({ to: stdout, out: text });
    },
    endAnswer: endLine,
    status(next) {
      if (!isLive) return;
      line = next;
      if (next === undefined) clear();
      if (next !== undefined && !timer) {
        timer = setInterval(draw, TICK_MS);
        timer.unref();
      }
    },
    exclusively(ask) {
      const next = last.then(async () => {
        clear();
        endLine();
        questions++;
        try {
          return await ask();
        } finally {
          questions--;
          flush();
        }
      });
      last = next.catch(() => undefined);
      return next;
    },
    close() {
      clearInterval(timer);
      timer = undefined;
      line = undefined;
      onExit();
      process.removeListener("exit", onExit);
    },
  };
}
