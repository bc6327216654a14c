// `.mcp.json` and its like: which servers a text names, with variables filled in, and what is wrong with it.
import { messageOf } from "../../ledger/error.ts";
import { cleanServerName } from "./names.ts";
import type { McpServer, OAuthClient, ReadServers, ServerTransport } from "./port.ts";

export interface ServerPlace {
  /** How people know the file. */
  shown: string;
  repository: boolean;
  env: NodeJS.ProcessEnv;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const MOST_SERVERS = 100;
const KINDS: Record<string, "stdio" | "http" | "sse"> = {
  stdio: "stdio",
  http: "http",
  "streamable-http": "http",
  streamableHttp: "http",
  sse: "sse",
};

/** A text as `.mcp.json` has it. Contract: never throws; what cannot be used is one line. */
export function readServersText(text: string, place: ServerPlace): ReadServers {
  let whole: unknown;
  try {
    whole = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    return { servers: [], warnings: [`${place.shown}: no MCP server of it is used: ${messageOf(error)}`] };
  }
  if (asObject(whole) && Object.keys(whole as object).length === 0) return { servers: [], warnings: [] };
  const named = asObject(whole)?.mcpServers;
  if (asObject(named) === undefined)
    return { servers: [], warnings: [`${place.shown}: no MCP server of it is used: "mcpServers" is missing`] };
  return readServers(asObject(named)!, place);
}

/** The value of `mcpServers`. */
export function readServers(named: Record<string, unknown>, place: ServerPlace): ReadServers {
  const says: string[] = [];
  const servers: McpServer[] = [];
  for (const [given, value] of Object.entries(named).slice(0, MOST_SERVERS)) {
    const name = cleanServerName(given);
    const entry = asObject(value);
    const missing = new Set<string>();
    const fill = (text: string) => filled(text, place.env, missing);
    const read = entry === undefined ? "is no object" : readEntry(entry, fill);
    if (typeof read === "string") says.push(`${given} ${read}, and is left out`);
    else if (name === "" || name.length > 40) says.push(`${given} is no name for a server, and is left out`);
    else if (servers.some((one) => one.name === name))
      says.push(`${given} has the same name as another once it is written as ${name}, and is left out`);
    else servers.push({ name, source: place.shown, repository: place.repository, ...read });
    for (const variable of missing) says.push(`${given}: the variable ${variable} is not set, and stays as written`);
  }
  if (Object.keys(named).length > MOST_SERVERS) says.push(`only the first ${MOST_SERVERS} are used`);
  return { servers, warnings: says.length === 0 ? [] : [`${place.shown}: MCP servers: ${says.join("; ")}`] };
}

/** A sentence behind the server's name when it cannot be used. */
function readEntry(
  entry: Record<string, unknown>,
  fill: (text: string) => string,
): Pick<McpServer, "transport" | "timeoutMs"> | string {
  const { type, timeout } = entry;
  const kind =
    type === undefined
      ? entry.url === undefined
        ? "stdio"
        : "http"
      : Object.hasOwn(KINDS, String(type))
        ? KINDS[String(type)]
        : undefined;
  if (kind === undefined) return `has the type ${JSON.stringify(type)} (stdio, http and sse are known)`;
  if (timeout !== undefined && !(typeof timeout === "number" && timeout > 0))
    return "has a timeout that is no number of milliseconds above 0";
  const transport = kind === "stdio" ? processOf(entry, fill) : addressOf(kind, entry, fill);
  return typeof transport === "string"
    ? transport
    : { transport, timeoutMs: (timeout as number) ?? DEFAULT_TIMEOUT_MS };
}

function processOf(entry: Record<string, unknown>, fill: (text: string) => string): ServerTransport | string {
  const { command, args = [], env = {} } = entry;
  if (typeof command !== "string" || command.trim() === "") return "has no command";
  if (!Array.isArray(args) || args.some((one) => typeof one !== "string")) return "has args that are no list of texts";
  const variables = texts(env);
  if (variables === undefined) return "has an env that is no list of names and texts";
  return { kind: "stdio", command: fill(command), args: args.map(fill), env: mapped(variables, fill) };
}

function addressOf(
  kind: "http" | "sse",
  entry: Record<string, unknown>,
  fill: (text: string) => string,
): ServerTransport | string {
  const { url, headers = {} } = entry;
  if (typeof url !== "string") return "has no url";
  const address = fill(url);
  if (!/^https?:$/.test(URL.parse(address)?.protocol ?? "")) return "has a url that is no http address";
  const given = texts(headers);
  if (given === undefined) return "has headers that are no list of names and texts";
  const oauth = clientOf(entry.oauth, fill);
  if (typeof oauth === "string") return oauth;
  return { kind, url: address, headers: mapped(given, fill), ...(oauth && { oauth }) };
}

function clientOf(given: unknown, fill: (text: string) => string): OAuthClient | string | undefined {
  if (given === undefined) return undefined;
  const { clientId, clientSecret, callbackPort } = asObject(given) ?? {};
  if (typeof clientId !== "string") return "has an oauth without clientId";
  const isPort =
    typeof callbackPort === "number" && Number.isInteger(callbackPort) && callbackPort > 0 && callbackPort < 65536;
  if (callbackPort !== undefined && !isPort) return "has an oauth.callbackPort that is no port";
  return {
    clientId: fill(clientId),
    ...(typeof clientSecret === "string" && { clientSecret: fill(clientSecret) }),
    ...(isPort && { callbackPort }),
  };
}

/** `${NAME}` and `${NAME:-default}`. Contract: what is filled in is not looked at again. */
function filled(text: string, env: NodeJS.ProcessEnv, missing: Set<string>): string {
  return text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g, (whole, name: string, instead?: string) => {
    const value = env[name] || instead;
    if (value === undefined) missing.add(name);
    return value ?? whole;
  });
}

const asObject = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;

function texts(value: unknown): Record<string, string> | undefined {
  const object = asObject(value);
  return object && Object.values(object).every((one) => typeof one === "string")
    ? (object as Record<string, string>)
    : undefined;
}

const mapped = (all: Record<string, string>, fill: (text: string) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(all).map(([name, value]) => [name, fill(value)]));
