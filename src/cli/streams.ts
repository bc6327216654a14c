// What happens when standard output or error can no longer be written: a reader that left, a full disk. Work does not end with it.
import { messageOf } from "../ledger/error.ts";
import { systemErrorText } from "../ledger/system-error.ts";

export interface Streams {
  /** Resolves when what was printed is out, or cannot get out any more. */
  drained(): Promise<void>;
  /** Whether something printed was lost although somebody wanted it: a reader that left did not. */
  lost(): boolean;
}

/** What ends sooner than this after its reader left needs no word about it (`contexts ls | head -1`). */
const GOES_ON_MS = 500;

/** Contract: once a process. From here on no write to them throws or ends the process. */
export function watchStreams(): Streams {
  const failed = new Map<NodeJS.WriteStream, string>();
  const say = (line: string) => failed.has(process.stderr) || process.stderr.write(`holdfast: ${line}\n`);
  process.stderr.on("error", ({ code = "EIO" }: NodeJS.ErrnoException) => failed.set(process.stderr, code));
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (failed.has(process.stdout)) return;
    failed.set(process.stdout, error.code ?? "EIO");
    if (error.code === "EPIPE")
      setTimeout(say, GOES_ON_MS, "nobody reads the output any more; the work goes on").unref();
    else {
      const why = systemErrorText(error, "the output") ?? `the output cannot be written (${messageOf(error)})`;
      say(`${why}; what is done is kept: see holdfast contexts ls`);
    }
  });
  return {
    async drained() {
      for (const stream of [process.stdout, process.stderr]) {
        // Comes after everything that was written before, and after the word that it could not be.
        if (!failed.has(stream)) await new Promise<void>((resolve) => stream.write("", () => setImmediate(resolve)));
      }
    },
    lost: () => failed.has(process.stdout) && failed.get(process.stdout) !== "EPIPE",
  };
}
