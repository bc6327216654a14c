// Where settings stand, in their order, and reading one file: regular, of a sane size, UTF-8.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { HoldfastError, messageOf } from "../ledger/error.ts";
import type { SettingsScope } from "./types.ts";

export interface SettingsPlaces {
  home: string;
  /** What XDG_CONFIG_HOME means; ours is the folder `holdfast` in it. */
  configHome: string;
  managedFile: string;
}

export interface SettingsPlace {
  scope: SettingsScope;
  file: string;
  /** How people know it: inside the project, relative to it. */
  shown: string;
  /** What its rules that begin with `/`, and its relative directories, are relative to. */
  base: string;
  /** Written for Claude Code. */
  claude: boolean;
  /** Comes with the repository: nothing of it is read before trust. */
  repository: boolean;
}

const MAX_BYTES = 1_000_000;
export const MCP_FILE = ".mcp.json";

/** The places as the environment names them. A relative XDG_CONFIG_HOME could lead into a repository: it is ignored, as XDG says. */
export function settingsPlaces(env: NodeJS.ProcessEnv = process.env): SettingsPlaces {
  const home = env.HOME || os.homedir();
  const config = env.XDG_CONFIG_HOME;
  return {
    home,
    configHome: config && path.isAbsolute(config) ? config : path.join(home, ".config"),
    managedFile: "/etc/holdfast/settings.json",
  };
}

/** `~/.config/holdfast/settings.json`, where a person's own settings stand. */
export const userFile = (places: SettingsPlaces): string => path.join(places.configHome, "holdfast", "settings.json");

/** Every file that is looked for, from the highest scope to the lowest. The command line stands after the managed file. */
export function settingsFiles(root: string, places: SettingsPlaces): SettingsPlace[] {
  const { home } = places;
  const own = (scope: SettingsScope, file: string, base: string): SettingsPlace => ({
    scope,
    file,
    shown: file,
    base,
    claude: false,
    repository: false,
  });
  const inside = (scope: SettingsScope, shown: string): SettingsPlace => ({
    scope,
    file: path.join(root, shown),
    shown,
    base: root,
    claude: shown.startsWith(".claude/"),
    repository: true,
  });
  const isHome = root === realSettingsPath(home); // then that file is the person's own
  const userClaude = { ...own("user claude", path.join(home, ".claude", "settings.json"), home), claude: true };
  return [
    own("managed", places.managedFile, "/"),
    inside("local", ".holdfast/settings.local.json"),
    inside("project", ".holdfast/settings.json"),
    inside("project claude", ".claude/settings.local.json"),
    inside("project claude", ".claude/settings.json"),
    own("user", userFile(places), home),
    userClaude,
  ].filter((place) => !(isHome && place.shown === ".claude/settings.json"));
}

/** What cannot be opened because nothing is there. */
export const isAbsent = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");

/** Undefined when there is none. A device counts as none: that is how sandboxes mask files. */
export function readSettingsText(file: string, shown: string): string | undefined {
  let fd: number;
  try {
    fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw invalid(shown, `cannot be read (${messageOf(error)}): make it readable, or take it away`, error);
  }
  try {
    const stat = fs.fstatSync(fd);
    if (stat.isCharacterDevice()) return undefined;
    if (!stat.isFile()) throw invalid(shown, "is not a file: take it away");
    if (stat.size > MAX_BYTES) throw invalid(shown, `is larger than ${MAX_BYTES} bytes: shorten it`);
    const bytes = fs.readFileSync(fd);
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch (error) {
      throw invalid(shown, "is not UTF-8: save it as UTF-8", error);
    }
  } finally {
    fs.closeSync(fd);
  }
}

const invalid = (shown: string, says: string, cause?: unknown) =>
  new HoldfastError("invalid", `${shown} ${says}`, { cause });

/** Whether something of that name is there, without opening it. What cannot be looked at is there. */
export function fileExists(file: string): boolean {
  try {
    return fs.lstatSync(file, { throwIfNoEntry: false })?.isCharacterDevice() === false;
  } catch {
    return true;
  }
}

/** A path without links; as it is when there is nothing. */
export function realSettingsPath(file: string): string {
  try {
    return fs.realpathSync.native(file);
  } catch {
    return path.resolve(file);
  }
}
