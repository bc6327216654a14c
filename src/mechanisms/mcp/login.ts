// Logging in to a server over HTTP: OAuth with PKCE by way of the user's browser; what comes of it is kept in a file of the state directory.
import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { changeFile } from "../../ledger/change-file.ts";
import { HoldfastError, messageOf } from "../../ledger/error.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { addressOf, type McpServer, type OAuthClient } from "./port.ts";

interface Kept {
  tokens?: StoredOAuthTokens | undefined;
  client?: StoredOAuthClientInformation | undefined;
  /** Who gave them: the way back from the browser is held to the same. */
  discovery?: OAuthDiscoveryState | undefined;
  /** A call wanted more than the tokens allow: the next login asks for this. */
  scope?: string | undefined;
}

const urlOf = (server: McpServer): string => {
  const url = addressOf(server);
  if (url === undefined) throw new HoldfastError("invalid", "only a server over HTTP has a login: give this one env");
  return url;
};

/** By address: whoever takes the name of a server does not get its tokens. */
const fileOf = (server: McpServer, stateDir: string): string => {
  const mark = createHash("sha256").update(urlOf(server)).digest("hex").slice(0, 16);
  return path.join(stateDir, "mcp", `login-${server.name}-${mark}.json`);
};

function read(file: string): Kept {
  try {
    return JSON.parse(fs.readFileSync(file, "utf8")) as Kept;
  } catch {
    return {};
  }
}

/** Several processes may renew tokens at once. */
const change = (file: string, edit: (kept: Kept) => Kept): Promise<void> =>
  changeFile(file, () => JSON.stringify(edit(read(file))));

export const isLoggedIn = (server: McpServer, stateDir: string): boolean =>
  addressOf(server) !== undefined && read(fileOf(server, stateDir)).tokens !== undefined;

/** Contract: true when there was something to forget. */
export function forgetLogin(server: McpServer, stateDir: string): boolean {
  const file = fileOf(server, stateDir);
  if (!fs.existsSync(file)) return false;
  fs.rmSync(file);
  return true;
}

/** Undefined: nobody has logged in. Tokens are renewed where the server allows that; a browser is never opened. */
export function keptLogin(server: McpServer, stateDir: string): OAuthClientProvider | undefined {
  const file = fileOf(server, stateDir);
  if (read(file).tokens === undefined) return undefined;
  const onRedirect = (url: URL) => {
    const scope = url.searchParams.get("scope") ?? undefined;
    return change(file, (kept) => ({ ...kept, scope }));
  };
  return providerOf(file, server, { redirectUrl: NOWHERE, onRedirect });
}

const NOWHERE = "http://127.0.0.1/callback";

function providerOf(
  file: string,
  { transport }: McpServer,
  {
    redirectUrl,
    onRedirect,
    state,
  }: { redirectUrl: string; onRedirect: (url: URL) => void | Promise<void>; state?: string },
): OAuthClientProvider {
  let verifier = "";
  const { oauth } = transport as { oauth?: OAuthClient };
  const known = oauth && {
    client_id: oauth.clientId,
    ...(oauth.clientSecret !== undefined && { client_secret: oauth.clientSecret }),
  };
  return {
    redirectUrl,
    clientMetadata: {
      client_name: "Holdfast",
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: oauth?.clientSecret === undefined ? "none" : "client_secret_post",
    },
    ...(state !== undefined && { state: () => state }),
    clientInformation: () => known ?? read(file).client,
    saveClientInformation: (client) => change(file, (kept) => ({ ...kept, client })),
    tokens: () => read(file).tokens,
    saveTokens: (tokens) => change(file, (kept) => ({ ...kept, tokens })),
    saveDiscoveryState: (discovery) => change(file, (kept) => ({ ...kept, discovery })),
    discoveryState: () => read(file).discovery,
    redirectToAuthorization: onRedirect,
    saveCodeVerifier(code) {
      verifier = code;
    },
    codeVerifier: () => verifier,
    invalidateCredentials: (scope) =>
      change(file, (kept) => {
        const { client, tokens, discovery } = kept;
        if (scope === "all") return {};
        if (scope === "client") return { tokens, discovery };
        if (scope === "tokens") return { client, discovery };
        return scope === "discovery" ? { client, tokens } : kept;
      }),
  };
}

export interface LoginOptions {
  stateDir: string;
  version: string;
  /** Shows the person where to go. */
  onAddress: (url: string) => void;
  signal: AbortSignal;
}

/** Contract: tokens are kept when it resolves. */
export async function loginTo(
  server: McpServer,
  { stateDir, version, onAddress, signal }: LoginOptions,
): Promise<void> {
  const mcp = await import("@modelcontextprotocol/client");
  const url = new URL(urlOf(server));
  const file = fileOf(server, stateDir);
  const before = read(file);
  await change(file, () => ({})); // another port, another registration; and tokens that are there would be used
  const state = randomBytes(16).toString("hex");
  const back = await listenForCallback(state, portOf(server), signal);
  try {
    const onRedirect = (address: URL) => {
      if (before.scope !== undefined) address.searchParams.set("scope", before.scope);
      onAddress(address.href);
    };
    const provider = providerOf(file, server, { redirectUrl: back.url, state, onRedirect });
    const kind = server.transport.kind === "sse" ? mcp.SSEClientTransport : mcp.StreamableHTTPClientTransport;
    const transport = new kind(url, { authProvider: provider, fetch: boundedFetch() });
    const client = new mcp.Client({ name: "holdfast", version }, { versionNegotiation: { mode: "auto" } });
    try {
      await client.connect(transport, { signal });
      await client.close();
      throw new HoldfastError("invalid", `${server.name} wants no login: it can be used as it is`);
    } catch (error) {
      if (!mcp.UnauthorizedError.isInstance(error)) throw error;
    }
    await transport.finishAuth(await back.parameters);
  } catch (error) {
    await change(file, () => before);
    if (error instanceof HoldfastError) throw error;
    throw new HoldfastError("invalid", `the login to ${server.name} failed: ${messageOf(error)}`, { cause: error });
  } finally {
    back.close();
  }
}

const portOf = ({ transport }: McpServer): number => ("oauth" in transport ? (transport.oauth?.callbackPort ?? 0) : 0);

/** Where the browser comes back to. Only an address with our own `state` counts. */
async function listenForCallback(state: string, wanted: number, signal: AbortSignal) {
  let settle: { resolve: (parameters: URLSearchParams) => void; reject: (error: Error) => void };
  const parameters = new Promise<URLSearchParams>((resolve, reject) => {
    settle = { resolve, reject };
  });
  parameters.catch(() => undefined);
  const listener = http.createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
    const isOurs = pathname === "/callback" && searchParams.get("state") === state;
    response.writeHead(isOurs ? 200 : 404, { "content-type": "text/plain; charset=utf-8", connection: "close" });
    response.end(isOurs ? "You can close this window and go back to the terminal.\n" : "Nothing here.\n");
    if (isOurs) settle.resolve(searchParams);
  });
  await new Promise<void>((resolve, reject) => listener.once("error", reject).listen(wanted, "127.0.0.1", resolve));
  signal.addEventListener("abort", () => settle.reject(new Error("nobody came back from the browser")));
  const { port } = listener.address() as { port: number };
  return { url: `http://127.0.0.1:${port}/callback`, parameters, close: () => void listener.close() };
}
