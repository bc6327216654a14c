// Runs a command of Holdfast's own beside the terminal: what `/tasks` shows is what `holdfast tasks` prints.
import { spawn } from "node:child_process";
import { COLUMNS_VARIABLE } from "../../front/presentation/printable.ts";
import { linesOf } from "../../front/sdk-protocol/lines-of.ts";
import type { PlaceFlags } from "../flags.ts";

export interface OwnCommand {
  words: readonly string[];
  flags: PlaceFlags;
  /** The folder that it is about. */
  root: string;
  /** How wide it may print. */
  columns: number;
  signal?: AbortSignal;
}

export interface OwnCommandEnd {
  code: number;
  /** What it printed on standard output, and what it had to say besides. */
  out: string[];
  said: string[];
}

/** Contract: each line is told as it comes; nobody is asked by it. */
export async function runOwnCommand(
  { words, flags, root, columns, signal }: OwnCommand,
  tell?: (line: string) => void,
): Promise<OwnCommandEnd> {
  const place = ["--cwd", root, ...(flags.state === undefined ? [] : ["--state", flags.state])];
  const child = spawn(process.execPath, [process.argv[1] ?? "", ...words, ...place], {
    cwd: root,
    env: { ...process.env, NO_COLOR: "1", [COLUMNS_VARIABLE]: String(columns) },
    stdio: ["ignore", "pipe", "pipe"],
    ...(signal && { signal }),
  });
  const ended = new Promise<number>((resolve) => {
    child.on("error", () => resolve(1));
    child.on("close", (code) => resolve(code ?? 1));
  });
  const end: OwnCommandEnd = { code: 0, out: [], said: [] };
  const read = async (stream: NodeJS.ReadableStream, into: string[]) => {
    for await (const line of linesOf(stream)) {
      into.push(line);
      tell?.(line);
    }
  };
  await Promise.all([read(child.stdout, end.out), read(child.stderr, end.said)]).catch(() => undefined);
  return { ...end, code: await ended };
}
