// The words of settings: what a file may say, what comes out of all of them. No effects.
import type { HookEvent, HookGroup } from "../claude-code/hook-events.ts";
import type { PermissionMode } from "../claude-code/permission-modes.ts";

interface Provider {
  baseUrl?: string;
  /** The name of the variable that holds the key; never the key. */
  apiKeyEnv?: string;
}

/** What one file, or the command line, may say. */
export interface SettingsFile {
  $schema?: string;
  permissions?: {
    allow?: string[];
    ask?: string[];
    deny?: string[];
    defaultMode?: PermissionMode;
    additionalDirectories?: string[];
    disableBypassPermissionsMode?: "disable";
  };
  hooks?: Partial<Record<HookEvent, HookGroup[]>>;
  sandbox?: { enabled?: boolean; network?: "off" | "on"; readable?: string[]; writable?: string[] };
  model?: string;
  fallbackModels?: string[];
  env?: Record<string, string>;
  providers?: Record<string, Provider>;
  proxy?: string;
  /** By `provider/name`. */
  models?: Record<string, { contextWindow?: number }>;
  /** As `.mcp.json` has it. */
  mcpServers?: Record<string, unknown>;
  /** Folders. */
  plugins?: string[];
  maxRounds?: number;
  budget?: { tokens?: number; usd?: number; rounds?: number };
  contexts?: { ttl?: string };
  backup?: { place?: string; every?: string; keep?: string; keyFile?: string };
  memory?: { extract?: boolean; maxTokens?: number };
  worktree?: { link?: string[] };
  disableAllHooks?: boolean;
}

const TIME = /^(\d+(?:\.\d+)?)\s*(m|h|d|w)$/;
const UNITS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** A time such as `30d` in milliseconds; undefined when it is none, or nothing. */
export function timeOf(text: string): number | undefined {
  const [, amount, unit] = TIME.exec(text.trim()) ?? [];
  const ms = Math.round(Number(amount) * (UNITS[unit ?? ""] ?? 0));
  return ms > 0 ? ms : undefined;
}

/** Likewise, for what happens so often: `10s` too. */
export function periodOf(text: string): number | undefined {
  const [, seconds] = /^(\d+(?:\.\d+)?)\s*s$/.exec(text.trim()) ?? [];
  return seconds === undefined ? timeOf(text) : Math.round(Number(seconds) * 1_000) || undefined;
}

/** From the highest to the lowest. The `claude` ones are read for permissions and hooks only. */
export type SettingsScope =
  | "managed"
  | "command line"
  | "local"
  | "project"
  | "project claude"
  | "user"
  | "user claude";

/** One rule with who says so; the shape that the permission engine takes. */
export interface SourcedRule {
  text: string;
  source: string;
  /** What a path that begins with `/` is relative to. */
  base: string;
}

export interface SourcedHooks extends HookGroup {
  source: string;
  scope: SettingsScope;
}

export interface NamedPlugin {
  dir: string;
  /** The file that names it. */
  source: string;
  repository: boolean;
}

/** What all scopes together say. */
export interface Settings {
  permissions: {
    defaultMode?: PermissionMode;
    allow: SourcedRule[];
    ask: SourcedRule[];
    deny: SourcedRule[];
    /** Absolute. */
    additionalDirectories: string[];
    /** Given: nobody may bypass permissions; where that is said, as `FILE:LINE:COLUMN`. */
    bypassOff?: string;
  };
  /** Of each event, in the order of the scopes. What `disableAllHooks` switches off is not in it. */
  hooks: Partial<Record<HookEvent, SourcedHooks[]>>;
  /** Directories are absolute. */
  sandbox: { enabled?: boolean; network?: "off" | "on"; readable: string[]; writable: string[] };
  model?: string;
  fallbackModels?: string[];
  env: Record<string, string>;
  providers: Record<string, Provider>;
  proxy?: string;
  models: Record<string, { contextWindow?: number }>;
  /** By name, as they were written: whoever connects them looks at each. */
  mcpServers: Record<string, unknown>;
  /** Absolute folders; each is used only as its content was approved. */
  plugins: NamedPlugin[];
  maxRounds?: number;
  /** What all agents of a context may spend together. */
  budget: { tokens?: number; usd?: number; rounds?: number };
  /** How long contexts are kept that do not say so themselves. */
  contexts: { ttlMs?: number };
  /** Where `worker` backs up to, how soon, for how long, and the file with the key. */
  backup: { place?: string; everyMs?: number; keepMs?: number; keyFile?: string };
  /** `extract`: a model reads each conversation for what is worth remembering. */
  memory: { extract: boolean; maxTokens?: number };
  /** Folders below the project, as they were written. */
  worktree: { link: string[] };
  disableAllHooks: boolean;
}
