// `holdfast plugins ls|add|remove`: folders with skills, agents, hooks and MCP servers that are used in every project.
import { printable } from "../../front/presentation/printable.ts";
import { describeWithheld } from "../../settings/load.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";
import { projectOf } from "../open.ts";
import { addPlugin, bringsOf, removePlugin, usedPlugins } from "../plugins.ts";
import { trustNow, trustOf } from "../settings.ts";

type Look = PlaceFlags & JsonToo;

const print = (line: string) => process.stdout.write(`${printable(line)}\n`);

export async function ls(flags: Look): Promise<number> {
  const project = await projectOf(flags);
  const loaded = await trustNow(flags, project);
  const { plugins, says } = await usedPlugins([], {
    trust: trustOf(flags, project),
    trustFlag: false,
    named: loaded.settings.plugins,
    root: project.root,
  });
  says.unshift(...loaded.warnings, ...describeWithheld(loaded));
  if (flags.json)
    process.stdout.write(
      `${JSON.stringify(plugins.map(({ name, root, description, by }) => ({ name, root, description, by })))}\n`,
    );
  else {
    for (const { name, root, description, by } of plugins)
      print(`${name.padEnd(20)} ${description || root}  (${root}${by === undefined ? "" : `, named in ${by}`})`);
    if (plugins.length + says.length === 0) print("No plugins: add one with `holdfast plugins add DIR`");
  }
  for (const line of says) process.stderr.write(`holdfast: ${printable(line)}\n`);
  return 0;
}

export async function add(flags: Look, dir: string): Promise<number> {
  const plugin = await addPlugin(dir, trustOf(flags, await projectOf(flags)));
  const has = bringsOf(plugin);
  if (flags.json) process.stdout.write(`${JSON.stringify({ name: plugin.name, root: plugin.root, has })}\n`);
  else print(`Added, and trusted as it is now: ${plugin.name} (${has.join(", ") || "nothing in it"})`);
  return 0;
}

export async function remove(flags: Look, named: string): Promise<number> {
  const dir = await removePlugin(named, trustOf(flags, await projectOf(flags)));
  if (flags.json) process.stdout.write(`${JSON.stringify({ removed: dir })}\n`);
  else print(`No longer used: ${dir}`);
  return 0;
}
