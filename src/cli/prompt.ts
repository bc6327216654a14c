// What a prompt is made of: the words that were typed, what stands on standard input, the files that the words name.
import { isUtf8 } from "node:buffer";
import { fstatSync, type Stats } from "node:fs";
import { resolve } from "node:path";
import type { SeenFile } from "../file-access/seen-files.ts";
import { printable } from "../front/presentation/printable.ts";
import { HoldfastError } from "../ledger/error.ts";
import { noteText } from "../loop/marks.ts";
import type { Content } from "../models/model.ts";
import type { OpenSettings } from "./settings.ts";

export interface Prompt {
  words: string;
  /** What was piped in beside them. */
  piped?: string;
  /** The words themselves were piped in, not typed: they name no files. */
  isPiped?: true;
}

const MOST_BYTES = 4 << 20;
/** So long a pipe may be silent before it is taken for one that nobody writes to: a parent's that was inherited, a job's of CI. */
const GRACE_MS = 3_000;

const invalid = (message: string) => new HoldfastError("invalid", message);

/**
 * Undefined: there is none: the interrupted turn is taken up, or a goal is what is said.
 * Contract: what is piped in is read to its end. Only where words were typed, or a turn is taken up, it may be missing: then a pipe that stays silent is left alone, and that is said.
 */
export async function readPrompt(
  given: readonly string[],
  { resuming, goal }: { resuming: boolean; goal?: string | undefined },
): Promise<Prompt | undefined> {
  const typed = given.filter((word) => word !== "-");
  const words = typed.join(" ").trim();
  const mayBeNone = resuming || goal !== undefined;
  const needed = typed.length < given.length || (words === "" && !mayBeNone);
  if (needed && process.stdin.isTTY) throw invalid('give a prompt: holdfast -p "what to do" (or pipe it in)');
  const piped = (await readPiped({ needed })).trim();
  if (words !== "") return { words, ...(piped !== "" && { piped }) };
  if (piped !== "") return { words: piped, isPiped: true };
  if (mayBeNone) return undefined;
  throw invalid('the prompt is empty: holdfast -p "what to do" (or pipe it in)');
}

/** Where messages come on standard input, words are one before them. */
export function typedWords(given: readonly string[]): Prompt | undefined {
  const words = given.join(" ").trim();
  return words === "" ? undefined : { words };
}

/** The words first; the rest is data, marked with where it comes from; files that are brought count as read. What is not brought is said. */
export async function contentOf(
  { words, piped, isPiped }: Prompt,
  {
    settings,
    root,
    cwd,
    servers,
  }: { settings: Pick<OpenSettings, "permissions">; root: string; cwd: string; servers: readonly string[] },
): Promise<{ content: Content[]; seen: SeenFile[] }> {
  const seen: SeenFile[] = [];
  const media: Content[] = [];
  const data = piped === undefined ? [] : [noteText("standard input", piped)];
  if (!isPiped && words.includes("@")) {
    const { filesIn } = await import("./prompt-files.ts");
    const { files, says } = await filesIn(words, {
      permissions: settings.permissions,
      root,
      cwd: resolve(cwd),
      servers,
    });
    for (const line of says) process.stderr.write(`holdfast: ${printable(line)}\n`);
    seen.push(...files.map(({ path, hash }) => ({ path, hash })));
    for (const { shown, text, media: picture } of files) {
      const from = `file ${shown.replace(/["<>\n]/g, "?")}`;
      data.push(noteText(from, picture ? "(it follows)" : text.replace(/\n$/, "")));
      if (picture) media.push(picture);
    }
  }
  const notes = data.map((text): Content => ({ type: "text", text: `\n${text}` }));
  return { content: [{ type: "text", text: words }, ...notes, ...media], seen };
}

async function readPiped({ needed }: { needed: boolean }): Promise<string> {
  const stat = standardInput();
  if (!stat || process.stdin.isTTY) return "";
  if (stat.isDirectory()) throw invalid("standard input is a folder: name a file");
  const mayBeSilent = stat.isFIFO() || stat.isSocket();
  const bytes = await readToEnd(mayBeSilent && !needed ? GRACE_MS : undefined);
  if (bytes.includes(0) || !isUtf8(bytes))
    throw invalid("standard input is not text in UTF-8: put it into a file, and say in the prompt where it is");
  return bytes.toString("utf8").replace(/^\ufeff/, "");
}

/** Undefined: it is closed. */
function standardInput(): Stats | undefined {
  try {
    return fstatSync(0);
  } catch {
    return undefined;
  }
}

function readToEnd(graceMs: number | undefined): Promise<Buffer> {
  const { stdin } = process;
  if (stdin.readableEnded) return Promise.resolve(Buffer.alloc(0)); // an earlier run of this process had it
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    const settle = (how: () => void) => {
      clearTimeout(silent);
      stdin.removeListener("data", onData).removeListener("end", onEnd).removeListener("error", onError);
      stdin.on("error", () => undefined); // nobody reads on: what becomes of it does not matter
      how();
    };
    const onEnd = () => settle(() => resolve(Buffer.concat(chunks)));
    const onError = (error: Error) =>
      settle(() => reject(invalid(`standard input cannot be read (${"code" in error ? error.code : "error"})`)));
    const onData = (chunk: Buffer) => {
      clearTimeout(silent);
      chunks.push(chunk);
      size += chunk.length;
      if (size <= MOST_BYTES) return;
      stdin.pause();
      settle(() =>
        reject(invalid(`standard input has more than ${MOST_BYTES >> 20} MB: give a part of it (head, tail, grep)`)),
      );
    };
    const silent =
      graceMs === undefined
        ? undefined
        : setTimeout(() => {
            stdin.pause();
            process.stderr.write(
              `holdfast: standard input is open and said nothing for ${graceMs / 1000} s: going on without it (\`< /dev/null\` spares the wait; a lone - as a word waits for its end)\n`,
            );
            settle(() => resolve(Buffer.alloc(0)));
          }, graceMs);
    stdin.on("data", onData).on("end", onEnd).on("error", onError);
  });
}
