// Which MCP servers there are: of the command line, of the user's settings, of the project's `.mcp.json` as it was approved.

import { resolve } from "node:path";
import { HoldfastError, messageOf } from "../ledger/error.ts";
import { readTextFile } from "../ledger/text-file.ts";
import type { McpServer, ReadServers } from "../mechanisms/mcp/port.ts";
import type { Plugin } from "../plugins/plugin.ts";
import { MCP_FILE } from "../settings/files.ts";
import type { LoadedSettings } from "../settings/load.ts";
import { isJson, type KeptConfig } from "./remembered-servers.ts";

export interface McpFlags {
  mcpConfig?: string[] | undefined;
  strictMcpConfig?: boolean | undefined;
  /** Of the start of a context that is gone on with, where none is given now. */
  keptMcpConfig?: readonly KeptConfig[];
}

/** Contract: what is wrong with an entry is a line, and leaves the others as they are; a file that was named and is not there is an error. */
export async function mcpServers(
  { settings, mcp }: Pick<LoadedSettings, "settings" | "mcp">,
  { mcpConfig = [], strictMcpConfig = false, keptMcpConfig = [] }: McpFlags,
  plugins: readonly Pick<Plugin, "name" | "root" | "mcp">[] = [],
): Promise<ReadServers> {
  const ofPlugins = strictMcpConfig
    ? []
    : plugins.flatMap(({ name, root, mcp: text }) => (text ? [{ name, root, text }] : []));
  const ofUser = Object.keys(settings.mcpServers).length > 0 ? settings.mcpServers : undefined;
  if (mcpConfig.length + keptMcpConfig.length === 0 && (strictMcpConfig || (!ofUser && !mcp && ofPlugins.length === 0)))
    return { servers: [], warnings: [] };
  const { readServers, readServersText } = await import("../mechanisms/mcp/server-config.ts");
  const { env } = process;
  const read = mcpConfig.map((given) =>
    readServersText(configText(given), { shown: shownOf(given), repository: false, env }),
  );
  for (const { file, text } of keptMcpConfig) read.push(readServersText(text, { shown: file, repository: false, env }));
  if (!strictMcpConfig && ofUser) read.push(readServers(ofUser, { shown: "settings", repository: false, env }));
  if (!strictMcpConfig && mcp) read.push(readServersText(mcp.text, { shown: MCP_FILE, repository: true, env }));
  for (const { name, root, text } of ofPlugins)
    read.push(
      readServersText(text, { shown: `plugin ${name}`, repository: true, env: { ...env, CLAUDE_PLUGIN_ROOT: root } }),
    );
  const servers: McpServer[] = [];
  const warnings = read.flatMap((one) => one.warnings);
  for (const server of read.flatMap((one) => one.servers)) {
    const first = servers.find(({ name }) => name === server.name);
    if (!first) servers.push(server);
    else if (server.repository)
      warnings.push(`${server.source}: the MCP server ${server.name} of ${first.source} is used instead`);
  }
  return { servers, warnings };
}

const shownOf = (given: string): string => (isJson(given) ? "--mcp-config" : given);

function configText(given: string): string {
  if (isJson(given)) return given;
  try {
    return readTextFile(resolve(given));
  } catch (error) {
    throw new HoldfastError("invalid", `--mcp-config ${given} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
