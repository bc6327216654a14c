// `.mcp.json` as it is found in the wild: kinds of servers, variables, and one line for what is wrong in a file.
import { expect, test } from "vitest";
import { toolName } from "../../src/mechanisms/mcp/names.ts";
import { readServersText } from "../../src/mechanisms/mcp/server-config.ts";

const read = (mcpServers: object, env = {}) =>
  readServersText(JSON.stringify({ mcpServers }), { shown: ".mcp.json", repository: true, env });
/** How a file names a variable. */
const of = (name: string) => ["$", "{", name, "}"].join("");
const COMMON = { source: ".mcp.json", repository: true, timeoutMs: 60_000 };

test("servers are read by their kind, with variables filled in once, wherever a text stands", () => {
  const { servers, warnings } = read(
    {
      "my docs": { command: `${of("BIN")}/docs`, args: ["--at", of("PORT:-80")], env: { A: of("EVIL") }, timeout: 5 },
      web: {
        url: `https://${of("HOST")}/mcp`,
        headers: { "x-a": of("BIN") },
        oauth: { clientId: of("BIN"), callbackPort: 8080 },
      },
      old: { type: "sse", url: "http://a.example" },
      same: { type: "streamable-http", url: "http://a.example" },
    },
    { BIN: "/bin", HOST: "a.example", EVIL: of("BIN") },
  );
  expect([warnings, servers]).toEqual([
    [],
    [
      {
        name: "my_docs",
        ...COMMON,
        timeoutMs: 5,
        transport: { kind: "stdio", command: "/bin/docs", args: ["--at", "80"], env: { A: of("BIN") } },
      },
      {
        name: "web",
        ...COMMON,
        transport: {
          kind: "http",
          url: "https://a.example/mcp",
          headers: { "x-a": "/bin" },
          oauth: { clientId: "/bin", callbackPort: 8080 },
        },
      },
      { name: "old", ...COMMON, transport: { kind: "sse", url: "http://a.example", headers: {} } },
      { name: "same", ...COMMON, transport: { kind: "http", url: "http://a.example", headers: {} } },
    ],
  ]);
});

test("what is wrong with entries is one line, and the others are used", () => {
  const { servers, warnings } = read({
    a: 1,
    b: { command: "" },
    c: { command: "x", args: "y" },
    d: { command: "x", env: { A: 1 } },
    e: { url: "ftp://x" },
    f: { type: "sdk", name: "f" },
    g: { command: "x", timeout: -1 },
    h: { url: "http://x", oauth: {} },
    "i.j": { command: of("GONE") },
    "i/j": { command: "x" },
  });
  expect([
    servers.map(({ name, transport }) => [name, transport.kind === "stdio" && transport.command]),
    warnings,
  ]).toEqual([
    [["i_j", of("GONE")]],
    [
      `.mcp.json: MCP servers: ${[
        "a is no object, and is left out",
        "b has no command, and is left out",
        "c has args that are no list of texts, and is left out",
        "d has an env that is no list of names and texts, and is left out",
        "e has a url that is no http address, and is left out",
        'f has the type "sdk" (stdio, http and sse are known), and is left out',
        "g has a timeout that is no number of milliseconds above 0, and is left out",
        "h has an oauth without clientId, and is left out",
        "i.j: the variable GONE is not set, and stays as written",
        "i/j has the same name as another once it is written as i_j, and is left out",
      ].join("; ")}`,
    ],
  ]);
});

test("a file that is no JSON, or has no servers, is one line; an empty object is nothing", () => {
  const place = { shown: "x.json", repository: false, env: {} };
  expect(["[", "{}", '{"servers":{}}', "null"].map((text) => readServersText(text, place))).toEqual([
    { servers: [], warnings: [expect.stringMatching(/^x\.json: no MCP server of it is used: /)] },
    { servers: [], warnings: [] },
    { servers: [], warnings: ['x.json: no MCP server of it is used: "mcpServers" is missing'] },
    { servers: [], warnings: ['x.json: no MCP server of it is used: "mcpServers" is missing'] },
  ]);
});

test("no server has a name that a rule for another one speaks of too", () => {
  const { servers } = read({
    docs__evil: { command: "x" },
    docs_: { command: "x" },
    __docs__: { command: "x" },
    "a..b": { command: "x" },
  });
  expect(servers.map(({ name }) => [name, toolName(name, "_run")])).toEqual([
    ["docs_evil", "mcp__docs_evil___run"],
    ["docs", "mcp__docs___run"],
    ["a_b", "mcp__a_b___run"],
  ]);
  expect(toolName("docs__evil", "run")).toBe("mcp__docs_evil__run"); // also of a program that names its servers itself
});
