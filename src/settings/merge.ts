// Putting the scopes together: lists are joined, each rule with its source; of anything else the highest scope wins, and a repository only tightens.
import path from "node:path";
import type { HookEvent } from "../claude-code/hook-events.ts";
import type { PermissionMode } from "../claude-code/permission-modes.ts";
import { HoldfastError } from "../ledger/error.ts";
import { quoted } from "./quoted.ts";
import { tightens } from "./repository.ts";
import {
  type NamedPlugin,
  periodOf,
  type Settings,
  type SettingsFile,
  type SettingsScope,
  type SourcedHooks,
  type SourcedRule,
  timeOf,
} from "./types.ts";

/** One scope's word, already without what it must not say. */
export interface Layer {
  scope: SettingsScope;
  source: string;
  base: string;
  repository: boolean;
  value: SettingsFile;
  /** `FILE:LINE:COLUMN` of a key. */
  at(path: string[]): string;
}

/** `layers` from the highest to the lowest. */
export function mergeSettings(layers: readonly Layer[], home: string): { settings: Settings; warnings: string[] } {
  const warnings: string[] = [];
  const own = layers.filter((layer) => !layer.repository);
  const disableAllHooks = firstOf(own, (value) => value.disableAllHooks) ?? false;
  const bypassOff = bypassOffIn(layers);
  const settings: Settings = {
    permissions: {
      defaultMode: withoutBypass(modeOf(layers, warnings), { layers, bypassOff, warnings }),
      allow: rulesOf(layers, "allow"),
      ask: rulesOf(layers, "ask"),
      deny: rulesOf(layers, "deny"),
      additionalDirectories: directories(layers, home, (value) => value.permissions?.additionalDirectories),
      ...(bypassOff !== undefined && { bypassOff }),
    },
    hooks: hooksOf(layers, disableAllHooks),
    sandbox: {
      enabled: firstOf(layers, (value) => value.sandbox?.enabled),
      network: firstOf(layers, (value) => value.sandbox?.network),
      readable: directories(layers, home, (value) => value.sandbox?.readable),
      writable: directories(layers, home, (value) => value.sandbox?.writable),
    },
    model: firstOf(layers, (value) => value.model),
    fallbackModels: firstOf(layers, (value) => value.fallbackModels),
    env: byName(layers, (value) => value.env),
    providers: byName(layers, (value) => value.providers),
    mcpServers: byName(layers, (value) => value.mcpServers),
    plugins: pluginsOf(layers, home),
    models: byName(layers, (value) => value.models),
    proxy: firstOf(layers, (value) => value.proxy),
    maxRounds: roundsOf(layers, warnings),
    budget: budgetOf(layers, warnings),
    worktree: { link: [...new Set(layers.flatMap(({ value }) => value.worktree?.link ?? []))] },
    memory: {
      extract: firstOf(own, (value) => value.memory?.extract) ?? false,
      maxTokens: firstOf(own, (value) => value.memory?.maxTokens),
    },
    backup: backupOf(own),
    contexts: { ttlMs: timeOf(firstOf(layers, (value) => value.contexts?.ttl) ?? "") },
    disableAllHooks,
  };
  return { settings, warnings };
}

/** A repository does not say where copies of the work go. */
function backupOf(own: readonly Layer[]): Settings["backup"] {
  const all = firstOf(own, ({ backup }) => backup);
  return {
    place: all?.place,
    everyMs: periodOf(all?.every ?? ""),
    keepMs: periodOf(all?.keep ?? ""),
    keyFile: all?.keyFile,
  };
}

function firstOf<T>(layers: readonly Layer[], pick: (value: SettingsFile) => T | undefined): T | undefined {
  for (const { value } of layers) {
    const found = pick(value);
    if (found !== undefined) return found;
  }
  return undefined;
}

function rulesOf(layers: readonly Layer[], list: "allow" | "ask" | "deny"): SourcedRule[] {
  return layers.flatMap(({ value, source, base }) =>
    (value.permissions?.[list] ?? []).map((text) => ({ text, source, base })),
  );
}

function directories(
  layers: readonly Layer[],
  home: string,
  pick: (value: SettingsFile) => string[] | undefined,
): string[] {
  return [...new Set(layers.flatMap(({ value, base }) => (pick(value) ?? []).map((dir) => absolute(dir, base, home))))];
}

const absolute = (dir: string, base: string, home: string): string =>
  dir === "~" || dir.startsWith("~/") ? path.join(home, dir.slice(1)) : path.resolve(base, dir);

/** Each folder once, by the highest scope that names it. */
export function pluginsOf(layers: readonly Pick<Layer, "value" | "base" | "source" | "repository">[], home: string) {
  const all = new Map<string, NamedPlugin>();
  for (const { value, base, source, repository } of layers)
    for (const given of value.plugins ?? []) {
      const dir = absolute(given, base, home);
      if (!all.has(dir)) all.set(dir, { dir, source, repository });
    }
  return [...all.values()];
}

/** Whole entries: an endpoint of one scope never goes with the key of another. */
function byName<T>(layers: readonly Layer[], pick: (value: SettingsFile) => Record<string, T> | undefined) {
  return Object.fromEntries(layers.toReversed().flatMap(({ value }) => Object.entries(pick(value) ?? {})));
}

/** Managed hooks only the managed file switches off; a repository only its own. */
function hooksOf(layers: readonly Layer[], off: boolean): Settings["hooks"] {
  const managedOff = layers.some(({ scope, value }) => scope === "managed" && value.disableAllHooks === true);
  const repositoryOff = layers.some(({ repository, value }) => repository && value.disableAllHooks === true);
  const hooks: Partial<Record<HookEvent, SourcedHooks[]>> = {};
  for (const { scope, source, repository, value } of layers) {
    if (managedOff || (off && scope !== "managed") || (repositoryOff && repository)) continue;
    for (const [event, groups] of Object.entries(value.hooks ?? {}) as [HookEvent, SourcedHooks[]][]) {
      hooks[event] ??= [];
      hooks[event].push(...groups.map((group) => ({ ...group, source, scope })));
    }
  }
  return hooks;
}

/** Starts from the user's word; each file of the repository may only tighten it; the command line and the managed file have the last. */
function tightest<T>(
  layers: readonly Layer[],
  pick: (value: SettingsFile) => T | undefined,
  opts: { start?: T; key: string[]; stricter(from: T, to: T): boolean; warnings: string[] },
): T | undefined {
  const isUser = ({ scope }: Layer) => scope === "user" || scope === "user claude";
  const above = firstOf(
    layers.filter((layer) => !layer.repository && !isUser(layer)),
    pick,
  );
  if (above !== undefined) return above;
  let current = firstOf(layers.filter(isUser), pick);
  for (const { value, at } of layers.filter((layer) => layer.repository).toReversed()) {
    const wanted = pick(value);
    if (wanted === undefined) continue;
    const from = current ?? opts.start;
    if (from === undefined || opts.stricter(from, wanted)) current = wanted;
    else {
      const name = quoted(opts.key.join("."));
      opts.warnings.push(
        `${at(opts.key)}: ${name} is not used: ${wanted} would loosen ${from}; give it on the command line`,
      );
    }
  }
  return current;
}

const modeOf = (layers: readonly Layer[], warnings: string[]): PermissionMode | undefined =>
  tightest<PermissionMode>(layers, (value) => value.permissions?.defaultMode, {
    start: "default",
    key: ["permissions", "defaultMode"],
    stricter: tightens,
    warnings,
  });

/** It only tightens: whoever says it, in whichever file, is heard. */
function bypassOffIn(layers: readonly Layer[]): string | undefined {
  const key = "disableBypassPermissionsMode";
  return layers.find(({ value }) => value.permissions?.[key] === "disable")?.at(["permissions", key]);
}

/** What a person asks for now is refused; what a file has as its default is left out, and that is said. */
function withoutBypass(
  mode: PermissionMode | undefined,
  { layers, bypassOff, warnings }: { layers: readonly Layer[]; bypassOff: string | undefined; warnings: string[] },
): PermissionMode | undefined {
  if (bypassOff === undefined || !isBypass(mode)) return mode;
  const asked = layers.find(({ scope }) => scope === "command line")?.value.permissions?.defaultMode;
  if (isBypass(asked))
    throw new HoldfastError(
      "refused",
      `${bypassOff} switches bypassing permissions off: use another mode, such as --permission-mode auto`,
    );
  warnings.push(`${bypassOff} switches bypassing permissions off: the mode is default instead of ${mode}`);
  return "default";
}

export const isBypass = (mode: PermissionMode | undefined): boolean =>
  mode === "bypassPermissions" || mode === "bypass";

const roundsOf = (layers: readonly Layer[], warnings: string[]): number | undefined =>
  tightest<number>(layers, (value) => value.maxRounds, {
    key: ["maxRounds"],
    stricter: (from, to) => to <= from,
    warnings,
  });

function budgetOf(layers: readonly Layer[], warnings: string[]): Settings["budget"] {
  const kinds = ["tokens", "usd", "rounds"] as const;
  const limits = kinds.map((kind) => {
    const limit = tightest<number>(layers, (value) => value.budget?.[kind], {
      key: ["budget", kind],
      stricter: (from, to) => to <= from,
      warnings,
    });
    return [kind, limit] as const;
  });
  return Object.fromEntries(limits.filter(([, limit]) => limit !== undefined));
}
