// The published reference servers, fetched by npx: outside, and one behind walls with a package cache of its own. Only in the long run.
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import type { McpServer } from "../../src/mechanisms/mcp/port.ts";
import { call, connect, openDesk } from "./desk.ts";

const LONG = process.env.HOLDFAST_LONG === "1";
const VERSION = "2026.8.31";

const published = (name: string, args: string[] = [], more: Partial<McpServer> = {}): McpServer => ({
  name,
  source: "settings",
  repository: false,
  timeoutMs: 60_000,
  transport: {
    kind: "stdio",
    command: "npx",
    args: ["-y", `@modelcontextprotocol/server-${name}@${VERSION}`, ...args],
    env: {},
  },
  ...more,
});

const resultsIn = (body: unknown) =>
  (body as { messages: { role: string; content: string }[] }).messages.flatMap(({ role, content }) =>
    role === "tool" ? [content] : [],
  );

test.runIf(LONG)("the four are connected, and a tool of each is called", { timeout: 600_000 }, async () => {
  const servers = [
    published("everything"),
    published("filesystem", ["."]),
    published("memory"),
    published("sequential-thinking"),
  ];
  const thought = { thought: "x", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };
  const desk = await openDesk(
    [
      ...servers.map(({ name }) => connect(name)),
      call("mcp__everything__echo", { message: "hello" }),
      call("mcp__everything__get-tiny-image"),
      call("mcp__filesystem__list_allowed_directories"),
      call("mcp__memory__read_graph"),
      call("mcp__sequential-thinking__sequentialthinking", thought),
      { text: "ok" },
    ],
    {},
    { mcp: { servers } },
  );
  await desk.go();
  const results = resultsIn(desk.server.log().requests.at(-1)!.body);
  const counts = results.slice(0, 4).map((one) => one.split("\n")[0]!.match(/mcp__/g)?.length);
  expect([counts, results[4], results[6], JSON.parse(results[7]!), JSON.parse(results[8]!).thoughtNumber]).toEqual([
    [16, 14, 9, 1], // of the first 13, and three for clients that answer questions and name roots
    "Echo: hello",
    `Allowed directories:\n${desk.root}`,
    { entities: [], relations: [] },
    1,
  ]);
  await desk.close();
});

test.runIf(LONG)("one of a repository is fetched and works behind walls", { timeout: 600_000 }, async () => {
  const servers = [published("filesystem", ["."], { repository: true })];
  const desk = await openDesk(
    [connect("filesystem"), call("mcp__filesystem__write_file", { path: "made.txt", content: "x" }), { text: "ok" }],
    {},
    { mcp: { servers } },
  );
  await desk.go();
  expect([
    resultsIn(desk.server.log().requests.at(-1)!.body)[1],
    fs.readFileSync(path.join(desk.root, "made.txt"), "utf8"),
  ]).toEqual(["Successfully wrote to made.txt", "x"]);
  await desk.close();
});
