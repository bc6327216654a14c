// While the terminal is drawn, whatever else this process prints (a warning of Node's, a line of some command) goes into the transcript.

export interface CapturedWrites {
  /** What draws writes here. */
  write(bytes: string): void;
  /** Standard output and error are as they were. */
  end(): void;
}

type Write = typeof process.stdout.write;

/** Contract: whole lines, in order; what is left of one comes with `end`. */
export function captureWrites(say: (line: string) => void): CapturedWrites {
  const streams = [process.stdout, process.stderr];
  const originals = streams.map((stream) => stream.write);
  const [draw] = originals.map((write, i) => write.bind(streams[i]!) as Write);
  let rest = "";
  const taken: Write = (data: string | Uint8Array, ...more: unknown[]) => {
    const lines = (rest + (typeof data === "string" ? data : Buffer.from(data).toString("utf8"))).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) say(line.replaceAll("\r", ""));
    const done = more.findLast((one): one is () => void => typeof one === "function");
    if (done) queueMicrotask(done);
    return true;
  };
  for (const stream of streams) stream.write = taken;
  return {
    write: (bytes) => void draw?.(bytes),
    end() {
      for (const [i, stream] of streams.entries()) stream.write = originals[i]!;
      if (rest !== "") process.stderr.write(`${rest}\n`);
    },
  };
}
