// The layouts of instructions that are met in the wild: what `holdfast instructions` names is what the first request carries, and nothing else.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import { here } from "../cli/here.ts";
import { KEYS } from "../environment.ts";
import { type House, openHouse, tempDir } from "../house.ts";

interface Layout {
  name: string;
  /** `-> x`: a link to x. Each text has a word of its own: its path. */
  files: Record<string, string>;
  /** Where it is started; default: the top. */
  at?: string;
  /** The words that the first request carries, in order. */
  carries: string[];
}

/** Text that says which file it is. */
const T = (word: string) => `word-${word}\n`;

const LAYOUTS: Layout[] = [
  { name: "AGENTS.md alone", files: { "AGENTS.md": T("a") }, carries: ["a"] },
  { name: "CLAUDE.md alone", files: { "CLAUDE.md": T("c") }, carries: ["c"] },
  { name: "both, different", files: { "AGENTS.md": T("a"), "CLAUDE.md": T("c") }, carries: ["a", "c"] },
  { name: "both, the same text", files: { "AGENTS.md": T("a"), "CLAUDE.md": T("a") }, carries: ["a"] },
  {
    name: "CLAUDE.md a link to AGENTS.md",
    files: { "AGENTS.md": T("a"), "CLAUDE.md": "-> AGENTS.md" },
    carries: ["a"],
  },
  {
    name: "AGENTS.md a link to CLAUDE.md",
    files: { "AGENTS.md": "-> CLAUDE.md", "CLAUDE.md": T("c") },
    carries: ["c"],
  },
  { name: ".claude/CLAUDE.md", files: { ".claude/CLAUDE.md": T("dc") }, carries: ["dc"] },
  { name: "CLAUDE.local.md last", files: { "CLAUDE.local.md": T("own"), "AGENTS.md": T("a") }, carries: ["a", "own"] },
  { name: "rules without paths", files: { ".claude/rules/style.md": T("rule") }, carries: ["rule"] },
  {
    name: "rules with paths wait for a file",
    files: { ".claude/rules/web.md": `---\npaths: web/**\n---\n${T("web")}`, "AGENTS.md": T("a") },
    carries: ["a"],
  },
  { name: "an import", files: { "CLAUDE.md": `${T("c")}See @docs/x.md.\n`, "docs/x.md": T("x") }, carries: ["c", "x"] },
  {
    name: "CLAUDE.md that only imports AGENTS.md",
    files: { "CLAUDE.md": "@AGENTS.md\n", "AGENTS.md": T("a") },
    carries: ["a"],
  },
  {
    name: "imports over four files, and not over five",
    files: {
      "AGENTS.md": `${T("0")}@1.md`,
      "1.md": `${T("1")}@2.md`,
      "2.md": `${T("2")}@3.md`,
      "3.md": `${T("3")}@4.md`,
      "4.md": `${T("4")}@5.md`,
      "5.md": T("5"),
    },
    carries: ["0", "1", "2", "3", "4"],
  },
  {
    name: "imports in a circle",
    files: { "AGENTS.md": `${T("a")}@b.md`, "b.md": `${T("b")}@AGENTS.md` },
    carries: ["a", "b"],
  },
  {
    name: "no import in code, nor of what is not there",
    files: { "AGENTS.md": `${T("a")}\`@x.md\` @nobody\n\`\`\`\n@x.md\n\`\`\`\n`, "x.md": T("x") },
    carries: ["a"],
  },
  {
    name: "an import that leads out",
    files: { "AGENTS.md": `${T("a")}@../outside.md @~/.ssh/id_rsa` },
    carries: ["a"],
  },
  { name: "a link that leads out", files: { "AGENTS.md": "-> ../outside.md", "CLAUDE.md": T("c") }, carries: ["c"] },
  { name: "a folder below waits", files: { "AGENTS.md": T("a"), "web/AGENTS.md": T("w") }, carries: ["a"] },
  {
    name: "started below: ancestors first",
    files: { "AGENTS.md": T("a"), "web/AGENTS.md": T("w") },
    at: "web",
    carries: ["a", "w"],
  },
  {
    name: "started below, the ancestor's import",
    files: { "CLAUDE.md": `${T("c")}@docs/x.md`, "docs/x.md": T("x"), "web/a.txt": "" },
    at: "web",
    carries: ["c", "x"],
  },
  {
    name: "started below: AGENTS.md above, CLAUDE.md here",
    files: { "AGENTS.md": T("a"), "web/CLAUDE.md": T("wc") },
    at: "web",
    carries: ["a", "wc"],
  },
  {
    name: "started below a link at the top",
    files: { "AGENTS.md": T("a"), "CLAUDE.md": "-> AGENTS.md", "web/AGENTS.md": T("w") },
    at: "web",
    carries: ["a", "w"],
  },
  {
    name: "started two below",
    files: { "AGENTS.md": T("a"), "x/AGENTS.md": T("x"), "x/y/AGENTS.md": T("y") },
    at: "x/y",
    carries: ["a", "x", "y"],
  },
  { name: "nothing at all", files: { "readme.md": T("r") }, carries: [] },
];

let server: ModelServer;
let top: string;
let state: string;
beforeAll(async () => {
  server = await startModelServer({ script: () => ({ text: "Seen." }) });
});
afterAll(() => server.close());
beforeEach(() => {
  server.reset();
  const parent = tempDir("layout");
  top = path.join(parent, "project");
  state = tempDir("state");
  fs.mkdirSync(top);
  fs.writeFileSync(path.join(parent, "outside.md"), T("outside"));
  execFileSync("git", ["init", "-q"], { cwd: top });
  return () => {
    fs.rmSync(parent, { recursive: true, force: true });
    fs.rmSync(state, { recursive: true, force: true });
  };
});

function lay(files: Record<string, string>, into = top): void {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(into, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    if (text.startsWith("-> ")) fs.symlinkSync(text.slice(3), file);
    else fs.writeFileSync(file, text);
  }
}

const wordsIn = (text: string) => [...text.matchAll(/word-(\w+)/g)].map(([, word]) => word);
const env = () => ({ OPENAI_BASE_URL: server.openaiUrl, OPENAI_API_KEY: KEYS.OPENAI_API_KEY });
const run = (args: string[], at = ".") => here(args, { cwd: path.join(top, at), state, env: env() });
const listed = async (at?: string) =>
  JSON.parse((await run(["instructions", "--json", "--text", "--trust"], at)).stdout) as {
    files: { file: string; text: string }[];
    leftOut: { shown: string; why: string }[];
  };

describe.each(LAYOUTS)("$name", ({ files, at, carries }) => {
  it("is read as the command says", async () => {
    lay(files);
    const { files: said } = await listed(at);
    expect(said.flatMap(({ text }) => wordsIn(text))).toEqual(carries);
  });
});

describe("more of the layouts", () => {
  it("the person's own folder of settings counts, and a worktree has the main tree's CLAUDE.local.md", async () => {
    lay({ ".config/holdfast/AGENTS.md": T("own") }, state);
    lay({ "a.txt": "a", "CLAUDE.local.md": T("local") });
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@example.invalid", ...args], { cwd: top });
    git("add", "a.txt");
    git("commit", "-qm", "x");
    git("worktree", "add", "-q", "../tree");
    const { stdout } = await here(["instructions", "--json", "--text", "--trust"], {
      cwd: path.join(top, "../tree"),
      state,
      env: env(),
    });
    expect(wordsIn(stdout)).toEqual(["own", "local"]);
  });

  it("says what is not trusted, what is no folder, and what cannot be read", async () => {
    lay({ "AGENTS.md": T("a"), ".claude/rules/bad.md": "---\npaths: [a: b\n---\nx\n" });
    const before = await run(["instructions"]);
    expect([before.stdout.includes("not trusted"), before.stdout.includes("No instructions")]).toEqual([true, false]);
    expect(await run(["instructions", "wbe"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("there is no folder wbe"),
    });
    const { leftOut } = await listed();
    expect(leftOut).toEqual([{ shown: ".claude/rules/bad.md", why: expect.stringContaining("not valid YAML") }]);
  });
});

describe("a first request", () => {
  let house: House;
  afterEach(() => house.close());

  it.each(LAYOUTS)("carries the same in the layout: $name", async ({ files, at = ".", carries }) => {
    lay(files);
    const root = path.join(top, at);
    const instructions = { home: state, configHome: path.join(state, ".config"), trusted: true };
    house = await openHouse([{ text: "Seen." }], { root, instructions });
    await (await house.harness.run("hello")).result;
    expect(wordsIn(JSON.stringify(house.server.log().requests[0]!.body.messages))).toEqual(carries);
  });
});
