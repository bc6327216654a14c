// Owns the tool read_file: text by lines, images and documents as model content, blobs of bounded outputs.
import { readFileSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import * as z from "zod";
import { defineTool, type ToolOutput, type Turn } from "../loop/seams.ts";
import { nearbyNames } from "./nearby-names.ts";
import { displayPath, realPath, resolvePath } from "./paths.ts";
import { hashOf, markSeen } from "./seen-files.ts";
import { cutText } from "./text.ts";

const MAX_LINES = 2_000;
const MAX_BYTES = 50_000;
const MAX_LINE_CHARS = 2_000;
const MAX_FILE_BYTES = 64 << 20;
const MAX_IMAGE_BYTES = 3_750_000;
const MAX_DOCUMENT_BYTES = 20 << 20;
/** Below this a synchronous read is faster than a round through the thread pool. */
const SYNC_BYTES = 256 << 10;

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
  async execute({ input, cwd, turn }) {
    if (input.path.startsWith("blob:")) return readBlob(turn, input);
    const asked = resolvePath(cwd, input.path);
    const stat = statSync(asked, { throwIfNoEntry: false });
    if (!stat) return failure(`${input.path} does not exist${nearbyNames(cwd, asked)}`);
    if (stat.isDirectory()) return failure(`${input.path} is a directory; list it with glob, path ${input.path}`);
    if (!stat.isFile()) return failure(`${input.path} is not a regular file`);
    if (stat.size > MAX_FILE_BYTES) {
      return failure(
        `${input.path} has ${megabytes(stat.size)}; search it with grep, or print a part with bash (sed -n)`,
      );
    }
    const bytes = stat.size <= SYNC_BYTES ? readFileSync(asked) : await readFile(asked);
    const media = mediaTypeOf(bytes);
    if (media) return showMedia(displayPath(cwd, asked), bytes, media);
    if (isBinary(bytes))
      return failure(`${input.path} is binary (${bytes.length} bytes); look at it with bash (file, xxd)`);
    return { ...showText(bytes, input), events: markSeen(turn, realPath(asked), hashOf(bytes)) };
  },
});

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
  for (; at < last; at++) {
    const raw = lines[at]!;
    const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
    const shown = line.length > MAX_LINE_CHARS ? `${cutText(line, MAX_LINE_CHARS)}…[${line.length} characters]` : line;
    const number = at === offset - 1 || (at + 1) % 5 === 0 ? at + 1 : "";
    size += shown.length + 2;
    if (size > MAX_BYTES && out.length > 0) break;
    out.push(`${number}|${shown}`);
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

/** By content: a name may lie. */
function mediaTypeOf(bytes: Buffer): string | undefined {
  const head = bytes.toString("latin1", 0, 12);
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (head.startsWith("GIF87a") || head.startsWith("GIF89a")) return "image/gif";
  if (head.startsWith("RIFF") && head.startsWith("WEBP", 8)) return "image/webp";
  if (head.startsWith("%PDF-")) return "application/pdf";
  return undefined;
}

const isBinary = (bytes: Buffer): boolean => bytes.subarray(0, 8_192).includes(0);

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

const failure = (content: string): ToolOutput => ({ content, isError: true });
