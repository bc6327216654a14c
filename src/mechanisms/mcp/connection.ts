// One connection to one server: what it offers, calls of its tools, its resources and prompts. The client library is loaded here, and only here.
import { pathToFileURL } from "node:url";
import type * as Mcp from "@modelcontextprotocol/client";
import { messageOf } from "../../ledger/error.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import type { Elicitation, Elicited } from "./elicitation.ts";
import { definitionsOf, type ToolDefinition } from "./offer.ts";
import type { McpHouse, McpServer } from "./port.ts";
import { createStdioTransport, type StdioTransport } from "./stdio-transport.ts";

export type ServerResult = Mcp.CallToolResult;

/** What became of a request to a server. */
export type Outcome<T> =
  | { kind: "done"; value: T }
  /** The server answered with an error, or not as the protocol wants. */
  | { kind: "error"; says: string }
  /** The connection ended, or there is none. `pauseMs`: it was tried in vain, and is not tried before. */
  | { kind: "ended"; says: string; pauseMs?: number }
  /** `said`: what its process printed meanwhile. */
  | { kind: "timeout"; ms: number; said?: string | undefined }
  | { kind: "aborted" }
  /** A person has to log in. */
  | { kind: "login" };

interface Asking {
  signal: AbortSignal;
  onProgress?: (says: string) => void;
}

export interface ServerConnection {
  readonly server: McpServer;
  readonly instructions: string | undefined;
  /** Undefined while it is there; how it ended. */
  readonly ended: string | undefined;
  /** The server said that its list has changed. */
  readonly isStale: boolean;
  readonly has: { resources: boolean; prompts: boolean };
  tools(): Promise<Outcome<ToolDefinition[]>>;
  call(tool: string, args: Record<string, unknown>, asking: Asking): Promise<Outcome<ServerResult>>;
  resource(uri: string, asking: Asking): Promise<Outcome<Mcp.ReadResourceResult>>;
  prompts(asking: Asking): Promise<Outcome<Mcp.Prompt[]>>;
  prompt(name: string, args: Record<string, string>, asking: Asking): Promise<Outcome<Mcp.GetPromptResult>>;
  close(): Promise<void>;
}

export interface ConnectOptions {
  house: Pick<McpHouse, "root" | "env" | "version" | "encloseServer">;
  /** Whoever is to answer a question of the server. */
  elicit: (asked: Elicitation) => Promise<Elicited>;
  /** Tokens of the user, for servers that want them. */
  authProvider?: Mcp.OAuthClientProvider | undefined;
  signal?: AbortSignal;
  /** So long it may take; default: a minute and a half, for programs from a registry are fetched at their first start. */
  connectMs?: number;
}

const CONNECT_MS = 90_000;

/** `npx` asks its registry whether there is something newer. Where that is out of reach it takes what it has, but only after all its tries: 70 s by npm's own settings. */
const NPM_PATIENCE = { npm_config_fetch_retry_mintimeout: "500", npm_config_fetch_retry_maxtimeout: "2000" };

export async function connect(server: McpServer, opts: ConnectOptions): Promise<Outcome<ServerConnection>> {
  const mcp = await import("@modelcontextprotocol/client");
  const { transport } = server;
  let isStale = false;
  let ended: string | undefined;
  const stale = () => {
    isStale = true;
  };
  const client = new mcp.Client(
    { name: "holdfast", version: opts.house.version },
    {
      capabilities: { roots: {}, elicitation: { form: {}, url: {} } },
      versionNegotiation: { mode: transport.kind === "http" ? "auto" : "legacy" },
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: stale } },
    },
  );
  client.setRequestHandler("roots/list", () => ({
    roots: [{ uri: pathToFileURL(opts.house.root).href, name: "project" }],
  }));
  client.setRequestHandler("elicitation/create", async ({ params }) => opts.elicit(params as Elicitation));
  client.onerror = () => undefined; // whoever waits is told
  const over = await openTransport(mcp, server, opts);
  client.onclose = () => {
    ended ??= (over as Partial<StdioTransport>).ended ?? "the connection was closed";
  };
  const outcome = async <T>(work: Promise<T>, signal?: AbortSignal, ms = server.timeoutMs): Promise<Outcome<T>> => {
    try {
      return { kind: "done", value: await work };
    } catch (error) {
      const { said, ended: how = ended } = over as Partial<StdioTransport>;
      return failed(mcp, error, { signal, ended: how, said, ms });
    }
  };
  const asked = ({ signal, onProgress }: Asking) => ({
    signal,
    timeout: server.timeoutMs,
    resetTimeoutOnProgress: true,
    onprogress: ({ progress, total, message }: Mcp.Progress) =>
      onProgress?.(
        [message ?? "", total === undefined ? `${progress}` : `${progress}/${total}`].filter(Boolean).join(" "),
      ),
  });
  const { signal, connectMs = CONNECT_MS } = opts;
  const connected = await outcome(client.connect(over, { signal, timeout: connectMs }), signal, connectMs);
  if (connected.kind !== "done") {
    await client.close().catch(() => undefined);
    await over.close().catch(() => undefined);
    return connected;
  }
  const { resources, prompts, tools } = client.getServerCapabilities() ?? {};
  return {
    kind: "done",
    value: {
      server,
      instructions: client.getInstructions(),
      get ended() {
        return ended;
      },
      get isStale() {
        return isStale;
      },
      has: { resources: resources !== undefined, prompts: prompts !== undefined },
      async tools() {
        isStale = false;
        if (!tools) return { kind: "done", value: [] };
        const listed = await outcome(client.listTools(undefined, { timeout: server.timeoutMs, cacheMode: "refresh" }));
        return listed.kind === "done" ? { kind: "done", value: definitionsOf(listed.value.tools) } : listed;
      },
      call: (name, args, asking) => outcome(client.callTool({ name, arguments: args }, asked(asking)), asking.signal),
      resource: (uri, asking) => outcome(client.readResource({ uri }, asked(asking)), asking.signal),
      async prompts(asking) {
        const listed = await outcome(client.listPrompts(undefined, asked(asking)), asking.signal);
        return listed.kind === "done" ? { kind: "done", value: listed.value.prompts } : listed;
      },
      prompt: (name, args, asking) =>
        outcome(client.getPrompt({ name, arguments: args }, asked(asking)), asking.signal),
      async close() {
        ended ??= "closed";
        await client.close().catch(() => undefined);
      },
    },
  };
}

async function openTransport(
  mcp: typeof Mcp,
  { name, repository, transport }: McpServer,
  opts: ConnectOptions,
): Promise<Mcp.Transport> {
  const { root, env, encloseServer } = opts.house;
  if (transport.kind === "stdio") {
    const walls = repository ? ((await encloseServer?.(name)) ?? []) : [];
    const command = [...walls, transport.command, ...transport.args];
    const patience = repository ? NPM_PATIENCE : {};
    return createStdioTransport({ command, env: { ...patience, ...env, ...transport.env }, cwd: root }, mcp);
  }
  if (transport.kind === "sdk") {
    const [ours, theirs] = mcp.InMemoryTransport.createLinkedPair();
    await transport.server.connect(theirs);
    return ours;
  }
  const { url, headers } = transport;
  const hasOwn = Object.keys(headers).some((header) => header.toLowerCase() === "authorization");
  const options = {
    requestInit: { headers },
    fetch: boundedFetch(),
    ...(!hasOwn && opts.authProvider && { authProvider: opts.authProvider }),
  };
  return transport.kind === "http"
    ? new mcp.StreamableHTTPClientTransport(new URL(url), options)
    : new mcp.SSEClientTransport(new URL(url), options);
}

function failed(
  mcp: typeof Mcp,
  error: unknown,
  {
    signal,
    ended,
    said,
    ms,
  }: { signal: AbortSignal | undefined; ended: string | undefined; said: string | undefined; ms: number },
): Exclude<Outcome<never>, { kind: "done" }> {
  if (signal?.aborted) return { kind: "aborted" };
  const all = [...causes(error)];
  const wantsLogin = (one: unknown) =>
    mcp.UnauthorizedError.isInstance(one) || (mcp.SdkHttpError.isInstance(one) && one.status === 401);
  if (all.some(wantsLogin)) return { kind: "login" };
  if (ended !== undefined) return { kind: "ended", says: ended };
  if (mcp.ProtocolError.isInstance(error)) return { kind: "error", says: messageOf(error) };
  if (!mcp.SdkError.isInstance(error)) return { kind: "ended", says: causeText(all) };
  if (error.code === mcp.SdkErrorCode.RequestTimeout) return { kind: "timeout", ms, said };
  if (ENDED.has(error.code)) return { kind: "ended", says: causeText(all) };
  return { kind: "error", says: messageOf(error) };
}

const ENDED = new Set<string>(["NOT_CONNECTED", "CONNECTION_CLOSED", "SEND_FAILED", "ERA_NEGOTIATION_FAILED"]);

/** An error, what caused it, what caused that. */
function* causes(error: unknown): Iterable<unknown> {
  for (let one = error, depth = 0; one instanceof Error && depth < 5; one = one.cause, depth++) yield one;
}

/** Of `fetch failed`, what did. */
const causeText = (all: readonly unknown[]): string => [...new Set(all.map((one) => messageOf(one)))].join(": ");
