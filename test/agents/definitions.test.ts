// Reading definitions: what Claude Code's users have on disk, mistakes by file and line, precedence, changed files.
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAgentCatalogue } from "../../src/mechanisms/agents/index.ts";
import { readDefinition } from "../../src/mechanisms/agents/read-definition.ts";
import { tempDir } from "../house.ts";

const read = (text: string, repository = false) => readDefinition(text, ".claude/agents/x.md", { repository });
const file = (front: string, body = "You help.") => `---\n${front}\n---\n\n${body}\n`;

describe("a definition", () => {
  it("is read with all that counts here", () => {
    const text = file(
      [
        "name: test-runner",
        "description: Runs the tests",
        "tools: Read, Grep, Bash",
        "disallowedTools:",
        "  - Write",
        "model: sonnet",
        "permissionMode: acceptEdits",
        "maxTurns: 12",
        "isolation: worktree",
        "background: true",
        "color: blue",
      ].join("\n"),
      "You run tests.\n\nAnd say what failed.",
    );
    expect(read(text)).toEqual({
      problems: [],
      definition: {
        name: "test-runner",
        description: "Runs the tests",
        instructions: "You run tests.\n\nAnd say what failed.",
        source: ".claude/agents/x.md",
        tools: ["Read", "Grep", "Bash"],
        disallowedTools: ["Write"],
        model: "sonnet",
        permissionMode: "acceptEdits",
        maxRounds: 12,
        isolation: "worktree",
        background: true,
        color: "blue",
      },
    });
  });

  it("may have a colon in an unquoted description, as many in the wild have", () => {
    const { definition, problems } = read(
      file('name: a\ndescription: Use it when: things break. Example: user: "help"\ntools: Read'),
    );
    expect(problems).toEqual([]);
    expect(definition).toMatchObject({
      description: 'Use it when: things break. Example: user: "help"',
      tools: ["Read"],
    });
  });

  it("says what is not supported yet, and what is not known, by file and line", () => {
    const { definition, problems } = read(
      file("name: a\ndescription: b\nskills: x\nmemory: user\nfoo: 1\ntools: Read, LS"),
    );
    expect(definition?.name).toBe("a");
    expect(problems).toEqual([
      ".claude/agents/x.md:4: skills is not supported yet: it has no effect",
      ".claude/agents/x.md:5: memory is not supported yet: it has no effect",
      ".claude/agents/x.md:6: foo is not known: it has no effect",
      ".claude/agents/x.md:7: there is no tool LS here",
    ]);
  });

  it.each([
    ["no front matter", "You help.", 1, /there is no front matter/],
    ["no description", file("name: a"), 1, /description is missing/],
    ["a bad name", file("name: a b\ndescription: c"), 2, /name must be/],
    ["an unknown mode", file("name: a\ndescription: c\npermissionMode: yolo"), 4, /permissionMode must be one of/],
    ["turns that are none", file("name: a\ndescription: c\nmaxTurns: 0"), 4, /maxTurns must be/],
    ["another isolation", file("name: a\ndescription: c\nisolation: vm"), 4, /isolation can only be worktree/],
    ["part of a tool", file("name: a\ndescription: c\ntools: Bash(git *), Read"), 4, /takes whole tools/],
    ["a model that is none", file("name: a\ndescription: c\nmodel: gpt"), 4, /is not inherit, sonnet/],
    ["broken YAML", file("name: [a\ndescription: c"), 2, /not valid YAML/],
  ])("is left out for %s, with its line", (_, text, line, says) => {
    const { definition, problems } = read(text);
    expect(definition).toBeUndefined();
    expect(problems[0]).toMatch(new RegExp(`^\\.claude/agents/x\\.md:${line}: `));
    expect(problems[0]).toMatch(says);
    expect(problems[0]).toContain("this agent is left out");
  });

  it("of a repository brings no model of its own making", () => {
    const text = file("name: a\ndescription: b\nmodel: rehearsal:evil.yaml");
    expect(read(text, true).problems[0]).toContain("a repository cannot bring its own model");
    expect(read(text, false).definition?.model).toBe("rehearsal:evil.yaml");
  });
});

describe("the catalogue", () => {
  let dir: string;
  beforeEach(() => {
    dir = tempDir("agents");
  });
  afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

  const put = (where: string, name: string, description: string) => {
    fs.mkdirSync(path.join(dir, where), { recursive: true });
    fs.writeFileSync(path.join(dir, where, `${name}.md`), file(`name: ${name}\ndescription: ${description}`));
  };
  const places = () => ["one", "two"].map((shown) => ({ dir: path.join(dir, shown), shown, repository: true }));

  it("has the built-in types, and the first place that names one wins", async () => {
    put("two", "helper", "second");
    put("one", "helper", "first");
    put("two", "explorer", "mine");
    const catalogue = createAgentCatalogue({ places: places() });
    expect((await catalogue.list()).map(({ name, description, source }) => [name, description, source])).toEqual([
      ["helper", "first", "one/helper.md"],
      ["explorer", "mine", "two/explorer.md"],
      ["general-purpose", "Any piece of work, with all tools.", "built-in"],
      ["code-reviewer", "Reviews work that others did; changes no files.", "built-in"],
      ["planner", "Works out a plan for a change, with the files concerned; only reads.", "built-in"],
    ]);
    expect((await catalogue.about("Explore")).source).toBe("two/explorer.md");
  });

  it("sees a changed, a new and a removed file at the next use, and says each problem once", async () => {
    put("one", "helper", "before");
    fs.writeFileSync(path.join(dir, "one", "bad.md"), "nothing");
    const catalogue = createAgentCatalogue({ places: places() });
    expect((await catalogue.about("helper")).description).toBe("before");
    expect(catalogue.problems()).toEqual([
      "one/bad.md:1: there is no front matter: begin with ---, name, description, ---; this agent is left out",
    ]);
    put("one", "helper", "afterwards");
    put("two", "other", "new");
    expect((await catalogue.about("helper")).description).toBe("afterwards");
    expect((await catalogue.about("other")).description).toBe("new");
    expect(catalogue.problems()).toEqual([]);
    fs.rmSync(path.join(dir, "one", "helper.md"));
    await expect(catalogue.about("helper")).rejects.toThrow(
      "there is no agent type helper: there are other, general-purpose, code-reviewer, explorer, planner",
    );
  });
});
