// What a matcher matches, and what an exit code and an answer mean: the rules, one table each.
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { CommandHook, HookEvent } from "../../src/claude-code/hook-events.ts";
import { HOOK_EVENTS, ruleOf } from "../../src/claude-code/hook-events.ts";
import { toClaude } from "../../src/claude-code/tool-names.ts";
import { HoldfastError } from "../../src/ledger/error.ts";
import { createHooks } from "../../src/mechanisms/hooks/index.ts";
import { createShells } from "../../src/mechanisms/hooks/shells.ts";
import { command, fired, on } from "./fixture.ts";

describe("matchers", () => {
  it.each([
    [undefined, ["Bash", "Edit", "MultiEdit", "mcp__db__query"]],
    ["", ["Bash", "Edit", "MultiEdit", "mcp__db__query"]],
    ["*", ["Bash", "Edit", "MultiEdit", "mcp__db__query"]],
    ["Edit|Write", ["Edit", "MultiEdit"]],
    ["Write, Edit", ["Edit", "MultiEdit"]],
    ["MultiEdit", ["MultiEdit"]],
    ["Bas", []],
    ["bash", []],
    ["Bas.", ["Bash"]],
    ["mcp__.*", ["mcp__db__query"]],
    ["^Edit$", ["Edit", "MultiEdit"]],
    ["as", []],
    ["(as|query)", ["Bash", "mcp__db__query"]],
  ])("%s", async (matcher, matched) => {
    const { gate, ran } = fired({ hooks: on("PreToolUse", ["exit 0"], matcher) });
    const met: string[] = [];
    for (const name of ["bash", "edit_file", "multi_edit", "mcp__db__query"]) {
      const before = ran().length;
      await gate(name, {});
      if (ran().length > before) met.push(toClaude(name, {}).name);
    }
    expect(met).toEqual(matched);
  });

  it("compare with what the event is about", async () => {
    const { seams, turn, ran } = fired({
      hooks: {
        ...on("PreCompact", ["exit 0"], "auto"),
        ...on("StopFailure", ["exit 0"], "rate_.*"),
        ...on("TaskCreated", ["exit 0"], "anything at all"),
      },
    });
    await seams.announced("PreCompact", { trigger: "manual" }, turn);
    await seams.announced("PreCompact", { trigger: "auto" }, turn);
    await seams.announced("StopFailure", { error: "rate_limit" }, turn);
    await seams.announced("StopFailure", { error: "unknown" }, turn);
    await seams.announced("TaskCreated", {}, turn);
    expect(ran().map((r) => (r as { event: string }).event)).toEqual(["PreCompact", "StopFailure", "TaskCreated"]);
  });

  it("that are no regular expression are refused at once", () => {
    const create = () => createHooks({ hooks: on("PreToolUse", ["x"], "(["), root: "/", stateDir: "/nowhere" });
    expect(create).toThrow(HoldfastError);
  });
});

const json = (value: unknown) => `echo '${JSON.stringify(value)}'`;
const says = (permissionDecision: string) =>
  json({ hookSpecificOutput: { permissionDecision, permissionDecisionReason: "so" } });
const allow = { decision: "allow" };
const deny = (why: string) => ({ decision: "deny", code: "hook", reason: `blocked by a PreToolUse hook: ${why}` });
const ask = (why: string) => ({ decision: "ask", code: "hook", reason: `a PreToolUse hook asks: ${why}` });

describe("answers to PreToolUse", () => {
  it.each<[string, string[], unknown, string[]]>([
    ["exit 0", ["exit 0"], allow, ["ok"]],
    ["exit 0 with words", ["echo hello"], allow, ["ok"]],
    ["exit 1", ["echo oops >&2; exit 1"], allow, ["error"]],
    ["exit 2", ["echo no >&2; exit 2"], deny("no"), ["blocked"]],
    ["exit 2 without a word", ["exit 2"], deny("no reason given"), ["blocked"]],
    ["exit 2 over a JSON allow", [`${says("allow")}; echo no >&2; exit 2`], deny("no"), ["blocked"]],
    ["exit 1 with a JSON deny", [`${says("deny")}; exit 1`], allow, ["error"]],
    ["a program that is not there", ["no-such-program-here"], allow, ["error"]],
    ["a script that may not be executed", ["echo exit 2 > guard.sh; ./guard.sh"], allow, ["error"]],
    ["killed", ["kill -9 $$"], allow, ["error"]],
    ["allow", [says("allow")], allow, ["ok"]],
    ["ask", [says("ask")], ask("so"), ["ok"]],
    ["defer", [says("defer")], ask("so"), ["ok"]],
    ["deny", [says("deny")], deny("so"), ["blocked"]],
    ["the older block", [json({ decision: "block", reason: "old" })], deny("old"), ["blocked"]],
    ["the older approve", [json({ decision: "approve" })], allow, ["ok"]],
    ["nulls", [json({ decision: null, hookSpecificOutput: { updatedInput: null } })], allow, ["ok"]],
    ["a decision nobody knows", [says("maybe")], allow, ["error"]],
    ["broken JSON", ["echo '{ no'"], allow, ["error"]],
    [
      "a test that only bash knows",
      [`[[ "rm -rf" =~ ^(rm|mv)\\ -r ]] && { echo no >&2; exit 2; }`],
      deny("no"),
      ["blocked"],
    ],
    ["JSON after words", [`echo log; ${says("deny")}`], allow, ["ok"]],
    ["allow and deny", [says("allow"), says("deny")], deny("so"), ["ok", "blocked"]],
    ["ask and allow", [says("ask"), says("allow")], ask("so"), ["ok", "ok"]],
    ["deny twice", [says("deny"), "echo no >&2; exit 2"], deny("so\nno"), ["blocked", "blocked"]],
  ])("%s", async (_, hooks, verdict, outcomes) => {
    const { gate, ran } = fired({ hooks: on("PreToolUse", hooks) });
    const got = (await gate()).verdict as { reason?: string };
    const wanted = verdict as { reason?: string };
    expect(got).toEqual(wanted);
    expect(ran().map((r) => (r as { outcome: string }).outcome)).toEqual(outcomes);
  });

  it("that do not block are reported", async () => {
    const { gate, status } = fired({
      hooks: on("PreToolUse", ["echo oops >&2; exit 1", json({ systemMessage: "look out" })]),
    });
    await gate();
    expect(status().sort()).toEqual(["PreToolUse hook echo oops >&2; exit 1: exit code 1: oops", "hook: look out"]);
  });

  it("come with a note that stands beside the result", async () => {
    const { tool } = fired({
      hooks: on("PreToolUse", [json({ hookSpecificOutput: { additionalContext: "mind the tests" } })]),
    });
    const output = { content: "seen" };
    expect(await tool("look", {}, output)).toEqual({ content: 'seen\n<note from="hook">\nmind the tests\n</note>' });
  });
});

/** In Claude's table, event by event: what exit code 2 does, and what no answer in time does (here we are stricter). */
const BLOCKS: HookEvent[] = [
  ...(["UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch"] as const),
  ...(["Stop", "SubagentStop", "PreCompact", "TaskCreated", "TaskCompleted", "TeammateIdle"] as const),
  ...(["UserPromptExpansion", "Elicitation", "ElicitationResult"] as const),
];
const REFUSES_LATE: HookEvent[] = [
  ...(["UserPromptSubmit", "PreToolUse", "TaskCreated", "TaskCompleted"] as const),
  ...(["UserPromptExpansion", "Elicitation", "ElicitationResult"] as const),
];
const FIRED = HOOK_EVENTS.filter((event) => ruleOf(event).never === undefined);

describe("an exit code, event by event", () => {
  it.each(FIRED)("on %s", async (event) => {
    const ends = async (hook: string | CommandHook) => {
      const { seams, turn } = fired({ hooks: on(event, [hook]) });
      return (await seams.announced(event, {}, turn)).blocked;
    };
    const ended = {
      0: await ends("exit 0"),
      1: await ends("echo no >&2; exit 1"),
      2: await ends("echo no >&2; exit 2"),
      126: await ends("./"),
      127: await ends("no-such-program-here"),
      late: await ends(command("sleep 100", { timeout: 0.05 })),
    };
    expect(ended).toEqual({
      2: BLOCKS.includes(event) ? "no" : undefined,
      late: REFUSES_LATE.includes(event) ? "gave no answer within 0.05 s" : undefined,
    });
  });

  it("of a hook that cannot be started is told in one line, with what to do, and the prompt is taken", async () => {
    const { input, status, dir } = fired({
      hooks: on("UserPromptSubmit", ['"$CLAUDE_PROJECT_DIR"/hook.sh', "\n# my notes\nno-such-program-here --now"]),
    });
    fs.writeFileSync(path.join(dir, "hook.sh"), "#!/bin/bash\nexit 2\n", { mode: 0o644 });
    const taken = { content: [{ type: "text", text: "hi" }], origin: "user" };
    expect(await input("hi")).toEqual(taken);
    expect(status().sort()).toEqual([
      expect.stringMatching(
        /^UserPromptSubmit hook "\$CLAUDE_PROJECT_DIR"\/hook\.sh: exit code 126 \(it may not be executed: chmod \+x\): .*denied$/,
      ),
      expect.stringMatching(
        /^UserPromptSubmit hook no-such-program-here --now: exit code 127 \(there is no such program\): .*not found$/,
      ),
    ]);
  });
});

it("an event that nothing fires yet is said to a program that has hooks for it", async () => {
  const { hooks, turn, status } = fired({
    hooks: on("Setup", ["exit 0"]),
    inProcess: [{ event: "Setup", run: () => undefined }],
  });
  await hooks.start!(turn);
  expect(status()).toEqual(["hooks for Setup are not run: there is no --init and no --maintenance"]);
});

describe("the shell of a hook", () => {
  it("is bash, which reads nobody's rc file; sh where it says so; and no other, which is said", async () => {
    const { input, dir, ran, status } = fired({
      env: { PATH: process.env.PATH!, HOME: "/nowhere" },
      hooks: on("UserPromptSubmit", [
        '[[ "$HOME$BASH_VERSION" =~ ^/nowhere[0-9] ]] && echo bash',
        command('echo "sh$BASH_VERSION"', { shell: "sh" }),
        command("Write-Output x", { shell: "powershell" }),
      ]),
    });
    const taken = (await input("hi")) as { content: { text: string }[] };
    expect(taken.content[1]!.text).toMatch(/^<note from="hook">\nbash\nsh.*\n<\/note>$/);
    expect(ran().map((r) => (r as { outcome: string }).outcome)).toEqual(["ok", "ok", "error"]);
    expect(status()).toEqual([
      "UserPromptSubmit hook Write-Output x: could not be started: it is written for powershell, and hooks run under bash or sh: not run",
    ]);
    const home = fired({ env: { PATH: process.env.PATH!, HOME: dir }, hooks: on("UserPromptSubmit", ["echo mine"]) });
    fs.writeFileSync(path.join(dir, ".bashrc"), "echo from the rc file\n");
    expect(await home.input("hi")).toMatchObject({
      content: [{ text: "hi" }, { text: '<note from="hook">\nmine\n</note>' }],
    });
  });

  it("is sh where there is no bash, and that is said once", async () => {
    const { input, status } = fired({
      shells: createShells("/", () => undefined),
      hooks: on("UserPromptSubmit", ["echo one", "echo two"]),
    });
    await input("hi");
    expect(await input("hi")).toMatchObject({
      content: [{ text: "hi" }, { text: expect.stringContaining("one\ntwo") }],
    });
    expect(status()).toEqual([expect.stringMatching(/^there is no bash here: hooks run under sh/)]);
  });
});

describe("words that are no answer", () => {
  it("are context where a hook may speak, JSON or not", async () => {
    const { input } = fired({ hooks: on("UserPromptSubmit", ["echo '{ not json'"]) });
    expect(await input("hi")).toMatchObject({
      content: [{ text: "hi" }, { text: '<note from="hook">\n{ not json\n</note>' }],
    });
  });

  it("block nothing where nothing can be blocked", async () => {
    const { seams, turn } = fired({ hooks: on("Notification", [json({ decision: "block", reason: "no" })]) });
    expect(await seams.announced("Notification", {}, turn)).toEqual({ context: [] });
  });
});

describe("results that a hook replaces", () => {
  it.each([
    ["a text", "short"],
    ["an object with content", { content: "short" }],
    ["what Bash gives", { stdout: "short", stderr: "" }],
    ["blocks", [{ type: "text", text: "short" }]],
  ])("by %s", async (_, updatedToolOutput) => {
    const { tool } = fired({ hooks: on("PostToolUse", [json({ hookSpecificOutput: { updatedToolOutput } })]) });
    const events = [{ type: "todo.written", data: {} }];
    expect(await tool("look", {}, { content: "a secret", display: "a secret", events })).toEqual({
      content: "short",
      events,
    });
  });
});

describe("configuration", () => {
  it("without hooks lets everything by as it is", async () => {
    const { hooks, seams, turn, gate, tool, input, ran } = fired({ hooks: { Stop: [] } });
    const output = { content: "as it was" };
    expect({
      fired: await seams.announced("PreCompact", {}, turn),
      input: await input("Do it"),
      gate: await gate("bash", { command: "ls" }),
      tool: await tool("bash", { command: "ls" }, output),
      start: await hooks.start!(turn),
      ran: ran(),
    }).toEqual({
      fired: { context: [] },
      input: { content: [{ type: "text", text: "Do it" }], origin: "user" },
      gate: { verdict: { decision: "allow" }, input: { command: "ls" } },
      tool: output,
      start: [],
      ran: [],
    });
  });
});

describe("a hook with `if`", () => {
  const guarded = on("PreToolUse", [
    command(says("allow"), { if: "Bash(git *)" }),
    command("exit 2", { if: "Bash(rm *)" }),
  ]);
  const fits = (rule: string, name: string, input: unknown) =>
    rule === `${name}(${(input as { command: string }).command.split(" ")[0]} *)`;

  it("runs only for calls that fit its rule", async () => {
    const { gate, ran } = fired({ hooks: guarded, matchesRule: fits });
    expect((await gate("bash", { command: "git log" })).verdict).toEqual(allow);
    expect((await gate("bash", { command: "ls" })).verdict).toEqual(allow);
    expect((await gate("bash", { command: "rm x" })).verdict).toEqual(deny("no reason given"));
    expect(ran()).toHaveLength(2);
  });

  it("that nobody can read may refuse, but its allow counts for nothing", async () => {
    const { seams, callOf } = fired({ hooks: on("PreToolUse", [command(says("allow"), { if: "Bash(git *)" })]) });
    const call = callOf("bash", { command: "rm x" });
    await seams.gate(call);
    expect(await seams.ask(call, { decision: "ask", code: "program", reason: "sure?" })).toEqual({
      decision: "deny",
      code: "unanswered",
      reason: "sure? (needs approval, and no one is there to ask)",
    });
    const guard = fired({ hooks: on("PreToolUse", [command("exit 2", { if: "Bash(rm *)" })]) });
    expect((await guard.gate()).verdict).toEqual(deny("no reason given"));
    const after = fired({ hooks: on("PostToolUse", [command("exit 2", { if: "Bash(rm *)" })]) });
    await after.tool("look", {}, { content: "" });
    expect(after.ran()).toEqual([]);
  });
});
