// What a repository, a plugin and a server bring: no link, pointer or name leads past what was looked at and trusted.
import fs from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { withoutNotes } from "../../src/loop/marks.ts";
import { createAgentCatalogue } from "../../src/mechanisms/agents/catalogue.ts";
import { instructionsAt } from "../../src/mechanisms/instructions/index.ts";
import { definitionsOf } from "../../src/mechanisms/mcp/offer.ts";
import { openPins } from "../../src/mechanisms/mcp/pins.ts";
import { createSkillCatalogue } from "../../src/mechanisms/skills/catalogue.ts";
import { commandsIn } from "../../src/mechanisms/skills/skill.ts";
import { readPlugin } from "../../src/plugins/plugin.ts";
import { tempDir } from "../house.ts";

function folder(files: Record<string, string>, links: Record<string, string> = {}): string {
  const root = tempDir("brought");
  onTestFinished(() => fs.rmSync(root, { recursive: true, force: true }));
  const placed = (name: string) => {
    const file = path.join(root, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    return file;
  };
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(placed(name), text);
  for (const [name, target] of Object.entries(links)) fs.symlinkSync(target, placed(name));
  return root;
}

const textsIn = async (root: string, home: string) => {
  const { loaded, leftOut } = await instructionsAt(root, root, { home, configHome: `${home}/.config`, trusted: true });
  return { texts: loaded.map(({ text }) => text), leftOut };
};

it("a link of instructions, skills or agents to secrets of the project, or out of it, brings nothing", async () => {
  const outside = folder({ "spy.md": "---\nname: spy\ndescription: d\n---\nfrom outside\n" });
  const root = folder(
    {
      ".git/HEAD": "",
      ".env": "TOKEN=not-for-models",
      ".claude/agents/ok.md": "---\nname: ok\ndescription: d\n---\nx\n",
    },
    {
      "AGENTS.md": ".env",
      ".claude/skills/env/SKILL.md": "../../../.env",
      ".claude/commands/env.md": "../../.env",
      ".claude/agents/env.md": "../../.env",
      ".claude/agents/spy.md": path.join(outside, "spy.md"),
    },
  );
  expect(await textsIn(root, outside)).toEqual({
    texts: [],
    leftOut: [{ shown: "AGENTS.md", why: "it is a place of secrets" }],
  });
  const place = (shown: string) => ({ dir: path.join(root, shown), shown });
  const skills = createSkillCatalogue([
    { ...place(".claude/skills"), kind: "skill", repository: { root } },
    { ...place(".claude/commands"), kind: "command", repository: { root } },
  ]);
  expect([await skills.list(), skills.problems()]).toEqual([
    [],
    [".claude/skills/env/SKILL.md", ".claude/commands/env.md"].map(
      (file) => `${file}: cannot be read (it leads to a place of secrets); it is left out`,
    ),
  ]);
  const agents = createAgentCatalogue({ places: [{ ...place(".claude/agents"), repository: true, root }] });
  expect((await agents.list()).map(({ name }) => name).slice(0, 2)).toEqual(["ok", "general-purpose"]);
  expect(agents.problems()).toEqual([
    ".claude/agents/env.md: cannot be read (it leads to a place of secrets); this agent is left out",
    ".claude/agents/spy.md: cannot be read (it leads out of the project); this agent is left out",
  ]);
});

it("a file .git that came with an archive makes no worktree: what it points to has to point back", async () => {
  const home = folder({ "diary.txt": "dear diary", "CLAUDE.local.md": "of another tree" });
  const root = folder({ ".git": `gitdir: ${home}/.git/worktrees/x\n`, "AGENTS.md": `hello @${home}/diary.txt` });
  const hello = `hello @${home}/diary.txt`;
  expect((await textsIn(root, home)).texts).toEqual([hello]);
  fs.mkdirSync(path.join(home, ".git/worktrees/x"), { recursive: true });
  fs.writeFileSync(path.join(home, ".git/worktrees/x/gitdir"), "/elsewhere/.git\n");
  expect((await textsIn(root, home)).texts).toEqual([hello]);
  fs.writeFileSync(path.join(home, ".git/worktrees/x/gitdir"), `${root}/.git\n`);
  expect((await textsIn(root, home)).texts).toEqual([hello, "dear diary", "of another tree"]);
});

it("a plugin is what was hashed: no link out of it, nothing of .git and node_modules, no file that changes later", async () => {
  const outside = folder({ "hooks.json": "{}" });
  const said = (files: Record<string, string>, links: Record<string, string> = {}): string => {
    try {
      readPlugin(folder({ "skills/a/SKILL.md": "a", ...files }, links));
      return "used";
    } catch (error) {
      return (error as Error).message.replace(/^\S+: /, "");
    }
  };
  const manifest = (value: object) => ({
    ".claude-plugin/plugin.json": JSON.stringify(value),
    "node_modules/x/y.md": "",
  });
  const out = "leads out of the plugin or into .git or node_modules: put what it needs into the plugin";
  const named = "outside of the plugin or in .git or node_modules: mend .claude-plugin/plugin.json";
  expect([
    said({}, { hooks: outside }),
    said({}, { "hooks/hooks.json": path.join(outside, "hooks.json") }),
    said({ "node_modules/x/y.md": "" }, { commands: "node_modules/x" }),
    said({}, { later: path.join(outside, "not-yet") }),
    said(manifest({ name: "a", commands: "node_modules/x" })),
    said(manifest({ name: "a", skills: ["./.git"] })),
    said({ "AGENTS.md": "x" }, { "CLAUDE.md": "AGENTS.md", commands: "skills/a" }),
  ]).toEqual([
    `its link hooks ${out}`,
    `its link hooks/hooks.json ${out}`,
    `its link commands ${out}`,
    `its link later ${out}`,
    `its manifest names node_modules/x, ${named}`,
    `its manifest names ./.git, ${named}`,
    "used",
  ]);
  const root = folder(
    {
      "skills/a/SKILL.md": "as it was",
      "more/hooks.json": '{"hooks":{"Stop":[]}}',
      "agents/b.md": "---\nname: b\ndescription: d\n---\n",
    },
    { hooks: "more" },
  );
  const plugin = readPlugin(root);
  expect(plugin.hooks).toEqual({ Stop: [] });
  fs.writeFileSync(path.join(root, "skills/a/SKILL.md"), "!`evil`");
  fs.appendFileSync(path.join(root, "agents/b.md"), "obey");
  const skills = createSkillCatalogue([
    { dir: path.join(root, "skills"), shown: "plugin p", kind: "skill", isTrusted: plugin.has },
  ]);
  const agents = createAgentCatalogue({
    places: [{ dir: path.join(root, "agents"), shown: "plugin p", repository: true, isTrusted: plugin.has }],
  });
  expect([await skills.list(), (await agents.list()).some(({ name }) => name === "b")]).toEqual([[], false]);
  expect([...skills.problems(), ...agents.problems()]).toEqual([
    "plugin p/a/SKILL.md: cannot be read (it has changed since the plugin was trusted); it is left out",
    "plugin p/b.md: cannot be read (it has changed since the plugin was trusted); this agent is left out",
  ]);
});

it("a server's tool is kept as it was first seen whatever it is called, and what is too deep or too much is cut", async () => {
  const pins = openPins(path.join(folder({}), "seen.json"));
  const listed = (description: string) =>
    ["__proto__", "constructor"].map((name) => definitionsOf([{ name, description, inputSchema: {} }])[0]!);
  for (const server of ["docs", "__proto__"]) {
    await pins.shown(server, listed("first"));
    const { tools, changed } = await pins.shown(server, listed("other"));
    expect([tools.map(({ description }) => description), changed.length]).toEqual([["first", "first"], 2]);
  }
  let inputSchema: object = {};
  for (let depth = 0; depth < 100_000; depth++) inputSchema = { properties: { a: inputSchema } };
  const [deep] = definitionsOf([{ name: "deep", inputSchema }]);
  expect([JSON.stringify(deep!.schema).length < 24_000, deep!.hash.length > 10]).toEqual([true, true]);
  const large = {
    properties: Object.fromEntries(Array.from({ length: 10 }, (_, n) => [n, { description: "x".repeat(2000) }])),
  };
  const many = Array.from({ length: 2000 }, (_, n) => ({ name: `t${n}`, inputSchema: large })); // 40 MB in every list that changes
  expect(definitionsOf(many).length).toBeLessThan(200);
});

it("texts that would be looked through again and again are looked through once", () => {
  expect(commandsIn("```!\n".repeat(50_000))).toEqual([]);
  expect(commandsIn("a !`one` b\n```!\ntwo\nthree\n```\n")).toEqual(["one", "two\nthree"]);
  const lines = `a${"\n".repeat(2_000_000)}b`;
  expect(withoutNotes(lines) === lines).toBe(true);
  expect(
    withoutNotes('/name x\n\n<note from="standard input">\n</skill>\n</note>\n\n<note from="b">\ny\n</note>'),
  ).toBe("/name x");
});
