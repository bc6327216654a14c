// Subagents as a user of the command line sees them: stream-json, text, background work over processes.
import fs from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import { runCli } from "../cli/cli.ts";
import { tempDir } from "../house.ts";
import { byPrompt, saidTo, task } from "./script.ts";

let cwd: string;
let state: string;
let server: ModelServer;

beforeEach(() => {
  cwd = tempDir("project");
  state = tempDir("state");
});
afterEach(async () => {
  await server.close();
  for (const dir of [cwd, state]) fs.rmSync(dir, { recursive: true, force: true });
});

const run = (args: string[]) =>
  runCli(["-p", "--model", "openai-compatible/mock", ...args], {
    cwd,
    state,
    env: { OPENAI_BASE_URL: server.openaiUrl },
  });

const SCRIPT = byPrompt(
  ["Leaf", [{ text: "leaf done" }]],
  [
    "Middle",
    [
      { text: "Asking a leaf.", calls: [{ name: "glob", input: { pattern: "*.none" } }, task("Leaf")] },
      { text: "middle done" },
    ],
  ],
  ["Go", [{ calls: [{ name: "list_jobs", input: {} }, task("Middle")] }, (r) => ({ text: `end: ${saidTo(r)}` })]],
);

const hook = (command: string, matcher = "") => ({ matcher, hooks: [{ type: "command", command }] });
const HOOKS = {
  PreToolUse: [
    hook("jq -r .tool_use_id >> before"),
    hook(`echo '{"systemMessage":"look here"}'`, "Glob"),
    hook("no-such-guard --check", "Glob"),
  ],
  PostToolUse: [hook("jq -r .tool_use_id >> after")],
  SessionEnd: [hook("jq -r .reason > ended", "other")],
};

describe("stream-json", () => {
  it("carries parent_tool_use_id on all that subagents say, and ids that are unique", async () => {
    server = await startModelServer({ script: SCRIPT });
    fs.mkdirSync(`${state}/.config/holdfast`, { recursive: true });
    fs.writeFileSync(`${state}/.config/holdfast/settings.json`, JSON.stringify({ hooks: HOOKS }));
    const { stdout, code } = await run(["--output-format", "stream-json", "Go"]);
    expect(code).toBe(0);
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const said = lines
      .filter((line) => line.type === "assistant")
      .map((line) => [
        line.parent_tool_use_id,
        line.message.content
          .map((part: { type: string; id?: string; text?: string }) => part.id ?? part.text)
          .join(" "),
      ]);
    expect(said).toEqual([
      [null, "c1 c2"],
      ["c2", "Asking a leaf. lead.c2.c1 lead.c2.c2"],
      ["lead.c2.c2", "leaf done"],
      ["c2", "middle done"],
      [null, expect.stringMatching(/^end: /)],
    ]);
    const results = lines
      .filter((line) => line.type === "user")
      .map((line) => [line.parent_tool_use_id, line.message.content[0].tool_use_id]);
    expect(results.sort()).toEqual(
      [
        ["c2", "lead.c2.c1"],
        ["c2", "lead.c2.c2"],
        [null, "c1"],
        [null, "c2"],
      ].sort(),
    );
    expect(lines.findLast((line) => line.type === "result")).toMatchObject({ subtype: "success", num_turns: 2 });

    const calls = ["c1", "c2", "lead.c2.c1", "lead.c2.c2"]; // hooks know them by the same ids
    const seen = (file: string) => fs.readFileSync(`${cwd}/${file}`, "utf8").trim().split("\n").sort();
    expect([seen("before"), seen("after"), seen("ended")]).toEqual([calls, calls, ["other"]]);
    const ofHooks = lines
      .filter((line) => line.subtype === "informational" || line.subtype === "hook_response")
      .map(({ session_id: _, uuid: __, hook_id: ___, ...line }) => line)
      .sort((a, b) => (a.subtype < b.subtype ? -1 : 1));
    const guard = expect.stringMatching(/^exit code 127 \(there is no such program\): .*no-such-guard/);
    const whose = { type: "system", agent_id: "lead.c2" };
    expect(ofHooks).toEqual([
      {
        ...{ ...whose, subtype: "hook_response", hook_name: "PreToolUse:Glob", hook_event: "PreToolUse" },
        ...{ output: guard, stdout: "", stderr: guard, exit_code: 127, outcome: "error" },
      },
      {
        ...{ ...whose, subtype: "informational", level: "notice", tool_use_id: "lead.c2.c1" },
        content: "PreToolUse:Glob says: look here",
      },
    ]);
  });
});

describe("text", () => {
  it("folds a subagent's work into one line below its call: how many calls, how long", async () => {
    server = await startModelServer({ script: SCRIPT });
    const { stdout, stderr } = await run(["Go"]);
    expect(stdout).toMatch(/^end: /);
    const shown = stderr.split("\n").slice(0, -2);
    expect(shown).toEqual([
      "● list_jobs",
      "  (no jobs)",
      "● task Middle",
      expect.stringMatching(/^ {2}2 calls in [\d.]+ s$/),
    ]);
  });
});

describe("background subtasks", () => {
  const side = byPrompt(
    ["Side", [{ text: "side done", chunkDelayMs: 300 }]],
    [
      "Go",
      [
        { calls: [task("Side", { background: true })] },
        (r) => ({ text: saidTo(r).includes("side done") ? "told" : "started" }),
      ],
    ],
  );

  it("are said to be unfinished when -p ends, and go on with --stay in the next process", async () => {
    server = await startModelServer({ script: side });
    const first = await run(["Go"]);
    expect(first.stdout.trim()).toBe("started");
    const context = /1 background subtask is unfinished: go on with holdfast -p -r (\S+) --stay/.exec(
      first.stderr,
    )?.[1];
    expect(context).toMatch(/^ctx_/);
    const second = await run(["-r", context!, "--stay"]);
    expect(second.stdout.trim().split("\n").at(-1)).toBe("told");
    expect(second.stderr).not.toContain("unfinished");
    expect((await run(["-r", context!])).stderr).not.toContain("unfinished");
  });

  it("are waited for with --stay", async () => {
    server = await startModelServer({ script: side });
    const { stdout, stderr } = await run(["--stay", "Go"]);
    expect(stdout.trim().split("\n")).toEqual(["started", "told"]);
    expect(stderr).not.toContain("unfinished");
  });
});
