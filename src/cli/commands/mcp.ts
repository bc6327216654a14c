// `holdfast mcp ls|show|login|logout`: which MCP servers there are, what one of them offers, and logging in to one over HTTP.
import { oneLine, printable } from "../../front/presentation/printable.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { commandEnvironment } from "../../mechanisms/jobs/environment.ts";
import { serverEnclosure } from "../../mechanisms/jobs/server-enclosure.ts";
import { forgetLogin, isLoggedIn, keptLogin, loginTo } from "../../mechanisms/mcp/login.ts";
import { toolName } from "../../mechanisms/mcp/names.ts";
import { withoutResult } from "../../mechanisms/mcp/outcome-text.ts";
import { addressOf, type McpServer } from "../../mechanisms/mcp/port.ts";
import { type Connected, createServers } from "../../mechanisms/mcp/servers.ts";
import { nearestName } from "../../text/similarity.ts";
import { VERSION } from "../../version.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";
import { mcpServers } from "../mcp-servers.ts";
import { projectOf } from "../open.ts";
import { openSettings } from "../settings.ts";

type Look = PlaceFlags & JsonToo & { trust: boolean };

export async function ls(flags: Look): Promise<number> {
  const { servers, stateDir } = await opened(flags);
  const rows = servers.map((server) => ({
    name: server.name,
    kind: server.transport.kind,
    where: whereOf(server),
    source: server.source,
    ...(addressOf(server) !== undefined && { loggedIn: isLoggedIn(server, stateDir) }),
  }));
  if (flags.json) process.stdout.write(`${JSON.stringify(rows)}\n`);
  else
    for (const { name, kind, where, source, loggedIn } of rows)
      process.stdout.write(
        `${name.padEnd(20)} ${kind.padEnd(5)} ${oneLine(where, 60)}  (${printable(source)}${loggedIn ? ", logged in" : ""})\n`,
      );
  if (rows.length === 0 && !flags.json)
    process.stdout.write('No MCP servers: name one in .mcp.json, or in "mcpServers" of your settings\n');
  return 0;
}

export async function show(flags: Look, wanted: string): Promise<number> {
  const { servers, house } = await opened(flags);
  const server = find(servers, wanted);
  const pool = createServers([server], house, async (one) =>
    addressOf(one) === undefined ? undefined : keptLogin(one, house.stateDir),
  );
  try {
    const outcome = await pool.open(server, { signal: AbortSignal.timeout(120_000) });
    if (outcome.kind !== "done") {
      const { content } = withoutResult(server, outcome, { what: `connecting ${server.name}` });
      throw new HoldfastError("invalid", String(content));
    }
    const about = aboutOf(server, outcome.value);
    process.stdout.write(flags.json ? `${JSON.stringify(about)}\n` : `${printable(shown(about))}\n`);
    return 0;
  } finally {
    await pool.close();
  }
}

export async function login(flags: Look, wanted: string): Promise<number> {
  const { servers, stateDir } = await opened(flags);
  const server = find(servers, wanted);
  await loginTo(server, {
    stateDir,
    version: VERSION,
    signal: AbortSignal.timeout(5 * 60_000),
    onAddress: (url) => void process.stdout.write(`Open this address in your browser, and come back:\n\n  ${url}\n\n`),
  });
  process.stdout.write(`logged in to ${server.name}\n`);
  return 0;
}

export async function logout(flags: Look, wanted: string): Promise<number> {
  const { servers, stateDir } = await opened(flags);
  const server = find(servers, wanted);
  process.stdout.write(
    forgetLogin(server, stateDir) ? `logged out of ${server.name}\n` : `${server.name}: nothing was kept\n`,
  );
  return 0;
}

async function opened(flags: Look) {
  const project = await projectOf(flags);
  const settings = await openSettings(flags, project);
  const { servers, warnings } = await mcpServers(settings, {});
  for (const line of [...settings.says, ...warnings]) process.stderr.write(`holdfast: ${printable(line)}\n`);
  const house = {
    root: project.root,
    stateDir: project.stateDir,
    version: VERSION,
    env: { ...commandEnvironment(process.env), ...settings.settings.env },
    encloseServer: settings.sandbox && (async (server: string) => serverEnclosure(settings.sandbox!, server)),
  };
  return { servers, house, stateDir: project.stateDir };
}

function find(servers: readonly McpServer[], wanted: string): McpServer {
  const server = servers.find(({ name }) => name === wanted);
  if (server) return server;
  const near = nearestName(
    wanted,
    servers.map(({ name }) => name),
  );
  const next = near ? `did you mean ${near}?` : "see `holdfast mcp ls`";
  throw new HoldfastError("not_found", `there is no MCP server ${wanted}: ${next}`);
}

const whereOf = (server: McpServer): string =>
  addressOf(server) ??
  (server.transport.kind === "stdio" ? [server.transport.command, ...server.transport.args].join(" ") : "");

const aboutOf = (server: McpServer, { connection, tools, changed }: Connected) => ({
  name: server.name,
  source: server.source,
  where: whereOf(server),
  walls: server.repository && server.transport.kind === "stdio",
  instructions: connection.instructions,
  ...connection.has,
  tools: tools.map(({ tool, description, readOnly }) => ({
    name: toolName(server.name, tool),
    description,
    readOnly,
    ...(changed.has(tool) && { changedTo: changed.get(tool)!.description }),
  })),
});

function shown(about: ReturnType<typeof aboutOf>): string {
  const { name, where, source, instructions, resources, prompts } = about;
  const more = [
    ...(resources ? [`resources: @${name}:URI`] : []),
    ...(prompts ? [`prompts: /mcp__${name}__PROMPT`] : []),
  ];
  return [
    `${name}: ${where}`,
    `from ${source}${about.walls ? ", behind walls" : ""}`,
    ...more,
    ...(instructions ? ["", instructions.trim()] : []),
    "",
    ...about.tools.flatMap((tool) => [
      `${tool.name}${tool.readOnly ? " (reads)" : ""}: ${oneLine(tool.description, 100)}`,
      ...(tool.changedTo === undefined ? [] : [`  says something else now: ${oneLine(tool.changedTo, 100)}`]),
    ]),
  ].join("\n");
}
