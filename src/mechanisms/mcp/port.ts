// What an MCP server is, as files and programs name it; and what a mechanism needs of the house around it.
import type { Answer, Asked, GateCall, Turn } from "../../loop/seams.ts";

export type ServerTransport =
  | { kind: "stdio"; command: string; args: string[]; env: Record<string, string> }
  /** `http`: streamable HTTP; `sse`: the older way. */
  | { kind: "http" | "sse"; url: string; headers: Record<string, string>; oauth?: OAuthClient }
  /** A server inside the program: `McpServer` of the official library, or anything that is connected as it is. */
  | { kind: "sdk"; server: InProcessServer };

export interface InProcessServer {
  /** Contract: called anew after the connection was closed. */
  // biome-ignore lint/suspicious/noExplicitAny: the transport of whichever version of the library it was made with
  connect(transport: any): Promise<void>;
}

/** What an authorization server knows us by, where it registers nobody by itself. */
export interface OAuthClient {
  clientId: string;
  clientSecret?: string;
  /** Where it wants the browser to come back to; default: any free one. */
  callbackPort?: number;
}

export interface McpServer {
  /** As it stands in names of tools: letters, digits, _ and -. */
  name: string;
  /** Where it is configured, as people know it. */
  source: string;
  /** Comes with the project: its process is shut in. */
  repository: boolean;
  transport: ServerTransport;
  /** So long a call may go without progress. */
  timeoutMs: number;
}

/** Servers over HTTP may want a login. */
export const addressOf = ({ transport }: McpServer): string | undefined =>
  transport.kind === "http" || transport.kind === "sse" ? transport.url : undefined;

/** Servers that a text names, and what of it is not used. */
export interface ReadServers {
  servers: McpServer[];
  /** At most one line: what of that file is not used, or not whole. */
  warnings: string[];
}

export interface McpHouse {
  /** The tree that servers work in. */
  root: string;
  /** Holds what is kept of servers: what they offered, tokens. */
  stateDir: string;
  /** Ours, for servers that want to know. */
  version: string;
  /** What the process of a server sees of our environment. */
  env: Record<string, string>;
  /** Goes before the command of a repository's server. Undefined: there is no sandbox. */
  encloseServer?: ((server: string) => Promise<string[]>) | undefined;
  /** The text without known secrets: for what comes by no call, whose result is looked through anyway. */
  hide?: (text: string) => string;
  /** Contract: undefined when nobody can be asked. */
  askPerson?: (call: GateCall, asked: Asked) => Promise<Answer | undefined>;
  /** The servers that an agent is to see, and the type of agent that says so; undefined: all that are configured. */
  serversFor?: (turn: Pick<Turn, "agent" | "slice">) => { type: string; names: readonly string[] } | undefined;
  /** Those that a type of agent brings itself. */
  serversOfType?: ((type: string) => Promise<ReadServers>) | undefined;
}
