// Reading definitions: what Claude Code's users have on disk, mistakes by file and line, precedence, changed files.
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { claudeNames } from "../../src/claude-code/tool-names.ts";
import { createAgentCatalogue } from "../../src/mechanisms/agents/catalogue.ts";
import { readDefinition } from "../../src/mechanisms/agents/read-definition.ts";
import { leaves } from "../../src/mechanisms/agents/tool-list.ts";
import { claudeModel } from "../../src/models/catalogue.ts";
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
      missingTools: [],
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

  it("may have a description of many lines with examples, which is no YAML: what is certain is read without a word", () => {
    const description = [
      'Use this agent when somebody asks to "make a thing". It is thorough: it looks twice. Examples:',
      "",
      "<example>",
      "Context: somebody wants a thing",
      'user: "Make one"',
      'assistant: "I use the maker."',
      "tools: none of the definition's",
      "</example>",
      "",
      "Note: it says so.",
    ].join("\n");
    const text = file(`name: maker\ndescription: ${description}\n\nmodel: sonnet\ntools: ["Write", "Read"]`);
    expect(read(text.replaceAll("\n", "\r\n"))).toEqual(read(text));
    expect(read(text)).toEqual({
      problems: [],
      missingTools: [],
      definition: {
        ...{ name: "maker", description, instructions: "You help.", source: ".claude/agents/x.md" },
        ...{ model: "sonnet", tools: ["Write", "Read"] },
      },
    });
  });

  it("says how it was read where that had to be guessed", () => {
    const { definition, problems } = read(
      file('name: a\ndescription: "Say "yes": always"\ncatgory: x: y\ntools: Read'),
    );
    expect([definition?.description, definition?.tools]).toEqual(['"Say "yes": always"\ncatgory: x: y', ["Read"]]);
    expect(problems).toEqual([".claude/agents/x.md:4: this is no YAML: `catgory:` was read as part of description"]);
  });

  it("may have dots in its name, as versions have; and a model of a family that is not known means its caller's", () => {
    const { definition, problems } = read(file("name: powershell-5.1-expert\ndescription: b\nmodel: legend"));
    expect([definition?.name, definition?.model, problems]).toEqual([
      "powershell-5.1-expert",
      undefined,
      [
        ".claude/agents/x.md:4: model legend is not known (sonnet, opus, haiku, fable, provider/name): it works with its caller's",
      ],
    ]);
    const models = ["fable", "sonnet[1m]", "opusplan", "default", "inherit"].map((name) =>
      read(file(`name: a\ndescription: b\nmodel: ${name}`)),
    );
    expect(models.map((one) => [one.definition?.model, one.problems])).toEqual([
      ...["fable", "sonnet[1m]", "opusplan"].map((name) => [name, []]),
      ...[undefined, undefined].map((name) => [name, []]),
    ]);
    expect(["fable", "sonnet[1m]", "opusplan", "claude-opus-4-5[1m]"].map(claudeModel)).toEqual([
      ...["anthropic/claude-fable-5-2", "anthropic/claude-sonnet-5-5", "anthropic/claude-opus-5-5"],
      "anthropic/claude-opus-4-5",
    ]);
  });

  it("says what is not supported yet, and what is not known, by file and line", () => {
    const { definition, problems, missingTools } = read(
      file("name: a\ndescription: b\neffort: x\nmemory: user\nfoo: 1\ntools: Read, LS, SendMessage"),
    );
    expect([definition?.name, missingTools]).toEqual(["a", ["LS"]]);
    expect(problems).toEqual([
      ".claude/agents/x.md:4: effort is not supported yet: it has no effect",
      ".claude/agents/x.md:5: memory is not supported yet: it has no effect",
      ".claude/agents/x.md:6: foo is not known: it has no effect",
    ]);
  });

  it("names Claude's tools for teams, tasks and schedules, and means ours", () => {
    const { definition } = read(file("name: a\ndescription: b\ntools: SendMessage, TaskCreate, TaskUpdate, CronList"));
    const ours = ["send_message", "create_task", "update_task", "claim_task", "complete_task", "list_crons", "bash"];
    expect(ours.filter((tool) => leaves(definition!, tool, []))).toEqual(ours.slice(0, -1));
    expect(claudeNames("create_task")).toEqual(["create_task", "TaskCreate"]);
  });

  it.each([
    ["no front matter", "You help.", 1, /there is no front matter/],
    ["no description", file("name: a"), 1, /description is missing/],
    ["a bad name", file("name: a b\ndescription: c"), 2, /name must be/],
    ["an unknown mode", file("name: a\ndescription: c\npermissionMode: yolo"), 4, /permissionMode must be one of/],
    ["turns that are none", file("name: a\ndescription: c\nmaxTurns: 0"), 4, /maxTurns must be/],
    ["another isolation", file("name: a\ndescription: c\nisolation: vm"), 4, /isolation can only be worktree/],
    ["part of a tool", file("name: a\ndescription: c\ntools: Bash(git *), Read"), 4, /takes whole tools/],
    ["a name that ends with a dot", file("name: a.\ndescription: c"), 2, /name must be/],
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

  it("uses the first of two of one name in one folder, and says so; tools that are not here are one line for all", async () => {
    put("one", "helper", "first");
    fs.writeFileSync(path.join(dir, "one/z.md"), file("name: Helper\ndescription: second"));
    fs.writeFileSync(path.join(dir, "one/s.md"), file("name: s\ndescription: d\ntools: Read, WebSearch, LS"));
    fs.writeFileSync(path.join(dir, "one/t.md"), file("name: t\ndescription: d\ntools: Read, WebSearch"));
    const catalogue = createAgentCatalogue({ places: places() });
    expect((await catalogue.about("helper")).description).toBe("first");
    expect(catalogue.problems()).toEqual([
      "one/z.md: one/helper.md is named helper too, and is the one that is used: rename one",
      "tools that are not here, and that agents do without: WebSearch (2 agents), LS (s)",
    ]);
    await catalogue.list();
    expect(catalogue.problems()).toEqual([]);
  });

  it("has those in subfolders too, an upper folder first, and looks into a linked folder once", async () => {
    put("one/team", "helper", "below");
    put("one", "helper", "above");
    put("one/team/crypto", "coin", "far below");
    put("one/.git", "hidden", "no agent");
    put("elsewhere", "linked", "by a link");
    fs.symlinkSync(path.join(dir, "elsewhere"), path.join(dir, "one/shared"));
    fs.symlinkSync("..", path.join(dir, "one/team/round"));
    fs.symlinkSync("self", path.join(dir, "one/self"));
    const catalogue = createAgentCatalogue({ places: places() });
    const own = async () => (await catalogue.list()).filter(({ source }) => source !== "built-in");
    expect((await own()).map(({ name, source }) => [name, source])).toEqual([
      ["helper", "one/helper.md"],
      ["linked", "one/shared/linked.md"],
      ["coin", "one/team/crypto/coin.md"],
    ]);
    expect(catalogue.problems()).toEqual([
      "one/team/helper.md: one/helper.md is named helper too, and is the one that is used: rename one",
    ]);
    put(`two/${"deep/".repeat(40)}`, "lost", "too deep");
    expect((await own()).length).toBe(3);
    expect(catalogue.problems()).toEqual([
      "two: more folders, or deeper ones, than are looked through; some are left out: take some away",
    ]);
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
