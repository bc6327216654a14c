// The moments that hooks are told of beside calls, prompts and stops: each fired by the house itself, with Claude's names.
import fs from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { defineMechanism } from "../../src/loop/seams.ts";
import { openModel } from "../../src/models/open-model.ts";
import type { ScriptRound } from "../../src/testing/model-server-script.ts";
import { KEYS } from "../environment.ts";
import { command, fireHooks, type HookHouse, on, openHookHouse } from "./fixture.ts";

let house: HookHouse;
afterEach(async () => {
  delete process.env.HOLDFAST_RETRY_BASE_MS;
  await house?.close();
});

const json = (value: unknown) => `echo '${JSON.stringify(value)}'`;
const bash = (...commands: string[]): ScriptRound => ({
  calls: commands.map((text) => ({ name: "bash", input: { command: text } })),
});

/** What hooks that keep their input were told, without what all are told. */
const keeps = (file: string) => `cat >> "$CLAUDE_PROJECT_DIR"/${file}`;
const told = (file: string): unknown[] =>
  house
    .read(file)
    .trim()
    .split("\n")
    .map((line) => {
      const { session_id, transcript_path, cwd, permission_mode, hook_event_name, ...rest } = JSON.parse(line);
      expect([typeof session_id, fs.existsSync(transcript_path), permission_mode]).toEqual([
        "string",
        true,
        expect.any(String),
      ]);
      return { event: hook_event_name, cwd: path.relative(house.root, cwd), ...rest };
    });

describe("a batch of calls", () => {
  it("that is over is told once, with every call and result; what a hook says of it comes before the next model call", async () => {
    house = await openHookHouse([bash("echo one", "cd sub"), bash("pwd"), { text: "done" }]);
    fs.mkdirSync(path.join(house.root, "sub"));
    const says = json({ hookSpecificOutput: { hookEventName: "PostToolBatch", additionalContext: "mind the rest" } });
    const hooks = {
      ...on("PostToolBatch", [`${keeps("batches")}; ${says}`]),
      ...on("CwdChanged", [keeps("moves")]),
    };
    const result = await house.run("go", { hooks });
    const call = (id: string, text: string, output: string) => ({
      ...{ tool_name: "Bash", tool_input: { command: text }, tool_use_id: id },
      tool_response: output,
    });
    expect(told("batches")).toEqual([
      {
        event: "PostToolBatch",
        cwd: "sub",
        tool_calls: [call("c1", "echo one", "one"), call("c2", "cd sub", expect.any(String))],
      },
      { event: "PostToolBatch", cwd: "sub", tool_calls: [call("c3", "pwd", path.join(house.root, "sub"))] },
    ]);
    expect(told("moves")).toEqual([
      { event: "CwdChanged", cwd: "sub", old_cwd: house.root, new_cwd: path.join(house.root, "sub") },
    ]);
    expect(house.messages(1).at(-1)!.content).toContain('<note from="hook">\nmind the rest\n</note>');
    expect(result).toMatchObject({ reason: "done", text: "done" });
  });

  it("ends the turn where a hook blocks it: the model is not asked again", async () => {
    house = await openHookHouse([bash("echo one"), { text: "never" }]);
    const result = await house.run("go", { hooks: on("PostToolBatch", ["echo enough >&2; exit 2"]) });
    expect(result).toMatchObject({ reason: "blocked", error: "a hook ended the turn: enough", rounds: 1 });
  });
});

describe("an event that a mechanism of one's own announces", () => {
  it("reaches the hooks for it, and whoever else listens; what no hook is for reaches only these", async () => {
    house = await openHookHouse([{ text: "done" }]);
    const heard: unknown[] = [];
    const announcer = defineMechanism({
      name: "announcer",
      async start(turn) {
        heard.push(
          await turn.announce("PreCompact", { trigger: "manual" }),
          await turn.announce("Weather", { sky: "blue" }),
        );
        return [];
      },
    });
    const listener = defineMechanism({
      name: "listener",
      announced: async (event, payload) => ({ blocked: "not now", context: [`${event} ${JSON.stringify(payload)}`] }),
    });
    await house.run("go", {
      hooks: on("PreCompact", [`${keeps("told")}; echo never >&2; exit 2`]),
      before: [announcer, listener],
    });
    expect({ heard, told: told("told") }).toEqual({
      heard: [
        { blocked: "never", context: ['PreCompact {"trigger":"manual"}'] },
        { blocked: "not now", context: ['Weather {"sky":"blue"}'] },
      ],
      told: [{ event: "PreCompact", cwd: "", trigger: "manual" }],
    });
  });
});

describe("a call that nobody allowed", () => {
  it("is told as PermissionDenied, which may say that it can be tried again; one that a rule or a hook refused is not", async () => {
    house = await openHookHouse([bash("curl https://example.com", "echo by rule", "echo by hook"), { text: "done" }]);
    const retry = json({ hookSpecificOutput: { hookEventName: "PermissionDenied", retry: true } });
    const policy = { deny: [{ text: "Bash(echo by rule)", source: "test", base: house.root }], allow: [], ask: [] };
    const result = await house.run("go", {
      permissionMode: "default",
      permissions: { policy },
      hooks: {
        ...on("PermissionDenied", [`${keeps("denied")}; ${retry}`]),
        ...on("PreToolUse", ["grep -q 'by hook' && exit 2; exit 0"]),
      },
    });
    const [{ reason }, ...others] = result.denials as [{ reason: string }, ...unknown[]];
    expect(told("denied")).toEqual([
      {
        ...{ event: "PermissionDenied", cwd: "", tool_name: "Bash", tool_use_id: "c1", reason },
        tool_input: { command: "curl https://example.com" },
      },
    ]);
    expect(others).toHaveLength(2);
    const results = house.messages(1).slice(-3);
    expect(results.map(({ content }) => content.includes("may be tried again"))).toEqual([true, false, false]);
  });
});

describe("a person who is waited for", () => {
  it("is told of by a Notification: of a call that needs a yes, which does not wait for the hook", async () => {
    house = await openHookHouse([bash("curl https://example.com"), { text: "done" }]);
    let asked = 0;
    const result = await house.run("go", {
      permissionMode: "default",
      approvals: {
        async onAsk() {
          asked++;
          fs.writeFileSync(path.join(house.root, "asked"), "");
          return { decision: "deny", from: "test" };
        },
      },
      hooks: on("Notification", [
        command(`${keeps("notes")}; until [ -e asked ]; do sleep 0.01; done; echo over > over`),
      ]),
    });
    expect([asked, result.reason, house.read("over")]).toEqual([1, "done", "over\n"]);
    const message = "Holdfast needs your permission to use Bash";
    expect(told("notes")).toEqual([
      { event: "Notification", cwd: "", message, notification_type: "permission_prompt" },
    ]);
  });

  it("and of a lead that has waited for input, once for each time", async () => {
    const { hooks, turn, seams, read, dir, clean } = fireHooks({
      idleAfterMs: 1,
      hooks: on("Notification", ["jq -r .notification_type >> notes"]),
    });
    Object.assign(turn.state, { lastTurn: { turnId: "trn_1" } });
    const lines = () => (fs.existsSync(path.join(dir, "notes")) ? read("notes") : "").split("\n").length - 1;
    const until = async (count: number) => {
      while (lines() < count) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    await hooks.idle!(turn);
    await until(1);
    await hooks.idle!(turn);
    await seams.intake(turn);
    Object.assign(turn.state, { lastTurn: { turnId: "trn_2" } });
    await hooks.idle!(turn);
    await until(2);
    await hooks.end!(turn, "exit");
    expect(read("notes")).toBe("idle_prompt\nidle_prompt\n");
    clean();
  });
});

describe("a model", () => {
  it("that cannot be had ends the turn with StopFailure, not with Stop", async () => {
    house = await openHookHouse([{ ...bash("echo hi"), text: "let me look" }, { faults: [{ status: 401 }] }]);
    const hooks = { ...on("StopFailure", [keeps("failures")]), ...on("Stop", ["touch stopped"]) };
    const result = await house.run("go", { hooks });
    expect(told("failures")).toEqual([
      {
        ...{ event: "StopFailure", cwd: "", error: "authentication_failed", error_details: result.error },
        last_assistant_message: "let me look",
      },
    ]);
    expect([result.reason, fs.existsSync(path.join(house.root, "stopped"))]).toEqual(["failed", false]);
  });

  it("that another one takes over from is told as PostModelSwitch, and what a hook says of it the next round hears", async () => {
    process.env.HOLDFAST_RETRY_BASE_MS = "1";
    house = await openHookHouse(({ model, round }) =>
      model === "mock"
        ? { faults: Array(3).fill({ status: 529 }) }
        : round === 0
          ? bash("until [ -e told ]; do sleep 0.01; done; sleep 0.1")
          : { text: "by the second" },
    );
    const env = { OPENAI_BASE_URL: house.server.openaiUrl, ...KEYS };
    const says = json({ hookSpecificOutput: { hookEventName: "PostModelSwitch", additionalContext: "another now" } });
    const result = await house.run("go", {
      fallbackModels: [() => openModel("openai-compatible/second", { env })],
      hooks: on("PostModelSwitch", [`${keeps("switches")}; ${says}; touch told`]),
    });
    expect(told("switches")).toEqual([
      {
        ...{ event: "PostModelSwitch", cwd: "", source: "auto", requested_model: null },
        ...{ from_model: "openai-compatible/mock", to_model: "openai-compatible/second" },
      },
    ]);
    const asked = house.server.log().requests.at(-1)!;
    expect([result.text, JSON.stringify(asked.body.messages).includes("another now")]).toEqual(["by the second", true]);
  });
});

describe("a prompt", () => {
  it("whose hook is interrupted is neither refused nor lost: it is answered when the work is taken up", async () => {
    house = await openHookHouse([{ text: "answered" }]);
    const hooks = on("UserPromptSubmit", ["touch started; sleep 100"]);
    const harness = await house.again({ hooks });
    const run = await harness.run("Go");
    while (!fs.existsSync(path.join(house.root, "started"))) await new Promise((resolve) => setTimeout(resolve, 5));
    run.interrupt();
    expect((await run.result).reason).toBe("interrupted");
    await harness.close();
    const again = await (await house.again({ hooks: {} })).run(undefined, { context: run.context });
    expect((await again.result).text).toBe("answered");
    expect((await house.events(run.context)).filter((e) => e.type === "input.blocked")).toEqual([]);
  });
});

describe("a conversation that no longer fits", () => {
  const rounds = (): ScriptRound[] => [
    bash("printf 'x%.0s' $(seq 5000)"),
    bash("echo again"),
    { text: "done", faults: [{ status: 400, message: "prompt is too long: 3 tokens > 2 maximum" }] },
  ];

  it("is told of before and after it was made smaller", async () => {
    house = await openHookHouse(rounds());
    const hooks = {
      ...on("PreCompact", [keeps("compacted")], "auto"),
      ...on("PostCompact", [keeps("compacted")], "auto"),
    };
    const result = await house.run("go", { hooks });
    expect(told("compacted")).toEqual([
      { event: "PreCompact", cwd: "", trigger: "auto", custom_instructions: null },
      { event: "PostCompact", cwd: "", trigger: "auto", compact_summary: "1 old tool result left out" },
    ]);
    expect(result).toMatchObject({ reason: "done", text: "done" });
  });

  it("stays as it is where a hook says so, and the turn ends with that reason", async () => {
    house = await openHookHouse(rounds());
    const result = await house.run("go", { hooks: on("PreCompact", ["echo keep all >&2; exit 2"]) });
    const error = "the conversation no longer fits, and a PreCompact hook keeps it as it is: keep all";
    expect(result).toMatchObject({ reason: "blocked", error });
  });
});

describe("a hook in the background", () => {
  it("that may wake the model does so with its stderr, where it ends with exit code 2", async () => {
    const { gate, seams, turn, hooks, clean } = fireHooks({
      hooks: on("PreToolUse", [command("echo tests failed >&2; exit 2", { asyncRewake: true })]),
    });
    expect((await gate()).verdict).toEqual({ decision: "allow" });
    await hooks.wake!(turn, new AbortController().signal);
    expect(await seams.intake(turn)).toEqual([{ origin: "hook", text: "tests failed" }]);
    clean();
  });
});

describe("what is read for an agent", () => {
  it("is told file by file, each once, with why; a `/name` before its text is fetched, and a block ends it", async () => {
    const readSub = { calls: [{ name: "read_file", input: { path: "sub/a.txt" } }] };
    house = await openHookHouse([readSub, { text: "done" }, { text: "hi" }]);
    const put = (file: string, text: string) => {
      fs.mkdirSync(path.dirname(path.join(house.root, file)), { recursive: true });
      fs.writeFileSync(path.join(house.root, file), text);
    };
    put("CLAUDE.md", "Be kind. See @more.md\n");
    put("more.md", "More.\n");
    put("CLAUDE.local.md", "Mine.\n");
    put("sub/CLAUDE.md", "Of sub.\n");
    put("sub/a.txt", "a\n");
    put(".claude/commands/hi.md", "Say hi to $1.\n");
    const home = path.join(house.root, "home");
    put("home/.claude/CLAUDE.md", "Everywhere.\n");
    const at = (file: string) => path.join(house.root, file);
    const options = {
      instructions: { home, configHome: path.join(home, ".config"), trusted: true },
      skills: { places: [{ dir: at(".claude/commands"), shown: ".claude/commands", kind: "command" as const }] },
    };
    const hooks = {
      ...on("InstructionsLoaded", [keeps("loaded")]),
      ...on("UserPromptExpansion", [`${keeps("typed")}; echo mind`]),
    };
    const { context } = await house.run("go", { hooks, ...options });
    const loaded = (file: string, memory_type: string, load_reason: string, more = {}) => ({
      ...{ event: "InstructionsLoaded", cwd: "", file_path: at(file), memory_type, load_reason },
      ...more,
    });
    const wanted = [
      loaded("home/.claude/CLAUDE.md", "User", "session_start"),
      loaded("CLAUDE.md", "Project", "session_start"),
      loaded("more.md", "Project", "include", { parent_file_path: at("CLAUDE.md") }),
      loaded("CLAUDE.local.md", "Local", "session_start"),
      loaded("sub/CLAUDE.md", "Project", "nested_traversal"),
    ];
    const sorted = (all: unknown[]) => all.map((one) => JSON.stringify(one)).sort();
    expect(sorted(told("loaded"))).toEqual(sorted(wanted)); // nobody waits for them: in any order
    await house.run("/hi Ada", { hooks, ...options, context });
    expect(told("typed")).toEqual([
      {
        ...{ event: "UserPromptExpansion", cwd: "", expansion_type: "slash_command" },
        ...{ command_name: "hi", command_args: "Ada", command_source: "user", prompt: "/hi Ada" },
      },
    ]);
    const last = house.messages(2).at(-1)!.content;
    expect([last.includes("Say hi to Ada."), last.includes('<note from="hook">\nmind\n</note>')]).toEqual([true, true]);
    const no = { ...on("UserPromptExpansion", ["echo not that >&2; exit 2"]) };
    expect(await house.run("/hi Ada", { hooks: no, ...options, context })).toMatchObject({
      reason: "blocked",
      error: "blocked by a UserPromptExpansion hook: not that",
    });
  });
});
