// An MCP server over HTTP for tests: streamable at /mcp, the older way at /sse, behind a login at /private, with its own authorization server, and without end at /endless/….
import { createHash, randomUUID } from "node:crypto";
import http from "node:http";
import type { AddressInfo } from "node:net";

export interface HttpServer {
  url: string;
  /** Method and path of every request, and `Authorization` where it was given. */
  requests: string[];
  /** No token that was given out counts any more, nor may one be renewed. */
  revoke(): void;
  close(): Promise<void>;
}

const TOOLS = [{ name: "echo", description: "Says it again.", inputSchema: { type: "object", properties: {} } }];

function answer({ id, method, params }: { id?: number; method: string; params?: Record<string, unknown> }) {
  const reply = (result: object) => ({ jsonrpc: "2.0", id, result });
  if (method === "initialize")
    return reply({
      protocolVersion: params!.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "http", version: "1" },
    });
  if (method === "tools/list") return reply({ tools: TOOLS });
  if (method === "tools/call") return reply({ content: [{ type: "text", text: JSON.stringify(params!.arguments) }] });
  return { jsonrpc: "2.0", id, error: { code: -32601, message: `no ${method} here` } };
}

/** More than anybody reads, of that kind: `json` or `event-stream`. */
function endless(response: http.ServerResponse, kind: string): void {
  response.writeHead(200, { "content-type": kind === "json" ? "application/json" : "text/event-stream" });
  const [piece, most] = [Buffer.alloc(1 << 20, kind === "json" ? " " : "data:xxxxxxxxxx\n"), 100];
  let count = 0;
  const more = (): void => {
    while (count++ < most) if (!response.write(piece)) return void response.once("drain", more);
    response.end();
  };
  more();
}

async function bodyOf(request: http.IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}

export async function startHttpServer(): Promise<HttpServer> {
  const requests: string[] = [];
  const challenges = new Map<string, string>();
  const tokens = new Set<string>();
  const renewals = new Set<string>();
  let stream: http.ServerResponse | undefined;
  let base = "";
  const server = http.createServer(async (request, response) => {
    const url = new URL(request.url!, base);
    const { authorization } = request.headers;
    requests.push(`${request.method} ${url.pathname}${authorization ? ` ${authorization}` : ""}`);
    const json = (value: unknown, status = 200, headers = {}) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify(value));
    };
    const isLogin = url.pathname.startsWith("/.well-known/");
    if (isLogin && url.pathname.includes("protected-resource"))
      return json({ resource: `${base}/private`, authorization_servers: [base] });
    if (isLogin)
      return json({
        issuer: base,
        authorization_endpoint: `${base}/authorize`,
        token_endpoint: `${base}/token`,
        registration_endpoint: `${base}/register`,
        response_types_supported: ["code"],
        grant_types_supported: ["authorization_code", "refresh_token"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none"],
      });
    if (url.pathname === "/register") return json({ ...JSON.parse(await bodyOf(request)), client_id: "client" }, 201);
    if (url.pathname === "/authorize") {
      const code = randomUUID();
      challenges.set(code, url.searchParams.get("code_challenge")!);
      const back = new URL(url.searchParams.get("redirect_uri")!);
      back.search = String(new URLSearchParams({ code, state: url.searchParams.get("state")! }));
      response.writeHead(302, { location: back.href });
      return response.end();
    }
    if (url.pathname === "/token") {
      const given = new URLSearchParams(await bodyOf(request));
      const verifier = given.get("code_verifier");
      const isProven =
        verifier !== null &&
        challenges.get(given.get("code")!) === createHash("sha256").update(verifier).digest("base64url");
      if (!isProven && !renewals.has(given.get("refresh_token") ?? "")) return json({ error: "invalid_grant" }, 400);
      const [token, renewal] = [`tok-${tokens.size + 1}`, `renew-${renewals.size + 1}`];
      tokens.add(token);
      renewals.add(renewal);
      return json({ access_token: token, token_type: "Bearer", refresh_token: renewal, expires_in: 3600 });
    }
    if (url.pathname === "/private" && !tokens.has(authorization?.replace("Bearer ", "") ?? ""))
      return json({}, 401, {
        "www-authenticate": `Bearer resource_metadata="${base}/.well-known/oauth-protected-resource/private"`,
      });
    if (url.pathname === "/sse") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("event: endpoint\ndata: /messages\n\n");
      stream = response;
      return undefined;
    }
    if (url.pathname.startsWith("/endless")) return endless(response, url.pathname.slice("/endless/".length));
    if (request.method !== "POST") return json({}, 405);
    const message = JSON.parse(await bodyOf(request));
    if (message.id === undefined) return response.writeHead(202).end();
    if (url.pathname !== "/messages") return json(answer(message));
    stream!.write(`event: message\ndata: ${JSON.stringify(answer(message))}\n\n`);
    return response.writeHead(202).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: base,
    requests,
    revoke() {
      tokens.clear();
      renewals.clear();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
