// `@file` in a prompt: which words name a file, whether it may be brought, and what is said when it is not.
import { isUtf8 } from "node:buffer";
import path from "node:path";
import { MAX_IMAGE_BYTES, mediaTypeOf } from "../file-access/media-type.ts";
import { realPath } from "../file-access/paths.ts";
import { hold, readHeldSoon, release } from "../file-access/safe-open.ts";
import { hashOf, type SeenFile } from "../file-access/seen-files.ts";
import { messageOf } from "../ledger/error.ts";
import { type PermissionOptions, worldOf } from "../mechanisms/permissions/index.ts";
import { redactor } from "../mechanisms/redaction/index.ts";
import type { Content } from "../models/model.ts";
import { decideCall } from "../shell-policy/engine.ts";
import type { Policy } from "../shell-policy/types.ts";

export interface Brought {
  /** `media`: a picture or a document, as it is. */
  files: (SeenFile & { shown: string; text: string; media?: Content })[];
  /** One line for each word that looks like a file and is not brought. */
  says: string[];
}

const MOST_BYTES = 256 << 10;
const MOST_FILES = 20;
/** At the beginning of a word: `a@b.c` is an address. Quoted, a name may have blanks. */
const NAMED = /(?<=^|[\s(])@(?:"([^"\n]+)"|([^\s"@]+))/g;

/**
 * Contract: brings what reading the file by a tool would give unasked, under the same rules, and nothing else; the words stay as they are.
 * `cwd`: where relative names begin; `servers`: what `@name:…` brings is theirs, and not brought here.
 */
export async function filesIn(
  words: string,
  {
    permissions,
    root,
    cwd,
    servers = [],
  }: { permissions: PermissionOptions; root: string; cwd: string; servers?: readonly string[] },
): Promise<Brought> {
  const brought: Brought = { files: [], says: [] };
  const isResource = (name: string) => servers.includes(name.split(":")[0] ?? "") && name.includes(":"); // @server:uri
  const named = [...words.matchAll(NAMED)].map(([, quoted, bare = ""]) => quoted ?? bare);
  const names = new Set(named.filter((name) => !isResource(name)));
  const hide = names.size > 0 ? redactor(process.env) : undefined;
  for (const name of [...names].slice(0, MOST_FILES)) {
    const read = await firstOf(spellings(name), (one) => bring(one, { permissions, root, cwd }));
    if (typeof read === "string") brought.says.push(`@${name} ${read}: the words are sent as they are`);
    else brought.files.push({ ...read, text: hide ? hide(read.text) : read.text });
  }
  if (names.size > MOST_FILES)
    brought.says.push(`more than ${MOST_FILES} files are named by @: only the first ${MOST_FILES} are brought`);
  return brought;
}

/** A sentence may end behind a name. */
function spellings(name: string): [string, ...string[]] {
  const bare = name.replace(/[.,;:!?)\]}'"、。！？」）]+$/u, "");
  return bare === name || bare === "" ? [name] : [name, bare];
}

type Read = Brought["files"][number] | string;

/** The first that is brought, else why the first is not. */
async function firstOf(names: [string, ...string[]], read: (name: string) => Promise<Read>): Promise<Read> {
  const [first, ...others] = names;
  const found = await read(first);
  for (const name of typeof found === "string" ? others : []) {
    const other = await read(name);
    if (typeof other !== "string") return other;
  }
  return found;
}

async function bring(
  name: string,
  { permissions, root, cwd }: { permissions: PermissionOptions; root: string; cwd: string },
): Promise<Read> {
  const policy: Policy = { mode: "default", allow: [], ask: [], deny: [], ...permissions.policy };
  const call = { tool: "read_file", effect: "read" as const, input: { path: name } };
  const { decision, reason, code } = await decideCall(policy, call, worldOf({ root, cwd }, permissions));
  const asked = path.resolve(cwd, name);
  const whose = code === "outside" ? `; this run works in ${root}, --add-dir adds a folder` : "";
  if (decision !== "allow") return `is not brought (${reason}${whose})`;
  const real = realPath(asked);
  const realRoot = realPath(root);
  const roots = [realRoot, ...(permissions.additionalDirectories ?? []).map(realPath)];
  try {
    const held = hold({ root: realRoot, roots, exclude: [], judged: real }, asked, { shown: name });
    if (!held) return "is no file here";
    try {
      if (held.stat.isDirectory()) return "is a folder";
      if (!held.stat.isFile()) return "is no file";
      const tooMuch = `has ${(held.stat.size / 1e6).toFixed(1)} MB, too much to bring along`;
      if (held.stat.size > MAX_IMAGE_BYTES) return tooMuch;
      const bytes = await readHeldSoon(held, name);
      const brought = { shown: path.relative(cwd, asked) || name, path: held.real, hash: hashOf(bytes) };
      const media = mediaOf(bytes, name);
      if (media) return { ...brought, text: "", media };
      if (bytes.length > MOST_BYTES) return tooMuch;
      if (bytes.includes(0) || !isUtf8(bytes)) return "is not text in UTF-8";
      const text = bytes.toString("utf8").replace(/^\ufeff/, "");
      return { ...brought, text };
    } finally {
      release(held);
    }
  } catch (error) {
    return `is not brought (${messageOf(error)})`;
  }
}

/** Undefined: it is a text, or nothing that a model can see. */
function mediaOf(bytes: Buffer, name: string): Content | undefined {
  const mediaType = mediaTypeOf(bytes);
  if (mediaType === undefined) return undefined;
  const data = bytes.toString("base64");
  if (mediaType === "application/pdf") return { type: "document", mediaType, data, name: path.basename(name) };
  return { type: "image", mediaType, data };
}
