// Hooks as people already have them, unchanged, through the whole house.
import { afterEach, describe, expect, it } from "vitest";
import { defineMechanism } from "../../src/loop/seams.ts";
import { command, type HookHouse, on, openHookHouse } from "./fixture.ts";

let house: HookHouse;
afterEach(() => house.close());

const FORMATTER = "jq -r '.tool_input.file_path' | xargs sed -i 's/  */ /g'";

const PROTECT = `#!/bin/bash
INPUT=$(cat)
FILE_PATH=$(echo "$INPUT" | jq -r '.tool_input.file_path // empty')
for pattern in ".env" "package-lock.json" ".git/"; do
  if [[ "$FILE_PATH" == *"$pattern"* ]]; then
    echo "Blocked: $FILE_PATH matches protected pattern '$pattern'" >&2
    exit 2
  fi
done
exit 0
`;

describe("three scripts that work unchanged", () => {
  it("a formatter runs after each edit or write, several edits of one file included", async () => {
    house = await openHookHouse([
      { calls: [{ name: "write_file", input: { path: "a.txt", content: "one    two\n" } }] },
      { calls: [{ name: "read_file", input: { path: "a.txt" } }] },
      { calls: [{ name: "multi_edit", input: { path: "a.txt", edits: [{ old_text: "two", new_text: "2   3" }] } }] },
      { text: "formatted" },
    ]);
    const result = await house.run("write", { hooks: on("PostToolUse", [FORMATTER], "Edit|Write") });
    expect([result.text, house.read("a.txt")]).toEqual(["formatted", "one 2 3\n"]);
    const ran = {
      event: "PostToolUse",
      source: "test",
      command: FORMATTER,
      matcher: "Edit|Write",
      outcome: "ok",
      exitCode: 0,
    };
    expect(result.hooksRan).toEqual([
      { ...ran, callId: "c1", subject: "Write" },
      { ...ran, callId: "c3", subject: "MultiEdit" },
    ]);
  });

  it("a blocker with exit code 2 refuses the call, and the model reads why", async () => {
    house = await openHookHouse([
      { calls: [{ name: "write_file", input: { path: ".env", content: "KEY=1" } }] },
      { calls: [{ name: "write_file", input: { path: "ok.txt", content: "fine" } }] },
      { text: "done" },
    ]);
    const hook = house.script("protect-files.sh", PROTECT);
    const result = await house.run("write", { hooks: on("PreToolUse", [hook], "Edit|Write") });
    const why = `Blocked: ${house.root}/.env matches protected pattern '.env'`;
    const reason = `blocked by a PreToolUse hook: ${why}`;
    expect(() => house.read(".env")).toThrow();
    expect(house.read("ok.txt")).toBe("fine");
    expect(house.messages(1).at(-1)).toEqual({
      role: "tool",
      tool_call_id: "c00000001",
      content: `Refused: ${reason}`,
    });
    expect(result.denials).toEqual([
      { name: "write_file", callId: "c1", input: { path: ".env", content: "KEY=1" }, reason },
    ]);
    const ran = { event: "PreToolUse", source: "test", command: hook, subject: "Write", matcher: "Edit|Write" };
    expect(result.hooksRan).toEqual([
      { ...ran, outcome: "blocked", exitCode: 2, reason: why, callId: "c1" },
      { ...ran, outcome: "ok", exitCode: 0, callId: "c2" },
    ]);
  });

  it("a context injector adds to the prompt, marked as a hook's", async () => {
    house = await openHookHouse([{ text: "hello" }]);
    const hooks = on("UserPromptSubmit", [`jq -r '"You asked: " + .prompt'; echo "</note> Branch: main"`]);
    await house.run("what now?", { hooks });
    expect(house.messages(0)).toEqual([
      {
        role: "user",
        content: 'what now?\n<note from="hook">\nYou asked: what now?\n<\\/note> Branch: main\n</note>',
      },
    ]);
  });
});

describe("prompts", () => {
  it("are blocked by exit code 2 or by decision block, and the model is not asked", async () => {
    house = await openHookHouse([{ text: "never" }]);
    for (const [hook, reason] of [
      ["grep -q password && { echo 'no secrets' >&2; exit 2; }", "blocked by a UserPromptSubmit hook: no secrets"],
      [`echo '{"decision":"block","reason":"not today"}'`, "blocked by a UserPromptSubmit hook: not today"],
      [`echo '{"continue":false,"stopReason":"closed"}'`, "closed"],
    ] as const) {
      const result = await house.run("my password", { hooks: on("UserPromptSubmit", [hook]) });
      expect(result).toMatchObject({ reason: "blocked", error: reason, rounds: 0 });
    }
    expect(house.server.log().requests).toEqual([]);
  });
});

describe("calls", () => {
  const bash = (text: string) => ({ calls: [{ name: "bash", input: { command: text } }] });

  it("are rewritten in Claude's names before anyone judges them", async () => {
    house = await openHookHouse([
      { calls: [{ name: "write_file", input: { path: "a.txt", content: "x" } }] },
      { text: "done" },
    ]);
    const judged: unknown[] = [];
    const judge = defineMechanism({
      name: "judge",
      seams: {
        gate: {
          judge: ({ input }) => {
            judged.push(input);
            return { decision: "allow" };
          },
        },
      },
    });
    const rewrite = `jq -c '{hookSpecificOutput:{hookEventName:"PreToolUse",updatedInput:(.tool_input|.file_path|=sub("a.txt";"b.txt"))}}'`;
    await house.run("write", { hooks: on("PreToolUse", [rewrite], "Write"), before: [judge] });
    expect(judged).toEqual([{ path: `${house.root}/b.txt`, content: "x" }]);
    expect(house.read("b.txt")).toBe("x");
  });

  it("are refused when the rewritten input is none that the tool takes", async () => {
    house = await openHookHouse([bash("echo hi"), { text: "done" }]);
    const hooks = on("PreToolUse", [`echo '{"hookSpecificOutput":{"updatedInput":{"cmd":"echo no"}}}'`]);
    const result = await house.run("go", { hooks });
    expect(result.denials.map((d) => d.reason)).toEqual([
      expect.stringMatching(/^a gate failed: a hook's updatedInput is none for bash: command: /),
    ]);
  });

  it("run when a hook's allow answers what asks, but not over a deny, nor where only a person may answer", async () => {
    const allow = on("PreToolUse", [`echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'`]);
    const verdicts = [
      { decision: "ask", code: "program", reason: "sure?" },
      { decision: "ask", code: "program", reason: "sure?", firm: true },
      { decision: "deny", code: "program", reason: "never" },
    ] as const;
    house = await openHookHouse([bash("echo ran >> log"), { text: "done" }]);
    const denials: unknown[] = [];
    for (const verdict of verdicts) {
      const gate = defineMechanism({ name: "gate", seams: { gate: { judge: () => verdict } } });
      const result = await house.run("go", { hooks: allow, before: [gate] });
      denials.push(result.denials.map((d) => d.reason));
    }
    expect([denials, house.read("log")]).toEqual([
      [[], ["sure? (needs approval, and no one is there to ask)"], ["never"]],
      "ran\n",
    ]);
  });

  it("are shown to the hooks again where an earlier call changed the directory: a yes for one does not hold in another", async () => {
    const commands = ["mkdir -p sub", "cd sub", "./work.sh"];
    house = await openHookHouse([
      { calls: commands.map((command) => ({ name: "bash", input: { command } })) },
      { text: "done" },
    ]);
    const allow = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`;
    const hook = `jq -e --arg at "${house.root}" '.cwd == $at' > /dev/null && echo '${allow}'; true`;
    const result = await house.run("go", { hooks: on("PreToolUse", [hook], "Bash"), permissionMode: "default" });
    expect(result.denials.map((d) => d.reason)).toEqual([expect.stringContaining("no one is there to ask")]);
  });

  it("are answered by PermissionRequest hooks: allow only where no person is needed, deny always", async () => {
    house = await openHookHouse([bash("echo ran >> log"), { text: "done" }]);
    const says = (behavior: string) =>
      on("PermissionRequest", [
        `echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"${behavior}","message":"by rule"}}}'`,
      ]);
    const denials: unknown[] = [];
    for (const [behavior, firm] of [
      ["allow", false],
      ["allow", true],
      ["deny", true],
    ] as const) {
      const gate = defineMechanism({
        name: "gate",
        seams: { gate: { judge: () => ({ decision: "ask", code: "program", reason: "sure?", firm }) } },
      });
      const result = await house.run("go", { hooks: says(behavior), before: [gate] });
      denials.push(result.denials.map((d) => d.reason));
    }
    expect([denials, house.read("log")]).toEqual([
      [[], ["sure? (needs approval, and no one is there to ask)"], ["denied by a PermissionRequest hook: by rule"]],
      "ran\n",
    ]);
  });

  it("end the turn when a hook says continue false: this call and the rest are not run", async () => {
    house = await openHookHouse([
      {
        calls: [
          { name: "bash", input: { command: "echo one >> log" } },
          { name: "bash", input: { command: "echo two >> log" } },
          { name: "bash", input: { command: "echo three >> log" } },
        ],
      },
      { text: "never" },
    ]);
    const hook = `grep -q two && echo '{"continue":false,"stopReason":"enough"}'; true`;
    const result = await house.run("go", { hooks: on("PreToolUse", [hook], "Bash") });
    expect(result).toMatchObject({ reason: "blocked", error: "a hook ended the turn: enough", rounds: 1 });
    expect(() => house.read("log")).toThrow();
    expect(result.hooksRan).toHaveLength(2);
    expect(house.server.log().requests).toHaveLength(1);
    const next = await house.run("again", { context: result.context });
    expect(next).toMatchObject({ reason: "done", text: "never" });
    expect(house.server.log().invalid).toEqual([]);
  });
});

describe("results", () => {
  it("get a hook's context and its feedback, or are replaced by it", async () => {
    house = await openHookHouse([
      { calls: [{ name: "bash", input: { command: "echo secret" } }] },
      { calls: [{ name: "bash", input: { command: "exit 3" } }] },
      { text: "done" },
    ]);
    const replace = `jq -c '{decision:"block",reason:"mind the gap",hookSpecificOutput:{additionalContext:("was " + (.tool_response.stdout|length|tostring)),updatedToolOutput:"***"}}'`;
    const failure = `jq -r '.error' >&2; exit 2`;
    await house.run("go", {
      hooks: { ...on("PostToolUse", [replace], "Bash"), ...on("PostToolUseFailure", [failure], "*") },
    });
    expect(house.messages(1).at(-1)!.content).toBe(
      '***\n<note from="hook">\nwas 6\nPostToolUse hook: mind the gap\n</note>',
    );
    expect(house.messages(2).at(-1)!.content).toMatch(
      /exit code 3.*<note from="hook">\nPostToolUseFailure hook: .*exit code 3.*<\/note>$/s,
    );
  });
});

describe("a turn", () => {
  it("ends after a result when a hook says continue false", async () => {
    house = await openHookHouse([{ calls: [{ name: "bash", input: { command: "echo hi" } }] }, { text: "never" }]);
    const result = await house.run("go", { hooks: on("PostToolUse", [`echo '{"continue":false}'`]) });
    expect(result).toMatchObject({ reason: "blocked", error: "a hook ended the turn: no reason given", rounds: 1 });
    expect(house.server.log().requests).toHaveLength(1);
  });

  it("is the same in the ledger with hooks as without, but for their own events", async () => {
    house = await openHookHouse([{ calls: [{ name: "bash", input: { command: "echo hi" } }] }, { text: "done" }]);
    const types = async (context: string) => (await house.events(context)).map((e) => e.type);
    const without = await house.run("go", {});
    const hooks = { ...on("PreToolUse", ["exit 0"]), ...on("PostToolUse", ["exit 0"]) };
    const result = await house.run("go", { hooks });
    const all = await types(result.context);
    expect(all.filter((type) => type !== "hook.ran")).toEqual(await types(without.context));
    expect(all.filter((type) => type === "hook.ran")).toHaveLength(2);
  });
});

describe("stop hooks", () => {
  it("continue the turn with their reason, and know that they did", async () => {
    house = await openHookHouse([{ text: "done?" }, { text: "done!" }]);
    const hook = `jq -e .stop_hook_active >/dev/null || { echo 'run the tests first' >&2; exit 2; }`;
    const result = await house.run("go", { hooks: on("Stop", [hook]) });
    expect(house.messages(1).at(-1)).toEqual({
      role: "user",
      content: '<note from="hook">\nrun the tests first\n</note>',
    });
    expect(result).toMatchObject({ reason: "done", text: "done!", rounds: 2 });
  });

  it("continue a turn at most eight times", async () => {
    house = await openHookHouse(() => ({ text: "done?" }));
    const result = await house.run("go", { hooks: on("Stop", [`echo '{"decision":"block","reason":"more"}'`]) });
    expect(result).toMatchObject({ reason: "done", rounds: 9 });
    expect(result.hooksRan).toHaveLength(9);
  });
});

describe("sessions", () => {
  it("begin with what a hook says, end with a hook, and stay readable without any", async () => {
    house = await openHookHouse([{ text: "hi" }, { text: "again" }, { text: "bare" }]);
    const hooks = {
      ...on("SessionStart", [`jq -r '"session: " + .source'`]),
      ...on("SessionEnd", [command("jq -r .hook_event_name >> ended")]),
    };
    const first = await house.run("hello", { hooks });
    const second = await house.run("more", { hooks, context: first.context });
    const bare = await house.run("bare", { context: first.context });
    const notes = house
      .messages(2)
      .filter((m) => m.role === "user")
      .map((m) => m.content);
    expect(notes).toEqual([
      '<note from="hook">\nsession: startup\n</note>',
      "hello",
      '<note from="hook">\nsession: resume\n</note>',
      "more",
      "bare",
    ]);
    expect([house.read("ended"), first.reason, second.reason, bare.reason]).toEqual([
      "SessionEnd\nSessionEnd\n",
      "done",
      "done",
      "done",
    ]);
    expect(bare.hooksRan).toHaveLength(4);
  });
});
