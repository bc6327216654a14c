// Servers over HTTP: streamable, the older way, one that wants a login; and what is said when there is none.
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../src/mechanisms/mcp/connection.ts";
import type { McpServer } from "../../src/mechanisms/mcp/port.ts";
import { runCli, startCli } from "../cli/cli.ts";
import { tempDir } from "../house.ts";
import { call, openDesk } from "./desk.ts";
import { type HttpServer, startHttpServer } from "./http-server.ts";

let http: HttpServer;
beforeAll(async () => {
  http = await startHttpServer();
});
afterAll(() => http.close());

const serverAt = (name: string, kind: "http" | "sse", url: string, headers = {}): McpServer => ({
  name,
  source: "settings",
  repository: false,
  timeoutMs: 5000,
  transport: { kind, url, headers },
});

describe("servers over HTTP", () => {
  it("are called by both ways, with their headers; one that wants a login and one that is not there say so", async () => {
    const servers = [
      serverAt("new", "http", `${http.url}/mcp`, { "x-own": "1", authorization: "Bearer mine" }),
      serverAt("old", "sse", `${http.url}/sse`),
      serverAt("private", "http", `${http.url}/private`),
      serverAt("gone", "http", "http://127.0.0.1:9/mcp"),
    ];
    const desk = await openDesk(
      [
        { calls: servers.map(({ name }) => ({ name: "connect_mcp", input: { name } })) },
        { calls: [...call("mcp__new__echo", { a: 1 }).calls, ...call("mcp__old__echo", { b: 2 }).calls] },
        { text: "ok" },
      ],
      {},
      { mcp: { servers } },
    );
    await desk.go();
    const { messages } = desk.server.log().requests[2]!.body as { messages: { role: string; content: string }[] };
    expect(messages.flatMap(({ role, content }) => (role === "tool" ? [content] : []))).toEqual([
      "Connected to new. Offered from the next round on: mcp__new__echo.",
      expect.stringMatching(/^Connected to old\. Offered from the next round on: .*mcp__old__echo\.$/),
      "connect_mcp failed: the MCP server private (settings) wants a login: the user runs `holdfast mcp login private`.",
      expect.stringMatching(
        /^connect_mcp failed: the MCP server gone \(settings\) is not there: .*fetch failed.*\. The next call/,
      ),
      '{"a":1}',
      '{"b":2}',
    ]);
    expect(http.requests.includes("POST /mcp Bearer mine")).toBe(true);
    expect(http.requests.some((line) => line.includes("/register"))).toBe(false);
    await desk.close();
  });

  it("whose answer, or whose event, has no end are given up", { timeout: 60_000 }, async () => {
    const house = { root: "/", env: {}, version: "1", encloseServer: undefined };
    const opened = async (kind: "http" | "sse", of: string) =>
      connect(serverAt("endless", kind, `${http.url}/endless/${of}`), {
        house,
        elicit: async () => ({ action: "decline" }),
        connectMs: 50_000,
      });
    const says = expect.stringContaining("it sent more than 64 MB without an end");
    expect(await opened("http", "json")).toEqual({ kind: "ended", says });
    expect(await opened("sse", "event-stream")).toEqual({ kind: "ended", says });
  });

  it("get the tokens of a login, which a file of mode 600 keeps, until a logout", { timeout: 60_000 }, async () => {
    const [cwd, state] = [tempDir("project"), tempDir("state")];
    const config = path.join(state, ".config/holdfast/settings.json");
    fs.mkdirSync(path.dirname(config), { recursive: true });
    fs.writeFileSync(config, JSON.stringify({ mcpServers: { private: { type: "http", url: `${http.url}/private` } } }));
    const cli = (...args: string[]) => runCli(["mcp", ...args], { cwd, state });
    expect(await cli("show", "private")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("wants a login: the user runs `holdfast mcp login private`."),
    });
    const { child, exited } = startCli(["mcp", "login", "private"], { cwd, state });
    let said = "";
    child.stdout!.on("data", (chunk) => {
      said += chunk;
    });
    await expect.poll(() => /http\S+authorize\S+/.exec(said)?.[0], { timeout: 20_000 }).toBeDefined();
    const address = new URL(/http\S+authorize\S+/.exec(said)![0]);
    const back = new URL(address.searchParams.get("redirect_uri")!);
    const forged = await fetch(`${back.href}?code=evil&state=guessed`);
    expect([forged.status, back.hostname, address.searchParams.get("code_challenge_method")]).toEqual([
      404,
      "127.0.0.1",
      "S256",
    ]);
    await fetch(address); // as a browser does: to the authorization server, and from there back to us
    expect(await exited).toMatchObject({ code: 0, stdout: expect.stringContaining("logged in to private\n") });
    const [kept] = fs.globSync(path.join(state, "**/mcp/login-private-*.json"));
    expect([(fs.statSync(kept!).mode & 0o777).toString(8), (await cli("ls")).stdout]).toEqual([
      "600",
      expect.stringMatching(/^private {14}http {2}http:\S+\/private {2}\(settings, logged in\)\n$/),
    ]);
    expect((await cli("show", "private")).stdout).toContain("mcp__private__echo: Says it again.");
    http.revoke();
    expect((await cli("show", "private")).stderr).toContain("holdfast mcp login private");
    expect([(await cli("logout", "private")).stdout, (await cli("logout", "private")).stdout]).toEqual([
      "logged out of private\n",
      "private: nothing was kept\n",
    ]);
    for (const dir of [cwd, state]) fs.rmSync(dir, { recursive: true, force: true });
  });
});
