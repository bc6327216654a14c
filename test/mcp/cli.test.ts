// MCP servers through the command line: of the project, of the user, of a flag; behind walls or not; a kill -9 in the middle of a call.
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import type { ScriptRound } from "../../src/testing/model-server-script.ts";
import { runCli, startCli } from "../cli/cli.ts";
import { CI_VARIABLES, KEYS, sandboxFor } from "../environment.ts";
import { tempDir } from "../house.ts";

const cwd = tempDir("project");
const state = tempDir("state");
const root = path.join(import.meta.dirname, "../..");
let model: ModelServer;
let env: Record<string, string>;
/** What the model does next, by request. */
let script: ScriptRound[] = [];

beforeAll(async () => {
  model = await startModelServer({ script: () => script.shift() ?? { text: "ok" } });
  env = { OPENAI_BASE_URL: model.openaiUrl, ...KEYS, ...CI_VARIABLES };
  fs.copyFileSync(path.join(import.meta.dirname, "fake-server.mjs"), path.join(cwd, "server.mjs"));
});
afterAll(async () => {
  await model.close();
  for (const dir of [cwd, state]) fs.rmSync(dir, { recursive: true, force: true });
});

const calling = (name: string, input: object = {}) => ({ calls: [{ name, input }] });
const plan = (tools: string[], does: object = {}) =>
  fs.writeFileSync(path.join(cwd, "plan.json"), JSON.stringify({ tools: tools.map((name) => ({ name })), does }));
const FAKE = {
  command: "node",
  args: ["server.mjs", "plan.json", "log"],
  env: { OWN: ["$", "{WORD:-of-the-server}"].join("") },
};
const opts = () => ({ cwd, state, env });
const ask = (...more: string[]) => runCli(["-p", "go", "--model", "openai-compatible/mock", ...more], opts());
type Body = { messages: { role: string; content: string }[]; tools: { function: { name: string } }[] };
const requests = () => model.log().requests.map(({ body }) => body as unknown as Body);
const results = () =>
  requests()
    .at(-1)!
    .messages.flatMap(({ role, content }) => (role === "tool" ? [content] : []));

describe("a server of the project", () => {
  const file = path.join(cwd, ".mcp.json");

  it("is not known before the project is trusted; then it runs behind walls, with a home of its own and none of our keys", async () => {
    fs.writeFileSync(file, JSON.stringify({ mcpServers: { fake: FAKE, bad: { type: "sdk" } } }));
    const outside = path.join(state, "outside");
    plan(["env", "out"], { env: { env: true }, out: { touch: outside } });
    const before = await ask();
    expect(before.stderr).toContain("not trusted, and not used: .mcp.json");
    expect(
      requests()
        .at(-1)!
        .tools.some(({ function: { name } }) => name === "connect_mcp"),
    ).toBe(false);
    script = [
      calling("connect_mcp", { name: "fake" }),
      calling("mcp__fake__env"),
      calling("mcp__fake__out"),
      { text: "ok" },
    ];
    const { code, stderr } = await ask("--trust", "--allowedTools", "mcp__fake__*");
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining(
        'holdfast: .mcp.json: MCP servers: bad has the type "sdk" (stdio, http and sse are known), and is left out\n',
      ),
    ]);
    const [connected, variables, touched] = results();
    const seen = JSON.parse(variables!) as Record<string, string>;
    expect([connected, seen.OWN, Object.keys(seen).filter((name) => /KEY|TOKEN|URL/.test(name))]).toEqual([
      "Connected to fake. Offered from the next round on: mcp__fake__env, mcp__fake__out.",
      "of-the-server",
      [],
    ]);
    // Written to the home that it sees, which is its own, and kept.
    const kept = fs.globSync(path.join(state, "**/private/mcp/fake/home/outside"));
    const walls = sandboxFor(state, cwd) !== undefined;
    expect([touched, fs.existsSync(outside), kept.length]).toEqual(["out {}", !walls, walls ? 1 : 0]);
  });

  it("asks for each call of what no rule allows, and says the rule", async () => {
    script = [calling("connect_mcp", { name: "fake" }), calling("mcp__fake__env"), { text: "ok" }];
    const { stderr } = await ask("--deny", "mcp__fake__out");
    expect(results().at(-1)).toMatch(
      /^Refused: mcp__fake__env: mcp__fake__env acts outside the project: a person decides/,
    );
    expect(stderr).toContain("mcp__fake__env");
  });

  it("is gone when its file changes, until that is trusted again", async () => {
    fs.writeFileSync(file, JSON.stringify({ mcpServers: { fake: { ...FAKE, args: ["evil.mjs"] } } }));
    const { stderr } = await ask();
    expect(stderr).toContain(".mcp.json: MCP servers not used: changed since it was trusted");
    fs.rmSync(file);
  });
});

describe("a server that an agent of the project brings", () => {
  it("is shown by trust and starts behind walls once it is trusted, connected when the agent begins; changed, it is not used", async () => {
    plan(["env"], { env: { env: true } });
    const file = path.join(cwd, ".claude/agents/helper.md");
    fs.mkdirSync(path.dirname(file), { recursive: true });
    const write = (args: string) =>
      fs.writeFileSync(
        file,
        `---\nname: helper\ndescription: Helps.\nmcpServers:\n  - desk:\n      command: node\n      args: [${args}]\n---\nYou help.\n`,
      );
    write("server.mjs, plan.json, log");
    const untrusted = await runCli(["trust"], opts());
    expect(untrusted.stdout).toContain('"command": "node"');
    script = [calling("mcp__desk__env"), { text: "ok" }];
    const { code, stderr } = await ask("--agent", "helper", "--trust", "--allowedTools", "mcp__desk__*");
    const seen = JSON.parse(results().at(-1)!) as Record<string, string>;
    const walls = sandboxFor(state, cwd) !== undefined;
    expect([
      code,
      stderr.includes("MCP"),
      requests().at(-2)!.messages[0]!.content.includes("MCP servers: desk"),
    ]).toEqual([0, false, true]);
    const kept = fs.globSync(path.join(state, "**/private/mcp/desk/home"));
    expect([Object.keys(seen).filter((name) => /KEY|TOKEN|URL/.test(name)), kept.length]).toEqual([[], walls ? 1 : 0]);
    write("evil.mjs");
    const changed = await ask("--agent", "helper");
    expect(changed.stderr).toContain(".claude/agents/helper.md: MCP servers not used: new or changed since trust");
    expect(requests().at(-1)!.messages[0]!.content).not.toContain("MCP servers");
    fs.rmSync(path.join(cwd, ".claude"), { recursive: true });
  });
});

describe("a server of the user", () => {
  const config = path.join(state, ".config/holdfast/settings.json");

  it("comes from the settings, or from --mcp-config, which --strict-mcp-config leaves alone", async () => {
    plan(["look"]);
    fs.mkdirSync(path.dirname(config), { recursive: true });
    fs.writeFileSync(config, JSON.stringify({ mcpServers: { mine: FAKE } }));
    const given = JSON.stringify({ mcpServers: { given: { command: ["$", "{NOWHERE}/x"].join("") } } });
    const { stderr } = await ask("--mcp-config", given);
    expect(requests().at(-1)!.messages[0]!.content).toContain("MCP servers: given, mine (connect_mcp)");
    expect(stderr).toContain(
      "--mcp-config: MCP servers: given: the variable NOWHERE is not set, and stays as written\n",
    );
    const { stdout } = await ask("--mcp-config", given, "--strict-mcp-config", "--output-format", "stream-json");
    const init = JSON.parse(stdout.split("\n")[0]!) as { mcp_servers: object[]; tools: string[] };
    expect([init.mcp_servers, init.tools.includes("connect_mcp")]).toEqual([
      [{ name: "given", status: "pending" }],
      true,
    ]);
    expect(requests().at(-1)!.messages[0]!.content).toContain("MCP servers: given (connect_mcp)");
  });

  it("of --mcp-config is there again when the context is gone on with, as long as its file says the same; JSON is not kept", async () => {
    const file = path.join(cwd, "servers.json");
    const of = (name: string) => JSON.stringify({ mcpServers: { [name]: FAKE } });
    const system = () => String(requests().at(-1)!.messages[0]!.content);
    const goOn = async (...more: string[]) => (await runCli(["-p", "go", "-c", ...more], opts())).stderr;
    fs.writeFileSync(file, of("given"));
    await ask("--mcp-config", "servers.json", "--mcp-config", of("json"), "--strict-mcp-config");
    expect(system()).toContain("MCP servers: given, json (connect_mcp)");
    const kept = await goOn();
    expect([kept.includes(`--mcp-config ${file} --strict-mcp-config`), system()]).toEqual([
      true,
      expect.stringContaining("MCP servers: given (connect_mcp)"),
    ]);
    expect(kept).toMatch(/was started with --mcp-config '…', which is not taken up \(a file of servers counts only/);
    fs.writeFileSync(file, of("other")); // as an agent could have done
    const changed = await goOn();
    expect([
      changed.includes(`--mcp-config ${file}`),
      changed.includes("not taken up"),
      /MCP servers/.test(system()),
    ]).toEqual([true, true, false]);
    const copied = await goOn("--fork-session");
    expect([
      copied.includes("not taken up (it was given to the context that this is a copy of)"),
      /MCP servers/.test(system()),
    ]).toEqual([true, false]);
    await goOn("--mcp-config", "servers.json");
    expect(system()).toContain("MCP servers: other (connect_mcp)");
    fs.rmSync(file);
  });

  it("dies with a kill -9 of the harness in the middle of a call; the call is never sent again, and what it did is called unknown", async () => {
    plan(["pay"], { pay: { hang: true } });
    const log = path.join(cwd, "log");
    fs.rmSync(log, { force: true });
    script = [calling("connect_mcp", { name: "mine" }), calling("mcp__mine__pay", { sum: 3 }), { text: "ok" }];
    const { child, exited } = startCli(
      ["-p", "go", "--model", "openai-compatible/mock", "--allowedTools", "mcp__mine__pay"],
      opts(),
    );
    await expect
      .poll(() => fs.existsSync(log) && fs.readFileSync(log, "utf8"), { timeout: 20_000 })
      .toContain("call pay");
    const pid = Number(/start (\d+)/.exec(fs.readFileSync(log, "utf8"))![1]);
    child.kill("SIGKILL");
    await exited;
    await expect.poll(() => fs.existsSync(`/proc/${pid}`), { timeout: 10_000 }).toBe(false);
    script = [{ text: "ok" }];
    await runCli(["-p", "-c", "--model", "openai-compatible/mock"], opts());
    expect(results().at(-1)).toBe(
      "Interrupted: the harness stopped while this call ran, and its outcome is unknown. Look before you repeat it.",
    );
    expect(
      requests()
        .at(-1)!
        .tools.some(({ function: { name } }) => name === "mcp__mine__pay"),
    ).toBe(true);
    expect(fs.readFileSync(log, "utf8").match(/^call/gm)).toHaveLength(1);
    fs.rmSync(config);
  });
});

describe("the docs server of the examples", () => {
  it("is connected, searched and read; @docs:… brings a page as data, /mcp__docs__explain its prompt", async () => {
    const docs = { command: "node", args: [path.join(root, "examples/docs-server/server.mjs")] };
    const given = ["--mcp-config", JSON.stringify({ mcpServers: { docs } }), "--allowedTools", "mcp__docs"];
    script = [
      calling("connect_mcp", { name: "docs" }),
      calling("mcp__docs__search", { query: "agent loop" }),
      calling("mcp__docs__read", { page: "architecture.md" }),
      { text: "ok" },
    ];
    const { code } = await ask(...given);
    const [, found, page] = results();
    expect([code, found!.includes("architecture.md"), page!.startsWith("# The map of the house")]).toEqual([
      0,
      true,
      true,
    ]);
    const told = async (words: string) => {
      script = [{ text: "ok" }];
      const { stderr } = await runCli(["-p", words, "--model", "openai-compatible/mock", ...given], opts());
      const said = String(requests().at(-1)!.messages.at(-1)!.content);
      return { said: said.replace(/\n?<note from="holdfast">\nToday is [^<]*<\/note>/, ""), stderr };
    };
    const brought = await told("What does @docs:docs://approvals.md say?");
    expect([brought.said, brought.stderr.includes("is no file here")]).toEqual([
      expect.stringMatching(
        /^What does @docs:docs:\/\/approvals\.md say\?\n+<note from="MCP server docs, docs:\/\/approvals\.md">\ndocs:\/\/approvals\.md:\n# /,
      ),
      false,
    ]);
    const words = `/mcp__docs__explain the ledger ${KEYS.OPENAI_API_KEY}`; // no known secret comes back from a server
    expect((await told(words)).said).toBe(
      `${words}\n\n<mcp_prompt server="docs" name="explain">\nExplain the ledger [redacted OPENAI_API_KEY], from the documentation.\n</mcp_prompt>`,
    );
  });
});
