// Which plugins are used: those that were added, those of settings, those of --plugin-dir; each only as it was trusted.
import fs from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { HookEvent } from "../claude-code/hook-events.ts";
import { HoldfastError, messageOf } from "../ledger/error.ts";
import { isRecord } from "../ledger/guards.ts";
import type { HookConfig } from "../mechanisms/hooks/config.ts";
import type { SkillPlace } from "../mechanisms/skills/catalogue.ts";
import { type Plugin, readPlugin } from "../plugins/plugin.ts";
import { pieceOf, type TrustedPiece } from "../settings/repository.ts";
import { openTrust, type Trust } from "../settings/trust.ts";
import type { NamedPlugin } from "../settings/types.ts";

export interface UsedPlugins {
  /** `by`: the settings that name it. */
  plugins: (Plugin & { by?: string })[];
  /** One line for each that is not used, or not whole. */
  says: string[];
}

/** Under which trust keeps the hash of all that a plugin holds. */
const KIND = "plugin";

/** Beside that of projects: who uses a plugin has not said that its folder is a project whose configuration counts, and the other way round. */
const ofPlugins = (trust: Trust): Trust => openTrust(join(dirname(trust.file), "plugin-trust.json"));
interface Choosing {
  trust: Trust;
  trustFlag: boolean;
  /** Of the start of a context that is gone on with. */
  kept?: readonly string[];
  /** By settings. */
  named?: readonly NamedPlugin[];
  /** The project: what its own settings name is trusted with it, as it is then. */
  root?: string;
}

/** A plugin that the project's own settings name, as a piece of what the project can run. */
const pieceOfPlugin = ({ name, hash, ...has }: Plugin, dir: string): TrustedPiece =>
  pieceOf({ name: KIND, what: "plugin", file: dir, content: hash, shows: [`${name}: ${bringsOf(has).join(", ")}`] });

/** Those that can be read: what is wrong with the others is said where they would be used. */
export const pluginPieces = (dirs: readonly string[]): TrustedPiece[] =>
  dirs.flatMap((dir) => {
    try {
      return [pieceOfPlugin(readPlugin(dir), dir)];
    } catch {
      return [];
    }
  });

/** What is in it, in a person's words. */
export const bringsOf = (plugin: Omit<Plugin, "name" | "hash">): string[] =>
  [
    plugin.skills.length > 0 && "skills",
    plugin.commands.length > 0 && "commands",
    plugin.agents.length > 0 && "agents",
    plugin.hooks !== undefined && "hooks",
    plugin.mcp !== undefined && "MCP servers",
  ].filter((one) => one !== false);

/** Contract: a plugin that is new, changed or unreadable leaves the others as they are. Reads nothing where none is chosen. */
export async function usedPlugins(
  given: readonly string[],
  { trust, trustFlag, kept = [], named = [], root }: Choosing,
): Promise<UsedPlugins> {
  const used: UsedPlugins = { plugins: [], says: [] };
  const asked = given.map((one) => resolve(one));
  for (const dir of new Set([...asked, ...kept, ...named.map((one) => one.dir), ...addedPlugins(trust)])) {
    const by = named.find((one) => one.dir === dir);
    try {
      const plugin = readPlugin(dir);
      if (trustFlag && (by || asked.includes(dir))) await ofPlugins(trust).grant(plugin.root, { [KIND]: plugin.hash });
      const piece = pieceOfPlugin(plugin, dir);
      const isOfProject = by?.repository === true && root !== undefined;
      const isApproved =
        ofPlugins(trust).approves(plugin.root, KIND, plugin.hash) ||
        (isOfProject && trust.approves(root, piece.kind, piece.hash));
      if (!isApproved) {
        const where = by ? ` (named in ${by.source})` : "";
        const next = isOfProject ? "holdfast trust add" : `holdfast plugins add ${dir}`;
        used.says.push(
          `plugin ${plugin.name}${where}: not used: it is new or has changed since it was trusted; look at ${dir}, then run \`${next}\``,
        );
      } else if (used.plugins.some(({ name }) => name === plugin.name))
        used.says.push(`plugin ${plugin.name} of ${dir}: not used: another one has that name`);
      else used.plugins.push({ ...plugin, ...(by && { by: by.source }) });
    } catch (error) {
      used.says.push(`plugin not used${by ? ` (named in ${by.source})` : ""}: ${messageOf(error)}`);
    }
  }
  return used;
}

const listFile = (trust: Trust): string => join(dirname(trust.file), "plugins.json");

function addedPlugins(trust: Trust): string[] {
  const file = listFile(trust);
  return fs.existsSync(file) ? listIn(fs.readFileSync(file, "utf8"), file) : [];
}

function listIn(text: string, file: string): string[] {
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value) || !Array.isArray(value.dirs)) throw new Error("it has no list");
    return value.dirs.filter((dir) => typeof dir === "string");
  } catch (error) {
    const todo = "move it away, and add your plugins again";
    throw new HoldfastError("invalid", `${file} is damaged (${messageOf(error)}): ${todo}`, { cause: error });
  }
}

/** Trusts it as it is, and uses it from now on. */
export async function addPlugin(dir: string, trust: Trust): Promise<Plugin> {
  const plugin = readPlugin(resolve(dir));
  await ofPlugins(trust).grant(plugin.root, { [KIND]: plugin.hash });
  await changeList(trust, (dirs) => [...new Set([...dirs, plugin.root])]);
  return plugin;
}

export async function removePlugin(named: string, trust: Trust): Promise<string> {
  const dirs = addedPlugins(trust);
  const nameOf = (dir: string): string | undefined => {
    try {
      return readPlugin(dir).name;
    } catch {
      return undefined; // it may be gone
    }
  };
  const found = dirs.find((dir) => dir === resolve(named) || nameOf(dir) === named);
  if (found === undefined)
    throw new HoldfastError("not_found", `no plugin ${named} was added: see \`holdfast plugins\``);
  await changeList(trust, (now) => now.filter((dir) => dir !== found));
  await ofPlugins(trust)
    .revoke(found)
    .catch(() => false);
  return found;
}

const changeList = async (trust: Trust, edit: (dirs: string[]) => string[]): Promise<void> => {
  const { changeFile } = await import("../ledger/change-file.ts");
  const file = listFile(trust);
  await changeFile(file, (text) => {
    const dirs = edit(text === undefined ? [] : listIn(text, file));
    return `${JSON.stringify({ version: 1, dirs }, null, 2)}\n`;
  });
};

export const skillsOf = (plugins: readonly Plugin[]): SkillPlace[] =>
  plugins.flatMap(({ name, root, skills, commands, has }) => {
    const place = (dir: string, kind: "skill" | "command") => ({
      dir,
      shown: `plugin ${name}`,
      kind,
      pluginRoot: root,
      prefix: name,
      isTrusted: has,
    });
    return [...skills.map((dir) => place(dir, "skill")), ...commands.map((dir) => place(dir, "command"))];
  });

export const agentsOf = (plugins: readonly Plugin[]) =>
  plugins.flatMap(({ name, agents, has }) =>
    agents.map((dir) => ({ dir, shown: `plugin ${name}`, repository: true, isTrusted: has })),
  );

/** Checked as settings are; their commands know where their plugin lies. */
export async function hooksOf(plugins: readonly Plugin[]): Promise<{ hooks: HookConfig; says: string[] }> {
  const hooks: HookConfig = {};
  const says: string[] = [];
  for (const { name, root, hooks: given } of plugins) {
    if (given === undefined) continue;
    const { checkSettings } = await import("../settings/check.ts");
    const { value, problems, warnings } = checkSettings(
      JSON.stringify({ hooks: given }),
      `plugin ${name}`,
      true,
      () => undefined,
    );
    says.push(...problems, ...warnings);
    for (const [event, groups] of Object.entries(value.hooks ?? {})) {
      const of = groups.map((group) => ({
        ...group,
        source: `plugin ${name}`,
        hooks: group.hooks.map((hook) => ({
          ...hook,
          command: hook.args
            ? inPlugin(hook.command, root)
            : `export CLAUDE_PLUGIN_ROOT=${quoted(root)}; ${hook.command}`,
          ...(hook.args && { args: hook.args.map((arg) => inPlugin(arg, root)) }),
        })),
      }));
      const key = event as HookEvent;
      hooks[key] = [...(hooks[key] ?? []), ...of];
    }
  }
  return { hooks, says };
}

const inPlugin = (text: string, root: string): string => text.replaceAll(/\$\{?CLAUDE_PLUGIN_ROOT\}?/g, () => root);
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
