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
  const manifest = manifestIn(root);
  const name = typeof manifest.name === "string" ? manifest.name : path.basename(root);
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name))
    throw new HoldfastError("invalid", `${dir}: ${JSON.stringify(name)} is no name for a plugin: mend ${MANIFEST}`);
  const folders = (key: string) =>
    [key, ...listOf(manifest[key])].map((one) => within(root, one)).filter((one) => isFolder(one));
  const hooks = jsonIn(root, "hooks/hooks.json") ?? (isRecord(manifest.hooks) ? manifest : undefined);
  const mcp = jsonIn(root, ".mcp.json") ?? (isRecord(manifest.mcpServers) ? manifest : undefined);
  return {
    name,
    description: typeof manifest.description === "string" ? manifest.description : "",
    root,
    hash: hashOfFiles(root, files),
    skills: folders("skills"),
    commands: folders("commands"),
    agents: folders("agents"),
    ...(isRecord(hooks?.hooks) && { hooks: hooks.hooks }),
    ...(isRecord(mcp?.mcpServers) && { mcp: JSON.stringify({ mcpServers: mcp.mcpServers }) }),
  };
}

/** Only in the plugin: a manifest is no way out of it. */
function within(root: string, name: string): string {
  const at = path.resolve(root, name);
  if (at !== root && !at.startsWith(`${root}/`))
    throw new HoldfastError("invalid", `${root}: its manifest names ${name}, outside of the plugin: mend ${MANIFEST}`);
  return at;
}

function manifestIn(root: string): Record<string, unknown> {
  const found = jsonIn(root, MANIFEST);
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

function jsonIn(root: string, name: string): Record<string, unknown> | undefined {
  const file = path.join(root, name);
  if (!fs.statSync(file, { throwIfNoEntry: false })?.isFile()) return undefined;
  try {
    const value: unknown = JSON.parse(fs.readFileSync(file, "utf8").replace(/^\ufeff/, ""));
    if (isRecord(value)) return value;
    throw new Error("it is no object");
  } catch (error) {
    throw new HoldfastError("invalid", `${file} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

function filesIn(root: string): string[] {
  const files: string[] = [];
  let bytes = 0;
  const look = (below: string): void => {
    for (const entry of fs.readdirSync(path.join(root, below), { withFileTypes: true })) {
      const at = path.join(below, entry.name);
      if (entry.name === ".git" || entry.name === "node_modules") continue;
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

/** A link counts by where it leads: what is there is not the plugin's. */
function hashOfFiles(root: string, files: readonly string[]): string {
  const all = createHash("sha256");
  for (const name of files) {
    const file = path.join(root, name);
    const isLink = fs.lstatSync(file).isSymbolicLink();
    const content = isLink ? fs.readlinkSync(file) : fs.readFileSync(file);
    all.update(`${name}\0${isLink ? "link" : "file"}\0${createHash("sha256").update(content).digest("hex")}\n`);
  }
  return all.digest("hex");
}

const isFolder = (dir: string): boolean => fs.statSync(dir, { throwIfNoEntry: false })?.isDirectory() ?? false;

const listOf = (value: unknown): string[] =>
  typeof value === "string" ? [value] : Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
