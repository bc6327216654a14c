// The published reference servers, fetched by npx: outside, and behind walls with a package cache of their own. Only in the long run.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import type { McpServer } from "../../src/mechanisms/mcp/port.ts";
import { startModelServer } from "../../src/testing/model-server.ts";
import type { ScriptRound } from "../../src/testing/model-server-script.ts";
import { runCli, startCli } from "../cli/cli.ts";
import { KEYS, sandboxFor } from "../environment.ts";
import { tempDir } from "../house.ts";
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

/** As their READMEs write them: without a version, from `.mcp.json`, so that they run behind walls. */
const LINES: Record<string, string[]> = {
  everything: ["-y", "@modelcontextprotocol/server-everything"],
  filesystem: ["-y", "@modelcontextprotocol/server-filesystem", "."],
  memory: ["-y", "@modelcontextprotocol/server-memory"],
  "sequential-thinking": ["-y", "@modelcontextprotocol/server-sequential-thinking"],
};
const NOWHERE = "http://127.0.0.1:9/";
const UNKNOWN =
  "Interrupted: the harness stopped while this call ran, and its outcome is unknown. Look before you repeat it.";

test.runIf(LONG)(
  "by the lines of their READMEs they start behind walls with nothing fetched before, and again without a registry; a call that kill -9 cut off is unknown, and never sent again",
  { timeout: 1_800_000 },
  async () => {
    const [cwd, state] = [tempDir("project"), tempDir("state")];
    onTestFinished(() => {
      for (const dir of [cwd, state]) fs.rmSync(dir, { recursive: true, force: true });
    });
    const proxy = ["$", "{NO_WAY:-}"].join(""); // nothing, then one that nobody answers at: no registry can be reached
    const env = { npm_config_proxy: proxy, npm_config_https_proxy: proxy };
    const mcpServers = Object.fromEntries(
      Object.entries(LINES).map(([name, args]) => [name, { command: "npx", args, env, timeout: 600_000 }]),
    );
    fs.writeFileSync(path.join(cwd, ".mcp.json"), JSON.stringify({ mcpServers }));
    let calls: ScriptRound[] = [];
    let asked: { messages: { role: string; content: string }[] } | undefined;
    let tries = 0;
    const model = await startModelServer({
      script: ({ body }) => {
        asked = body;
        const names: string[] = body.tools.map((tool: { function: { name: string } }) => tool.function.name);
        const missing = Object.keys(LINES).find((name) => !names.some((one) => one.startsWith(`mcp__${name}__`)));
        if (missing !== undefined && ++tries < 40)
          return { calls: [{ name: "connect_mcp", input: { name: missing } }] };
        return calls.shift() ?? { text: "ok" };
      },
    });
    onTestFinished(() => model.close());
    const thought = { thought: "x", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };
    const each = () => [
      call("mcp__everything__echo", { message: "hello" }),
      call("mcp__filesystem__list_allowed_directories"),
      call("mcp__memory__create_entities", { entities: [{ name: "a", entityType: "b", observations: ["c"] }] }),
      call("mcp__sequential-thinking__sequentialthinking", thought),
    ];
    const opts = (noWay = "") => ({ cwd, state, env: { OPENAI_BASE_URL: model.openaiUrl, ...KEYS, NO_WAY: noWay } });
    const allowed = Object.keys(LINES).map((name) => `mcp__${name}`);
    const given = ["--model", "openai-compatible/mock", "--allowedTools", allowed.join(",")];
    const results = () =>
      asked!.messages.flatMap(({ role, content }) =>
        role === "tool" && !content.startsWith("Connected to") && !content.startsWith("connect_mcp failed")
          ? [content]
          : [],
      );
    const expected = [
      "Echo: hello",
      `Allowed directories:\n${cwd}`,
      expect.stringContaining('"entityType": "b"'),
      expect.stringContaining('"thoughtNumber": 1'),
    ];

    const begun = Date.now();
    calls = each();
    await runCli(["-p", "go", "--trust", ...given], opts());
    expect(results()).toEqual(expected);
    const cold = Date.now() - begun;
    expect(fs.globSync(path.join(state, "**/private/mcp/*/home/.npm/_npx")).length).toBe(
      sandboxFor(state, cwd) === undefined ? 0 : 4,
    );

    // Without a registry, a new context: all from what the first start left in their own homes.
    const again = Date.now();
    calls = each();
    await runCli(["-p", "go", ...given], opts(NOWHERE));
    expect([results()[0], results()[1], results()[3]]).toEqual([expected[0], expected[1], expected[3]]);
    const offline = Date.now() - again;

    // It changes files, and waits for one that nobody writes to.
    execFileSync("bash", ["-c", "mkfifo pipe"], { cwd });
    calls = [call("mcp__filesystem__edit_file", { path: "pipe", edits: [{ oldText: "in flight", newText: "x" }] })];
    const { child, exited } = startCli(["-p", "go", "-c", ...given], opts(NOWHERE));
    await expect.poll(() => calls.length, { timeout: 600_000 }).toBe(0);
    const ledger = fs.globSync(path.join(state, "**/ledger.db"))[0]!;
    const started = async () => {
      const store = await openSqliteStore(ledger);
      let count = 0;
      for await (const { ledger: name } of store.list())
        for await (const { type, data } of store.read(name))
          if (type === "tool.started" && JSON.stringify(data).includes("in flight")) count++;
      await store.close();
      return count;
    };
    await expect.poll(started, { timeout: 600_000, interval: 500 }).toBe(1);
    child.kill("SIGKILL");
    await exited;
    await runCli(["-p", "-c", ...given], opts(NOWHERE));
    expect([results().at(-1), await started()]).toEqual([UNKNOWN, 1]);
    process.stderr.write(`reference servers: cold ${cold} ms, without a registry ${offline} ms, ${tries} connects\n`);
  },
);
