// What a type of agent is given at its start: the MCP servers that it names or brings, and no others; skills. And that no first request waits for a server.
import fs from "node:fs";
import path from "node:path";
import { afterEach, expect, it } from "vitest";
import type { AgentDefinition } from "../../src/mechanisms/agents/definition.ts";
import type { InProcessServer } from "../../src/mechanisms/mcp/port.ts";
import type { ScriptRequest, ScriptRound } from "../../src/testing/model-server-script.ts";
import { tempDir, toolOf } from "../house.ts";
import { call, connect, type Desk, openDesk } from "./desk.ts";

let desk: Desk;
const dirs: string[] = [];
afterEach(async () => {
  await desk.close();
  for (const dir of dirs.splice(0)) fs.rmSync(dir, { recursive: true, force: true });
});

const type = (name: string, more: Partial<AgentDefinition>) => ({
  ...{ name, description: "Helps.", instructions: "You help." },
  ...more,
});
/** Whoever asks: the next. */
const inOrder = (rounds: ScriptRound[]) => () => rounds.shift() ?? { text: "ok" };
const task = (agent: string) => call("task", { description: "x", prompt: "Do it.", agent });
const ofServers = (n: number) => desk.tools(n).filter((name) => name.includes("mcp"));
const serverLine = (n: number) => /MCP servers: .*/.exec(desk.system(n))?.[0];
const own = (plan: object) => {
  const dir = tempDir("own-server");
  dirs.push(dir);
  fs.writeFileSync(path.join(dir, "plan.json"), JSON.stringify(plan));
  const args = [path.join(import.meta.dirname, "fake-server.mjs"), path.join(dir, "plan.json"), path.join(dir, "log")];
  return { command: process.execPath, args };
};

it("connects the servers that its type names or brings when it begins; it sees those alone, those it starts see them too, and nobody else what it brings", async () => {
  const { args, command } = own({ tools: [{ name: "query" }] });
  const servers = ["docs", { db_: { command, args } }, "dcos"];
  desk = await openDesk(
    inOrder([
      task("helper"),
      call("mcp__db__query", { q: 1 }),
      task("general-purpose"),
      { text: "the child's" },
      { text: "the helper's" },
      connect("mail"),
      { text: "ok" },
    ]),
    { docs: { tools: [{ name: "look" }] }, mail: { tools: [{ name: "send" }] } },
    { agents: { definitions: [type("helper", { mcpServers: servers })] } },
    { startWaitMs: 60_000 },
  );
  const { context, said } = await desk.go();
  const seen = ["mcp__db__query", "mcp__docs__look"];
  expect([0, 1, 3, 5, 6].map((n) => [serverLine(n), ofServers(n).sort()])).toEqual([
    ["MCP servers: docs, mail (connect_mcp)", ["connect_mcp"]],
    ["MCP servers: docs, db (connect_mcp)", ["connect_mcp", ...seen].sort()],
    ["MCP servers: docs, db (connect_mcp)", ["connect_mcp", ...seen].sort()],
    ["MCP servers: docs, mail (connect_mcp)", ["connect_mcp", "mcp__docs__look"]],
    ["MCP servers: docs, mail (connect_mcp)", ["connect_mcp", "mcp__docs__look", "mcp__mail__send"]],
  ]);
  expect(desk.last(2)).toBe('query {"q":1}');
  expect(said.filter((line) => line.includes("MCP"))).toEqual([
    "lead.c1: agent helper: there is no MCP server dcos: did you mean docs?",
  ]);
  const defined = (await desk.events(context)).find(({ type }) => type === "agent.defined");
  expect(defined!.data).toEqual({
    ...{ agent: "lead.c1", type: "helper", instructions: "You help." },
    mcpServers: ["docs", "db_", "dcos"], // no command, no variable: what runs is looked up where it is connected
  });
});

it("of a repository brings a server only as it was approved", async () => {
  const shown: string[] = [];
  const bringing = type("helper", { mcpServers: [{ db: own({ tools: [{ name: "query" }] }) }], repository: true });
  desk = await openDesk(
    inOrder([task("helper"), { text: "the helper's" }, { text: "ok" }]),
    {},
    {
      agents: { definitions: [bringing] },
      mcp: {
        servers: [],
        isApproved: (source, text) => {
          shown.push(source, ...Object.keys(JSON.parse(text).mcpServers));
          return false;
        },
      },
    },
  );
  const { said } = await desk.go();
  expect([shown, ofServers(1), said.filter((line) => line.includes("MCP"))]).toEqual([
    ["the program", "db"],
    [],
    [expect.stringMatching(/^lead\.c1: the program: MCP servers not used: new or changed since trust was given; look/)],
  ]);
});

it("does not wait beyond the bound for a server that answers late, or never: its tools come at a later round, and one line says so", async () => {
  const go = path.join(tempDir("late"), "go");
  dirs.push(path.dirname(go));
  const pause = toolOf("pause", "read", async () => {
    fs.writeFileSync(go, ""); // the late one answers from now on
    await new Promise((resolve) => setTimeout(resolve, 50));
    return { content: "paused" };
  });
  let asked = 0;
  const script = ({ body }: ScriptRequest) => {
    if (asked++ === 0) return task("helper");
    const names = body.tools.map((tool: { function: { name: string } }) => tool.function.name);
    return names.includes("mcp__late__look") || asked > 100 ? { text: "ok" } : call("pause");
  };
  desk = await openDesk(
    script,
    { late: { tools: [{ name: "look" }], answersAt: go }, never: { tools: [], answersAt: "/nowhere" } },
    { agents: { definitions: [type("helper", { mcpServers: ["late", "never"] })] }, tools: [pause] },
    { startWaitMs: 100 },
  );
  const { said } = await desk.go();
  const of = desk.server.log().requests.map((_, n) => ofServers(n).includes("mcp__late__look"));
  // The lead's own first request waits for none: they were not even started.
  expect([of.slice(0, 2), of.at(-2), of.at(-1)]).toEqual([[false, false], true, true]);
  const text = (name: string) =>
    `lead.c1: the MCP server ${name} has not answered within 0.1 s: the first request goes without its tools, which come when it has`;
  expect(said.filter((line) => line.includes("MCP"))).toEqual([text("late"), text("never")]);
});

it("is given the text of its skills before its first request, once, and a name that nobody has is one line", async () => {
  const dir = tempDir("skills");
  dirs.push(dir);
  for (const [name, more, body] of [
    ["tabs", "", "Tabs, never blanks. !`echo ra''n`"],
    ["mine", "disable-model-invocation: true\n", "Only by hand."],
  ]) {
    fs.mkdirSync(path.join(dir, name!));
    fs.writeFileSync(path.join(dir, name!, "SKILL.md"), `---\nname: ${name}\ndescription: d\n${more}---\n${body}\n`);
  }
  desk = await openDesk(
    inOrder([task("helper"), call("todo_write", { todos: [] }), { text: "the helper's" }, { text: "ok" }]),
    {},
    {
      agents: { definitions: [type("helper", { skills: ["tabs", "tbas", "mine"] })] },
      skills: { places: [{ dir, shown: "skills", kind: "skill" }] },
    },
  );
  const { context, said } = await desk.go();
  const bodies = [0, 1, 2].map(
    (n) => JSON.stringify(desk.server.log().requests[n]!.body).split("Tabs, never").length - 1,
  );
  expect([bodies, desk.last(1)]).toEqual([
    [0, 1, 1],
    expect.stringContaining('<skill name="tabs">\nTabs, never blanks. ran\n'),
  ]);
  expect(said.filter((line) => line.includes("there is no skill"))).toEqual([
    "lead.c1: agent helper: there is no skill tbas: did you mean tabs?",
    "lead.c1: agent helper: there is no skill mine, and it begins without (`holdfast skills`)",
  ]);
  const loaded = (await desk.events(context)).filter(({ type }) => type === "skill.loaded");
  expect(loaded.map(({ actor, data }) => [actor, data])).toEqual([
    [
      "lead.c1",
      {
        name: "tabs",
        source: "skills/tabs/SKILL.md",
        hash: expect.any(String),
        by: "person",
        mark: expect.any(String),
        agent: "helper",
      },
    ],
  ]);
});

it("a server inside the program is connected without a process", async () => {
  const methods: string[] = [];
  const server: InProcessServer = {
    async connect(transport) {
      transport.onmessage = ({ id, method, params }: { id?: number; method: string; params?: { name?: string } }) => {
        methods.push(method);
        const answers: Record<string, unknown> = {
          initialize: {
            protocolVersion: "2025-11-25",
            capabilities: { tools: {} },
            serverInfo: { name: "inside", version: "1" },
          },
          "tools/list": { tools: [{ name: "add", inputSchema: { type: "object" } }] },
          "tools/call": { content: [{ type: "text", text: `${params?.name} here` }] },
        };
        if (id !== undefined) void transport.send({ jsonrpc: "2.0", id, result: answers[method] });
      };
      await transport.start();
    },
  };
  desk = await openDesk(
    inOrder([connect("inside"), call("mcp__inside__add"), { text: "ok" }]),
    {},
    {
      mcp: {
        servers: [
          {
            name: "inside",
            source: "my program",
            repository: false,
            timeoutMs: 5000,
            transport: { kind: "sdk", server },
          },
        ],
      },
    },
  );
  await desk.go();
  expect([desk.last(2), methods]).toEqual([
    "add here",
    ["initialize", "notifications/initialized", "tools/list", "tools/call"],
  ]);
});
