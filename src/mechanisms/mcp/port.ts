// What an MCP server is, as files and programs name it; and what a mechanism needs of the house around it.
import type { Answer, Asked, GateCall } from "../../loop/seams.ts";

export type ServerTransport =
  | { kind: "stdio"; command: string; args: string[]; env: Record<string, string> }
  /** `http`: streamable HTTP; `sse`: the older way. */
  | { kind: "http" | "sse"; url: string; headers: Record<string, string>; oauth?: OAuthClient };

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
}
