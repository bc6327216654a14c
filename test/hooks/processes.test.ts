// Hooks as processes: time, size, order; nothing they do holds up or breaks the turn.
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import type { InProcessHook } from "../../src/mechanisms/hooks/handlers.ts";
import { NOT_ASKED } from "../turn.ts";
import { command, fired, on } from "./fixture.ts";

const alive = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(fs.readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};
const until = async (condition: () => boolean) => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
};

const refusal = (why: string) => ({ decision: "deny", code: "hook", reason: `blocked by a PreToolUse hook: ${why}` });

describe("a hook that does not answer", () => {
  const hangs = "sleep 1000 & echo $! > child; echo $$ > self; sleep 1000";

  it("is killed with everything it started, and refuses the call", async () => {
    const { gate, ran, read } = fired({ hooks: on("PreToolUse", [command(hangs, { timeout: 0.3 })]) });
    expect((await gate()).verdict).toEqual(refusal("gave no answer within 0.3 s"));
    const pids = [Number(read("child")), Number(read("self"))];
    await until(() => !pids.some(alive));
    expect(ran()).toMatchObject([{ outcome: "timeout", reason: "gave no answer within 0.3 s" }]);
  });

  it("blocks a prompt, but neither a stop nor a result", async () => {
    const slow = [command("sleep 1000", { timeout: 0.1 })];
    const { input, seams, tool, turn } = fired({
      hooks: { ...on("UserPromptSubmit", slow), ...on("Stop", slow), ...on("PostToolUse", slow) },
    });
    expect(await input("hi")).toEqual({ block: "blocked by a UserPromptSubmit hook: gave no answer within 0.1 s" });
    const reply = { model: "m", parts: [], finish: "stop" as const, usage: {} as never };
    expect(await seams.stop(turn, reply, NOT_ASKED)).toEqual([]);
    expect(await tool("look", {}, { content: "x" })).toEqual({ content: "x" });
  });

  it("dies with an interrupt of the turn", async () => {
    const { gate, turn, dir, read } = fired({ hooks: on("PreToolUse", [hangs]) });
    const abort = new AbortController();
    turn.signal = abort.signal;
    const verdict = gate();
    await until(() => fs.existsSync(path.join(dir, "self")) && read("self") !== "");
    abort.abort();
    expect((await verdict).verdict).toEqual(refusal("interrupted"));
    const pids = [Number(read("child")), Number(read("self"))];
    await until(() => !pids.some(alive));
  });

  it("does not hold up the turn with what it left running", async () => {
    const { gate, read } = fired({ hooks: on("PreToolUse", ["sleep 1000 & echo $! > child; echo no >&2; exit 2"]) });
    expect((await gate()).verdict).toEqual(refusal("no"));
    process.kill(Number(read("child")), "SIGKILL");
  });
});

describe("input and output", () => {
  it("of a hook that does not read is lost without harm", async () => {
    const { gate } = fired({ hooks: on("PreToolUse", ["exec <&-; echo no >&2; exit 2"]) });
    const verdict = (await gate("write_file", { path: "x", content: "y".repeat(5_000_000) })).verdict;
    expect(verdict).toEqual(refusal("no"));
  });

  it("without end is read to its bound only", async () => {
    const { input, read, dir } = fired({ hooks: on("UserPromptSubmit", ["head -c 30000000 /dev/zero | tr '\\0' x"]) });
    const taken = (await input("hi")) as { content: { text: string }[] };
    const file = /the whole: (.*)\]/.exec(taken.content[1]!.text)![1]!;
    expect(read(path.relative(dir, file))).toHaveLength(1_000_000);
  });

  it("over 10,000 characters goes to a private file, and its head and the path to the model", async () => {
    const { input, dir } = fired({
      hooks: on("UserPromptSubmit", ["printf 'x%.0s' $(seq 10000)", "printf 'y%.0s' $(seq 10001)"]),
    });
    const taken = (await input("hi")) as { content: { text: string }[] };
    const text = taken.content[1]!.text;
    const file = /the whole: (.*)\]/.exec(text)![1]!;
    expect(text).toBe(
      `<note from="hook">\n${"x".repeat(10_000)}\n${"y".repeat(2000)}\n[… 8001 of 10001 characters left out; the whole: ${file}]\n</note>`,
    );
    expect(fs.readFileSync(file, "utf8")).toBe("y".repeat(10_001));
    expect([path.dirname(file), fs.statSync(file).mode & 0o777]).toEqual([
      path.join(dir, "state/hooks/ctx_test"),
      0o600,
    ]);
  });

  it("of a program with arguments passes no shell", async () => {
    const hook = command("node", { args: ["-e", "console.log(process.argv[1])", `\${CLAUDE_PROJECT_DIR}/$(id) *`] });
    const { input, dir } = fired({ hooks: on("UserPromptSubmit", [hook]) });
    expect(await input("hi")).toMatchObject({
      content: [{ text: "hi" }, { text: `<note from="hook">\n${dir}/$(id) *\n</note>` }],
    });
    const missing = fired({ hooks: on("PreToolUse", [command("no-such-program", { args: [] })]) });
    expect((await missing.gate()).verdict).toEqual({ decision: "allow" });
    expect(missing.status()).toEqual([
      "PreToolUse hook no-such-program: could not be started: there is no program no-such-program",
    ]);
  });
});

describe("a hook that cannot be started", () => {
  it("refuses the call and says why, also when no descriptor is left for its streams; the turn goes on", async () => {
    const child = path.join(import.meta.dirname, "children/no-descriptors.ts");
    const command = 'ulimit -n 128; exec "$0" "$1"';
    const { stdout } = await promisify(execFile)("sh", ["-c", command, process.execPath, child]);
    expect(JSON.parse(stdout)).toEqual({
      ...{ reason: "done", text: "told", hooks: [] },
      answer: "Refused: a gate failed: too many files are open (EMFILE): raise the limit with ulimit -n",
    });
  });

  it("is said and blocks nothing, when its folder is gone or its arguments are too long", async () => {
    const long = fired({ hooks: on("PreToolUse", [command("node", { args: ["x".repeat(5_000_000)] })]) });
    expect([(await long.gate()).verdict, long.status().length]).toEqual([{ decision: "allow" }, 1]);
    const gone = fired({ hooks: on("PreToolUse", ["exit 0"]) });
    fs.rmSync(gone.dir, { recursive: true });
    expect([(await gone.gate()).verdict, gone.status().length]).toEqual([{ decision: "allow" }, 1]);
  });
});

describe("several hooks of one event", () => {
  it("run at the same time, identical ones once, in the order of the configuration", async () => {
    // Each waits for the other's file: one after the other they would never end.
    const meets = (me: string, other: string) =>
      `touch ${me}; until [ -e ${other} ]; do sleep 0.01; done; echo ${me} >> ran; echo ${me}`;
    const [a, b] = [meets("a", "b"), meets("b", "a")];
    const { input, read, ran } = fired({ hooks: on("UserPromptSubmit", [a, b, a]) });
    const taken = (await input("hi")) as { content: { text: string }[] };
    expect(taken.content[1]!.text).toBe('<note from="hook">\na\nb\n</note>');
    expect(read("ran").trim().split("\n").sort()).toEqual(["a", "b"]);
    expect(ran().map((r) => (r as { command: string }).command)).toEqual([a, b]);
  });

  it("run once for each call, whoever asks", async () => {
    const { seams, callOf, read } = fired({
      hooks: on("PreToolUse", [`echo x >> ran; echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'`]),
    });
    const call = callOf("bash", { command: "ls" });
    await seams.gate(call);
    expect(await seams.ask(call, { decision: "ask", code: "program", reason: "sure?" })).toEqual({ decision: "allow" });
    expect(read("ran")).toBe("x\n");
  });
});

describe("once and async", () => {
  it("once means once in a session", async () => {
    const { gate, hooks, turn, ran } = fired({ hooks: on("PreToolUse", [command("exit 0", { once: true })]) });
    await gate();
    await gate();
    expect(ran()).toHaveLength(1);
    await hooks.end!(turn, "exit");
    await gate();
    expect(ran()).toHaveLength(2);
  });

  it("async is not waited for, refuses nothing, and speaks with the next round", async () => {
    const hook = command(
      `until [ -e go ]; do sleep 0.01; done; echo '{"hookSpecificOutput":{"additionalContext":"tests pass","permissionDecision":"deny"}}'`,
      { async: true },
    );
    const { gate, seams, turn, ran, dir } = fired({ hooks: on("PreToolUse", [hook]) });
    expect((await gate()).verdict).toEqual({ decision: "allow" });
    expect([ran(), await seams.intake(turn)]).toEqual([[], []]);
    fs.writeFileSync(path.join(dir, "go"), "");
    await until(() => ran().length === 1);
    expect(await seams.intake(turn)).toEqual([{ origin: "hook", text: "tests pass" }]);
    expect(await seams.intake(turn)).toEqual([]);
    expect(ran()).toMatchObject([{ outcome: "blocked", async: true }]);
  });

  it("async ends with the session at the latest", async () => {
    const { gate, hooks, turn, ran, dir, read } = fired({
      hooks: on("PreToolUse", [command("echo $$ > self; sleep 1000", { async: true })]),
    });
    await gate();
    await until(() => fs.existsSync(path.join(dir, "self")) && read("self") !== "");
    await hooks.end!(turn, "exit");
    expect(ran()).toMatchObject([{ outcome: "error", reason: "interrupted", async: true }]);
    await until(() => !alive(Number(read("self"))));
  });
});

describe("a hook that answers that it goes on by itself", () => {
  it("is not waited for any longer, refuses nothing, and of what it prints later only an answer counts", async () => {
    const later = (answer: string) =>
      `echo '{"async": true, "asyncTimeout": 60000}'; until [ -e go ]; do sleep 0.01; done; ${answer}`;
    const says = `echo '{"hookSpecificOutput":{"additionalContext":"tests pass","permissionDecision":"deny"}}'`;
    const it = fired({
      hooks: {
        ...on("PreToolUse", [later(`echo downloading; ${says}; exit 0`)]),
        ...on("UserPromptSubmit", [command(later("echo not for the model"), { timeout: 1 })]),
        ...on("SessionStart", [later("echo not for the model either")]),
      },
    });
    const { hooks, gate, input, seams, turn, ran, dir } = it;
    expect(await hooks.start!(turn)).toEqual([]);
    expect(await input("hi")).toEqual({ content: [{ type: "text", text: "hi" }], origin: "user" });
    expect((await gate()).verdict).toEqual({ decision: "allow" });
    expect([ran(), await seams.intake(turn)]).toEqual([[], []]);
    fs.writeFileSync(path.join(dir, "go"), "");
    await until(() => ran().length === 3);
    expect(await seams.intake(turn)).toEqual([{ origin: "hook", text: "tests pass" }]);
    expect(it.status()).toEqual([]);
    expect((ran() as { event: string }[]).sort((a, b) => (a.event < b.event ? -1 : 1))).toMatchObject([
      { event: "PreToolUse", outcome: "blocked", async: true },
      { event: "SessionStart", outcome: "ok", async: true },
      { event: "UserPromptSubmit", outcome: "ok", async: true },
    ]);
  });

  it("outlives an interrupt of the turn, and dies at the time that it named, or with the session", async () => {
    const goesOn = (ms: number, file: string) =>
      `echo $$ > ${file}; echo '{"async":true,"asyncTimeout":${ms}}'; sleep 1000`;
    const { gate, hooks, turn, ran, read } = fired({
      hooks: on("PreToolUse", [goesOn(100, "short"), goesOn(100_000, "long")]),
    });
    const abort = new AbortController();
    turn.signal = abort.signal;
    expect((await gate()).verdict).toEqual({ decision: "allow" });
    abort.abort();
    await until(() => ran().length === 1);
    expect(alive(Number(read("long")))).toBe(true);
    await hooks.end!(turn, "exit");
    expect(ran()).toMatchObject([
      { outcome: "timeout", reason: "gave no answer within 0.1 s", async: true },
      { outcome: "error", reason: "interrupted", async: true },
    ]);
    await until(() => ![read("short"), read("long")].some((pid) => alive(Number(pid))));
  });
});

describe("in-process hooks", () => {
  const hook = (run: InProcessHook["run"], more: Partial<InProcessHook> = {}): InProcessHook => ({
    event: "PreToolUse",
    name: "guard",
    run,
    ...more,
  });

  it("answer as commands do, with what commands are told", async () => {
    const told: unknown[] = [];
    const { gate, ran } = fired({
      inProcess: [
        hook(
          (input) => {
            told.push([input.tool_name, input.tool_input]);
            return { hookSpecificOutput: { updatedInput: { command: "ls -l" } } };
          },
          { matcher: "Bash" },
        ),
        hook(() => undefined, { name: "second" }),
      ],
    });
    expect(await gate("bash", { n: 1 })).toMatchObject({ verdict: { decision: "deny" } }); // not an input of that tool
    expect(told).toEqual([["Bash", { n: 1 }]]);
    expect(ran()).toEqual([
      {
        event: "PreToolUse",
        source: "in-process",
        command: "guard",
        matcher: "Bash",
        outcome: "ok",
        callId: "c1",
        subject: "Bash",
        rewrote: true,
      },
      {
        event: "PreToolUse",
        source: "in-process",
        command: "second",
        matcher: "",
        outcome: "ok",
        callId: "c1",
        subject: "Bash",
      },
    ]);
  });

  it("refuse by a throw, by nonsense and by silence", async () => {
    const throws = fired({
      inProcess: [
        hook(() => {
          throw new Error("out of order");
        }),
      ],
    });
    expect((await throws.gate()).verdict).toEqual(refusal("threw: out of order"));
    const nonsense = fired({ inProcess: [hook(() => "yes" as never)] });
    expect((await nonsense.gate()).verdict).toMatchObject({ decision: "deny" });
    let told: AbortSignal | undefined;
    const silent = fired({
      inProcess: [
        hook(
          (_, { signal }) => {
            told = signal;
            return new Promise(() => undefined);
          },
          { timeout: 0.05 },
        ),
      ],
    });
    expect((await silent.gate()).verdict).toEqual(refusal("gave no answer within 0.05 s"));
    expect(told!.aborted).toBe(true);
  });
});
