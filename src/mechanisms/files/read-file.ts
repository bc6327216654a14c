// The tool read_file: text by lines, images and documents as model content, the whole of bounded outputs.
import { basename } from "node:path";
import * as z from "zod";
import { isKept } from "../../file-access/kept-results.ts";
import { MAX_IMAGE_BYTES, mediaTypeOf } from "../../file-access/media-type.ts";
import { nearbyNames } from "../../file-access/nearby-names.ts";
import { displayPath, resolvePath } from "../../file-access/paths.ts";
import { permitOf } from "../../file-access/permit.ts";
import { hold, notRegular, type OpenFile, readHeldSoon, release } from "../../file-access/safe-open.ts";
import { hashOf, markSeen } from "../../file-access/seen-files.ts";
import { defineTool, type ToolOutput, type Turn } from "../../loop/seams.ts";
import { cutText } from "../../text/cut.ts";

const MAX_LINES = 2_000;
const MAX_BYTES = 50_000;
const MAX_LINE_CHARS = 2_000;
const MAX_FILE_BYTES = 64 << 20;
const MAX_DOCUMENT_BYTES = 20 << 20;

interface ReadInput {
  path: string;
  offset?: number;
  limit?: number;
}

export const readFileTool = defineTool<ReadInput>({
  name: "read_file",
  description: "Read a file, image or PDF. Lines are shown as `N|text`, the number on every 5th line only.",
  schema: () =>
    z.strictObject({
      path: z.string().min(1),
      offset: z.int().positive().optional().describe("first line"),
      limit: z.int().positive().optional(),
    }),
  effect: "read",
  async execute(run) {
    const { input, cwd, turn } = run;
    if (isKept(input.path)) return readBlob(turn, input);
    const asked = resolvePath(cwd, input.path);
    const permit = permitOf(run);
    const held = hold(permit, asked, { shown: input.path });
    if (!held) return failure(`${input.path} does not exist${nearbyNames(permit, cwd, asked)}`);
    try {
      return await showHeld(held, { input, turn, callId: run.call.id, name: displayPath(cwd, asked) });
    } finally {
      release(held);
    }
  },
});

interface Reading {
  input: ReadInput;
  turn: Turn;
  callId: string;
  name: string;
}

async function showHeld(held: OpenFile, at: Reading): Promise<ToolOutput> {
  const { stat } = held;
  const { path } = at.input;
  if (stat.isDirectory()) return failure(`${path} is a directory; list it with glob, path ${path}`);
  if (!stat.isFile()) throw notRegular(path);
  if (stat.size > MAX_FILE_BYTES) {
    return failure(`${path} has ${megabytes(stat.size)}; search it with grep, or print a part with bash (sed -n)`);
  }
  const bytes = await readHeldSoon(held, path);
  const media = mediaTypeOf(bytes);
  if (media) return showMedia(at.name, bytes, media);
  if (isBinary(bytes)) return failure(`${path} is binary (${bytes.length} bytes); look at it with bash (file, xxd)`);
  const events = markSeen(at.turn, held.real, hashOf(bytes), { callId: at.callId, how: "read" });
  return { ...showText(bytes, at.input), events };
}

async function readBlob(turn: Turn, input: ReadInput): Promise<ToolOutput> {
  const bytes = await turn.blob(input.path.slice("blob:".length));
  return bytes ? showText(Buffer.from(bytes), input) : failure(`there is no ${input.path}`);
}

function showText(bytes: Buffer, { path, offset = 1, limit = MAX_LINES }: ReadInput): ToolOutput {
  if (bytes.length === 0) return { content: "(empty file)" };
  const lines = bytes
    .toString("utf8")
    .replace(/^\ufeff/, "")
    .split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (offset > lines.length) return failure(`${path} has only ${lines.length} lines`);
  const out: string[] = [];
  const last = Math.min(lines.length, offset - 1 + Math.min(limit, MAX_LINES));
  let size = 0;
  let at = offset - 1;
  for (const raw of lines.slice(at, last)) {
    const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
    const shown = line.length > MAX_LINE_CHARS ? `${cutText(line, MAX_LINE_CHARS)}…[${line.length} characters]` : line;
    const number = at === offset - 1 || (at + 1) % 5 === 0 ? at + 1 : "";
    size += shown.length + 2;
    if (size > MAX_BYTES && out.length > 0) break;
    out.push(`${number}|${shown}`);
    at++;
  }
  if (at < lines.length) out.push(`[lines ${offset}-${at} of ${lines.length}; read on with offset ${at + 1}]`);
  return { content: out.join("\n") };
}

function showMedia(path: string, bytes: Buffer, mediaType: string): ToolOutput {
  const isDocument = mediaType === "application/pdf";
  if (bytes.length > (isDocument ? MAX_DOCUMENT_BYTES : MAX_IMAGE_BYTES)) {
    return failure(
      `${path} (${mediaType}) has ${megabytes(bytes.length)}: too large to show; make it smaller with bash first`,
    );
  }
  const data = bytes.toString("base64");
  return {
    content: [
      { type: "text", text: `${path} (${mediaType}, ${bytes.length} bytes)` },
      isDocument ? { type: "document", mediaType, data, name: basename(path) } : { type: "image", mediaType, data },
    ],
  };
}

const isBinary = (bytes: Buffer): boolean => bytes.subarray(0, 8_192).includes(0);

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

const failure = (content: string): ToolOutput => ({ content, isError: true });
