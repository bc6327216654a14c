// A plugin with everything in it, through the command line: what it brings, and that a changed file takes all of it away.
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import { runCli } from "../cli/cli.ts";
import { KEYS } from "../environment.ts";
import { tempDir } from "../house.ts";

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer({ script: () => ({ text: "ok" }) });
});
afterAll(() => server.close());

function setUp() {
  const [cwd, state, plugin] = [tempDir("project"), tempDir("state"), tempDir("team plugin")];
  onTestFinished(() => {
    for (const dir of [cwd, state, plugin]) fs.rmSync(dir, { recursive: true, force: true });
  });
  const files: Record<string, string> = {
    ".claude-plugin/plugin.json": JSON.stringify({ name: "team", description: "Ours." }),
    "skills/tabs/SKILL.md": "---\nname: tabs\ndescription: For tabs.\n---\nIn ROOT. !`echo ra''n`\n",
    "commands/hi.md": "---\ndescription: Greets.\n---\nSay hi to $1.\n",
    "agents/helper.md": "---\nname: helper\ndescription: Helps.\n---\nYou help.\n",
    "hooks/hooks.json": JSON.stringify({
      hooks: {
        UserPromptSubmit: [{ hooks: [{ type: "command", command: 'bash "ROOT/hooks/say.sh"' }] }],
      },
    }),
    "hooks/say.sh": "echo the hook of the plugin was here\n",
    ".mcp.json": JSON.stringify({
      mcpServers: { far: { command: "node", args: ["ROOT/server.mjs"] } },
    }),
  };
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(plugin, name)), { recursive: true });
    fs.writeFileSync(
      path.join(plugin, name),
      text.replaceAll("ROOT/", `$${"{CLAUDE_PLUGIN_ROOT}"}/`).replace("ROOT.", `$${"{CLAUDE_PLUGIN_ROOT}"}.`),
    );
  }
  const env = { OPENAI_BASE_URL: server.openaiUrl, OPENAI_API_KEY: KEYS.OPENAI_API_KEY };
  const cli = (...args: string[]) => runCli(args, { cwd, state, env });
  const ask = (words: string, ...more: string[]) =>
    cli("-p", words, "--model", "openai-compatible/mock", "--permission-mode", "bypass", ...more);
  const sent = () => JSON.stringify(server.log().requests.at(-1)!.body);
  return { plugin, state, cwd, cli, ask, sent };
}

it("brings skills, commands, agents, hooks and servers once it is added; a changed file takes all of it away until it is trusted again", async () => {
  const { plugin, state, cli, ask, sent } = setUp();
  const added = await cli("plugins", "add", plugin);
  expect([added.code, added.stdout]).toEqual([
    0,
    "Added, and trusted as it is now: team (skills, commands, agents, hooks, MCP servers)\n",
  ]);
  expect(fs.readdirSync(path.join(state, "holdfast")).filter((name) => /trust.*\.json$/.test(name))).toEqual([
    "plugin-trust.json", // its folder is no trusted project
  ]);
  await ask("/team:tabs");
  expect(sent()).toContain(`In ${plugin}. ran`);
  expect(sent()).toContain("the hook of the plugin was here");
  expect([sent().includes("- team:hi: Greets."), sent().includes("helper"), sent().includes("far")]).toEqual([
    true,
    true,
    true,
  ]);
  await ask("/team:hi Ada");
  expect(sent()).toContain("Say hi to Ada.");

  fs.appendFileSync(path.join(plugin, "hooks/say.sh"), "echo changed\n");
  const changed = await ask("hello");
  expect(changed.stderr).toContain("plugin team: not used: it is new or has changed since it was trusted");
  expect([sent().includes("hook of the plugin"), sent().includes("team:hi"), sent().includes("helper")]).toEqual([
    false,
    false,
    false,
  ]);
  await cli("plugins", "add", plugin);
  await ask("hello");
  expect(sent()).toContain("changed");
  expect((await cli("plugins", "remove", "team")).stdout).toBe(`No longer used: ${plugin}\n`);
  await ask("hello");
  expect(sent()).not.toContain("hook of the plugin");
});

it("by --plugin-dir counts for the run, and only with --trust the first time; what is no plugin is one line", async () => {
  const { plugin, state, cli, ask, sent } = setUp();
  const first = await ask("hello", "--plugin-dir", plugin);
  expect([first.stderr.includes("plugin team: not used"), sent().includes("team:hi")]).toEqual([true, false]);
  await ask("hello", "--plugin-dir", plugin, "--trust");
  expect(sent()).toContain("team:hi");
  await ask("hello", "--plugin-dir", plugin);
  expect(sent()).toContain("team:hi");
  await ask("hello");
  expect(sent()).not.toContain("team:hi");
  expect(await cli("plugins", "add", "nowhere")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("there is no folder"),
  });
  fs.writeFileSync(
    path.join(plugin, ".claude-plugin/plugin.json"),
    JSON.stringify({ name: "team", skills: "../../etc" }),
  );
  expect((await cli("plugins", "add", plugin)).stderr).toContain("outside of the plugin");
  fs.writeFileSync(path.join(state, "holdfast", "plugins.json"), "{");
  expect((await ask("hello")).stderr).toMatch(/plugins\.json is damaged .*: move it away/);
});

it("that settings name is used as it was trusted: the project's with the project, the user's own like any other; -c goes on with --plugin-dir", async () => {
  const { plugin, state, cwd, cli, ask, sent } = setUp();
  const put = (file: string, value: object) => {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, JSON.stringify(value));
  };
  const inProject = path.join(cwd, "tools/team");
  fs.cpSync(plugin, inProject, { recursive: true });
  put(path.join(cwd, ".holdfast/settings.json"), { plugins: ["tools/team", "tools/gone"] });
  const before = await ask("hello", "--plugin-dir", plugin, "--trust");
  // Two of one name: the one of the flag goes first.
  expect([
    sent().includes("team:hi"),
    before.stderr.includes("not used (named in .holdfast/settings.json): there is no folder"),
  ]).toEqual([true, true]);
  await cli("-p", "more", "-c");
  expect(sent()).toContain("team:hi");
  await ask("/team:tabs");
  expect(sent()).toContain(`In ${inProject}. ran`);
  const listed = await cli("plugins");
  expect(listed.stdout).toBe(`team                 Ours.  (${inProject}, named in .holdfast/settings.json)\n`);
  fs.appendFileSync(path.join(inProject, "commands/hi.md"), "more\n");
  const changed = await ask("hello");
  expect([
    sent().includes("team:hi"),
    /plugin team \(named in \.holdfast\/settings\.json\): not used: .*`holdfast trust add`/.test(changed.stderr),
  ]).toEqual([false, true]);
  expect((await cli("trust", "add")).stdout).toContain(`✓ plugin ${inProject}\n`);
  await ask("hello");
  expect(sent()).toContain("team:hi");
  await cli("trust", "remove");
  put(path.join(state, ".config/holdfast/settings.json"), { plugins: [plugin] });
  await ask("/team:tabs");
  expect(sent()).toContain(`In ${plugin}. ran`);
});
