// A plugin: a folder with skills, commands, agents, hooks and MCP servers, as Claude Code's are laid out.
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { HoldfastError, messageOf } from "../ledger/error.ts";
import { isRecord } from "../ledger/guards.ts";

export interface Plugin {
  name: string;
  description: string;
  /** Its real path. */
  root: string;
  /** Of every file in it: what is trusted is this. */
  hash: string;
  /** Whether these are the bytes of a file that it had when it was read: what is read of it later was trusted too. */
  has: (bytes: Uint8Array) => boolean;
  /** Folders of it that are there. */
  skills: string[];
  commands: string[];
  agents: string[];
  /** The value of `hooks`, unchecked. */
  hooks?: unknown;
  /** Text as `.mcp.json` has it. */
  mcp?: string;
}

const MANIFEST = ".claude-plugin/plugin.json";
const MOST_FILES = 5_000;
const MOST_BYTES = 50_000_000;

/** Contract: throws `invalid` with one line where the folder is no plugin, or more than one can look through. */
export function readPlugin(dir: string): Plugin {
  const root = fs.statSync(dir, { throwIfNoEntry: false })?.isDirectory() ? fs.realpathSync(dir) : undefined;
  if (root === undefined) throw new HoldfastError("invalid", `there is no folder ${dir}: name the folder of a plugin`);
  const files = filesIn(root);
  const hashed = hashFiles(root, files);
  const manifest = manifestIn(hashed);
  const name = typeof manifest.name === "string" ? manifest.name : path.basename(root);
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name))
    throw new HoldfastError("invalid", `${dir}: ${JSON.stringify(name)} is no name for a plugin: mend ${MANIFEST}`);
  const folders = (key: string) =>
    [key, ...listOf(manifest[key])].map((one) => within(root, one)).filter((one) => isFolder(one));
  const hooks = jsonIn(hashed, "hooks/hooks.json") ?? (isRecord(manifest.hooks) ? manifest : undefined);
  const mcp = jsonIn(hashed, ".mcp.json") ?? (isRecord(manifest.mcpServers) ? manifest : undefined);
  return {
    name,
    description: typeof manifest.description === "string" ? manifest.description : "",
    root,
    hash: hashed.hash,
    has: (bytes) => hashed.contents.has(sha256(bytes)),
    skills: folders("skills"),
    commands: folders("commands"),
    agents: folders("agents"),
    ...(isRecord(hooks?.hooks) && { hooks: hooks.hooks }),
    ...(isRecord(mcp?.mcpServers) && { mcp: JSON.stringify({ mcpServers: mcp.mcpServers }) }),
  };
}

/** Only in the plugin: a manifest is no way out of it, nor to what nobody looks at. */
function within(root: string, name: string): string {
  const at = path.resolve(root, name);
  if (!isLookedAt(root, at))
    throw new HoldfastError(
      "invalid",
      `${root}: its manifest names ${name}, outside of the plugin or in ${UNSEEN.join(" or ")}: mend ${MANIFEST}`,
    );
  return at;
}

/** Nobody keeps what a plugin is made of there, and it may change at any time. */
const UNSEEN = [".git", "node_modules"];

const isLookedAt = (root: string, at: string): boolean =>
  at === root ||
  (at.startsWith(`${root}/`) &&
    !at
      .slice(root.length + 1)
      .split("/")
      .some((name) => UNSEEN.includes(name)));

function manifestIn(hashed: Hashed): Record<string, unknown> {
  const { root } = hashed;
  const found = jsonIn(hashed, MANIFEST);
  if (
    found === undefined &&
    ["skills", "commands", "agents", "hooks"].every((name) => !isFolder(path.join(root, name)))
  )
    throw new HoldfastError(
      "invalid",
      `${root} is no plugin: it has no ${MANIFEST}, and no skills, commands, agents or hooks`,
    );
  return found ?? {};
}

/** What was hashed is what is used. */
function jsonIn({ root, json }: Hashed, name: string): Record<string, unknown> | undefined {
  const bytes = json.get(name);
  if (bytes === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8").replace(/^\ufeff/, ""));
    if (isRecord(value)) return value;
    throw new Error("it is no object");
  } catch (error) {
    throw new HoldfastError("invalid", `${path.join(root, name)} cannot be read: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function filesIn(root: string): string[] {
  const files: string[] = [];
  let bytes = 0;
  const look = (below: string): void => {
    for (const entry of fs.readdirSync(path.join(root, below), { withFileTypes: true })) {
      const at = path.join(below, entry.name);
      if (UNSEEN.includes(entry.name)) continue;
      if (entry.isSymbolicLink()) checkLink(root, at);
      if (entry.isDirectory()) look(at);
      else if (entry.isFile() || entry.isSymbolicLink()) {
        files.push(at);
        bytes += entry.isFile() ? fs.statSync(path.join(root, at)).size : 0;
        if (files.length > MOST_FILES || bytes > MOST_BYTES)
          throw new HoldfastError(
            "invalid",
            `${root} is too large for a plugin: at most ${MOST_FILES} files and ${MOST_BYTES / 1e6} MB`,
          );
      }
    }
  };
  look("");
  return files.sort();
}

/** Where a link leads is looked at, or the link is none of a plugin: what is behind it could change and stay trusted. */
function checkLink(root: string, name: string): void {
  const file = path.join(root, name);
  const leads = path.resolve(path.dirname(file), fs.readlinkSync(file));
  const real = fs.existsSync(file) ? fs.realpathSync(file) : leads;
  if (isLookedAt(root, real)) return;
  throw new HoldfastError(
    "invalid",
    `${root}: its link ${name} leads out of the plugin or into ${UNSEEN.join(" or ")}: put what it needs into the plugin`,
  );
}

interface Hashed {
  root: string;
  hash: string;
  /** Of each file. */
  contents: Set<string>;
  /** Those that say what it brings, by their names, as they were hashed. */
  json: Map<string, Buffer>;
}

/** A link counts by where it leads: what is there is a file of the plugin too. */
function hashFiles(root: string, files: readonly string[]): Hashed {
  const all = createHash("sha256");
  const contents = new Set<string>();
  const json = new Map<string, Buffer>();
  const asked = new Map(JSON_FILES.map((name) => [realName(root, name), name]));
  for (const name of files) {
    const file = path.join(root, name);
    const isLink = fs.lstatSync(file).isSymbolicLink();
    const content = isLink ? Buffer.from(fs.readlinkSync(file)) : fs.readFileSync(file);
    const hash = sha256(content);
    all.update(`${name}\0${isLink ? "link" : "file"}\0${hash}\n`);
    if (isLink) continue;
    contents.add(hash);
    const as = asked.get(name);
    if (as !== undefined) json.set(as, content);
  }
  return { root, hash: all.digest("hex"), contents, json };
}

const JSON_FILES = [MANIFEST, "hooks/hooks.json", ".mcp.json"];

/** As the file is found among those of the plugin, whatever links lead to it. */
function realName(root: string, name: string): string {
  const file = path.join(root, name);
  return path.relative(root, fs.existsSync(file) ? fs.realpathSync(file) : file);
}

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

const isFolder = (dir: string): boolean => fs.statSync(dir, { throwIfNoEntry: false })?.isDirectory() ?? false;

const listOf = (value: unknown): string[] =>
  typeof value === "string" ? [value] : Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
