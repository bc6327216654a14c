// holdfast agents ls|show, --agent, and that a repository's definitions count only when it is trusted.
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import { runCli } from "../cli/cli.ts";
import { tempDir } from "../house.ts";
import { byPrompt, task } from "../subagents/script.ts";

let cwd: string;
let state: string;
let server: ModelServer | undefined;

beforeEach(() => {
  cwd = tempDir("project");
  state = tempDir("state");
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  for (const dir of [cwd, state]) fs.rmSync(dir, { recursive: true, force: true });
});

const put = (file: string, front: string, body = "Work as told.") => {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, `---\n${front}\n---\n${body}\n`);
};
const cli = (...args: string[]) =>
  runCli(args, { cwd, state, env: server ? { OPENAI_BASE_URL: server.openaiUrl } : {} });

describe("holdfast agents", () => {
  it("lists built-in and the user's own, the project's only when it is trusted, and says what is wrong by file and line", async () => {
    put(path.join(cwd, ".claude/agents/theirs.md"), "name: theirs\ndescription: of the repository\neffort: x");
    put(path.join(cwd, ".claude/agents/twice.md"), "name: theirs\ndescription: again");
    put(path.join(state, ".claude/agents/own.md"), "name: own\ndescription: of: the user\ntools: Read, WebSearch");
    const before = await cli("agents", "ls", "--json");
    const names = (stdout: string) => JSON.parse(stdout).map((one: { name: string }) => one.name);
    expect(names(before.stdout)).toEqual(["own", "general-purpose", "code-reviewer", "explorer", "planner"]);
    expect(before.stderr).toContain(
      "not trusted, and not used: .claude/agents; look at them, then run `holdfast trust",
    );
    const unused = ["-p", "--model", "rehearsal", "--agent", "theirs", "list Markdown files"];
    const { code: wrong, stderr: why } = await cli(...unused);
    expect([wrong, why.split("\n").slice(0, 2)]).toEqual([
      2,
      [
        "holdfast: not trusted, and not used: .claude/agents; look at them, then run `holdfast trust add`, or this with --trust",
        "holdfast: there is no agent type theirs: there are own, general-purpose, code-reviewer, explorer, planner; .claude/agents is not used: this repository is not trusted (`holdfast trust add`)",
      ],
    ]);
    expect((await cli("doctor")).stdout).toContain("! agents     not used: .claude/agents\n");
    const after = await cli("agents", "ls", "--json", "--trust");
    expect(names(after.stdout)).toEqual(["theirs", "own", "general-purpose", "code-reviewer", "explorer", "planner"]);
    expect(after.stderr.split("\n")).toEqual([
      "holdfast: .claude/agents/theirs.md:4: effort is not supported yet: it has no effect",
      "holdfast: .claude/agents/twice.md: .claude/agents/theirs.md is named theirs too, and is the one that is used: rename one",
      "holdfast: tools that are not here, and that agents do without: WebSearch (own)",
      "",
    ]);
    const shown = await cli("agents", "show", "theirs", "--json");
    expect(JSON.parse(shown.stdout)).toEqual({
      name: "theirs",
      description: "of the repository",
      instructions: "Work as told.",
      source: ".claude/agents/theirs.md",
      repository: true,
    });
    expect((await cli("agents", "show", "Explore")).stdout).toContain("permissionMode: plan");
    const slip = await cli("agents", "show", "thiers");
    expect([slip.code, slip.stderr]).toEqual([
      2,
      expect.stringContaining("there is no agent type thiers: did you mean theirs? There are theirs, own, "),
    ]);
    const { code, stdout } = await cli("doctor");
    expect([code, stdout.split("\n").filter((line) => line.includes(" agents "))]).toEqual([
      0,
      [
        expect.stringMatching(/^! agents {5}\.claude\/agents\/theirs\.md:4: effort is not supported yet/),
        expect.stringMatching(/^! agents {5}\.claude\/agents\/twice\.md: /),
        expect.stringMatching(/^! agents {5}tools that are not here/),
      ],
    ]);
  });

  it("offers definitions to the model by name and purpose", async () => {
    put(
      path.join(state, ".config/holdfast/agents/knots.md"),
      "name: knots\ndescription: Knows all knots.",
      "KNOTS ONLY",
    );
    server = await startModelServer({
      script: byPrompt(
        ["Tie", [{ text: "tied" }]],
        ["Go", [{ calls: [task("Tie", { agent: "knots" })] }, { text: "ok" }]],
      ),
    });
    const { code } = await cli("-p", "--model", "openai-compatible/mock", "Go");
    expect(code).toBe(0);
    const { requests } = server.log();
    expect(JSON.stringify(requests[0]!.body.tools)).toContain("knots (Knows all knots.)");
    expect(JSON.stringify(requests[1]!.body.messages)).toContain("KNOTS ONLY");
  });
});

describe("--agent", () => {
  it("makes the lead of a new context an agent of that type, for good", async () => {
    server = await startModelServer({ script: [{ text: "one" }, { text: "two" }] });
    const flags = ["-p", "--model", "openai-compatible/mock"];
    const front = "name: shell-5.1\ndescription: it\nmodel: fable\ndisallowedTools: Write";
    put(path.join(state, ".claude/agents/five.md"), front, "KNOWS 5.1");
    expect((await cli(...flags, "--agent", "shell-5.1", "look")).code).toBe(0);
    expect((await cli(...flags, "-c", "again")).code).toBe(0);
    for (const { body } of server.log().requests) {
      expect(JSON.stringify(body.messages[0])).toContain("KNOWS 5.1");
      expect(body.tools.map((t: { function: { name: string } }) => t.function.name)).not.toContain("write_file");
    }
    const late = await cli(...flags, "-c", "--agent", "planner", "again");
    expect([late.code, late.stderr]).toEqual([2, expect.stringContaining("is chosen when its context begins")]);
    expect((await cli(...flags, "--agent", "nobody", "look")).code).toBe(2);
  });
});
