// The transcript that hooks read: in Claude's shape, as far as is durable when a hook starts, whatever was killed, restored or copied before.
import fs from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { openContexts } from "../../src/contexts/index.ts";
import { readFacts } from "../../src/ledger/read-facts.ts";
import { createTranscripts } from "../../src/mechanisms/hooks/transcripts.ts";
import type { Script } from "../../src/testing/model-server-script.ts";
import { VERSION } from "../../src/version.ts";
import { KEYS } from "../environment.ts";
import { byPrompt, task } from "../subagents/script.ts";
import { command, type HookHouse, on, openHookHouse } from "./fixture.ts";

let house: HookHouse;
afterEach(() => house?.close());

// biome-ignore lint/suspicious/noExplicitAny: lines as scripts read them
type Line = any;

const fileOf = (context: string) => path.join(house.state, "transcripts", `${context}.jsonl`);
const textOf = (file: string) => fs.readFileSync(file, "utf8");
const linesIn = (file: string): Line[] =>
  textOf(file)
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
const isChain = (lines: Line[]) => lines.every((line, i) => line.parentUuid === (lines[i - 1]?.uuid ?? null));

/** Who said what, as short as it can be told. */
const told = (lines: Line[]): string[] =>
  lines.map(({ type, message }) => {
    const blocks = typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
    const words = blocks.map((b: Line) => b.text ?? b.name ?? `${b.tool_use_id}: ${b.content[0].text}`);
    return `${type}: ${words.join(" + ")}`;
  });

/** Keeps the transcript as the hook finds it. */
const copies = (name: string) => `cp "$(jq -r .transcript_path)" ${name}`;

describe("a stop hook of the kind that loops", () => {
  it("reads the last answer out of the transcript, and the turn goes on until that says it is done", async () => {
    house = await openHookHouse([
      { text: "not yet" },
      { text: "still at it" },
      { text: "<promise>DONE</promise> at last" },
    ]);
    const loop = house.script(
      "loop.sh",
      `#!/bin/bash
set -euo pipefail
input=$(cat)
file=$(jq -r .transcript_path <<< "$input")
[[ -f "$file" ]] || { echo "no transcript" >&2; exit 1; }
last=$(grep '"role":"assistant"' "$file" | tail -1 | jq -r '.message.content | map(select(.type == "text") | .text) | join("\\n")')
if [[ "$last" =~ \\<promise\\>(.*)\\</promise\\> && "\${BASH_REMATCH[1]}" == DONE ]]; then exit 0; fi
echo "$last" >> seen
jq -n --arg again "Go on." '{decision: "block", reason: $again, systemMessage: "once more"}'
`,
    );
    const result = await house.run("Build it", { hooks: on("Stop", [loop]) });
    expect([result.reason, result.rounds, house.read("seen")]).toEqual(["done", 3, "not yet\nstill at it\n"]);
    expect(told(linesIn(fileOf(result.context)))).toEqual([
      "user: Build it",
      "assistant: not yet",
      'user: <note from="hook">\nGo on.\n</note>',
      "assistant: still at it",
      'user: <note from="hook">\nGo on.\n</note>',
      "assistant: <promise>DONE</promise> at last",
    ]);
  });
});

describe("a transcript", () => {
  it("has Claude's shape and names, absolute paths, no known secret, and is nobody else's to read", async () => {
    house = await openHookHouse([
      {
        text: `key ${KEYS.OPENAI_API_KEY}`,
        calls: [{ name: "write_file", input: { path: "sub/a.txt", content: "x" } }],
      },
      { calls: [{ name: "bash", input: { command: "cd sub" } }] },
      { calls: [{ name: "read_file", input: { path: "a.txt" } }] },
      { text: "done" },
    ]);
    const hooks = {
      ...on("UserPromptSubmit", ["echo mind the gap"]),
      ...on("Stop", ["exit 0"]),
    };
    const { context } = await house.run("Write it", { hooks });
    const file = fileOf(context);
    const lines = linesIn(file);
    const mode = (place: string) => fs.statSync(place).mode & 0o777;
    expect([mode(file), mode(path.dirname(file)), isChain(lines)]).toEqual([0o600, 0o700, true]);
    const common = {
      isSidechain: false,
      userType: "external",
      sessionId: context,
      version: VERSION,
      uuid: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    };
    const usage = expect.objectContaining({ input_tokens: expect.any(Number), output_tokens: expect.any(Number) });
    const reply = (content: unknown[], stop_reason: string) => ({
      ...common,
      parentUuid: expect.any(String),
      type: "assistant",
      message: {
        ...{ id: expect.stringMatching(/^msg_/), type: "message", role: "assistant", model: "openai-compatible/mock" },
        ...{ content, stop_reason, stop_sequence: null, usage },
      },
    });
    const result = (tool_use_id: string) => ({
      ...common,
      parentUuid: expect.any(String),
      type: "user",
      message: {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id, content: [{ type: "text", text: expect.any(String) }], is_error: false },
        ],
      },
    });
    const sub = path.join(house.root, "sub");
    const at = (cwd: string, line: object) => ({ ...line, cwd, holdfast: { seq: expect.any(Number) } });
    const call = (id: string, name: string, input: object) => ({ type: "tool_use", id, name, input });
    const first = { ...common, parentUuid: null, type: "user", message: { role: "user", content: "Write it" } };
    expect(lines).toEqual([
      {
        ...at(house.root, first),
        holdfast: {
          seq: expect.any(Number),
          needs: expect.any(Number),
          notes: ['<note from="hook">\nmind the gap\n</note>'],
        },
      },
      at(
        house.root,
        reply(
          [
            { type: "text", text: "key [redacted OPENAI_API_KEY]" },
            call("c1", "Write", { file_path: path.join(sub, "a.txt"), content: "x" }),
          ],
          "tool_use",
        ),
      ),
      at(house.root, result("c1")),
      at(house.root, reply([call("c2", "Bash", { command: "cd sub" })], "tool_use")),
      at(house.root, result("c2")),
      at(sub, reply([call("c3", "Read", { file_path: path.join(sub, "a.txt") })], "tool_use")),
      at(sub, result("c3")),
      at(sub, reply([{ type: "text", text: "done" }], "end_turn")),
    ]);
  });

  it("holds at each hook what is durable then, and grows in place", async () => {
    house = await openHookHouse([{ calls: [{ name: "bash", input: { command: "echo hi" } }] }, { text: "done" }]);
    const note = (event: string) =>
      on(event as never, [`f=$(jq -r .transcript_path); wc -l < "$f" >> ${event}; stat -c %i "$f" >> inodes`]);
    const hooks = {
      ...note("SessionStart"),
      ...note("UserPromptSubmit"),
      ...note("PreToolUse"),
      ...note("PostToolUse"),
      ...note("Stop"),
    };
    await house.run("Go", { hooks });
    const counts = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"].map((e) =>
      house.read(e).trim(),
    );
    expect(counts).toEqual(["0", "0", "2", "2", "4"]);
    expect(new Set(house.read("inodes").trim().split("\n")).size).toBe(1);
  });

  it("of a subagent is a file of its own, marked as aside; the session's own is beside it", async () => {
    house = await openHookHouse(
      byPrompt(["Look closely", [{ text: "seen" }]], ["Go", [{ calls: [task("Look closely")] }, { text: "done" }]]),
    );
    const paths = `jq -c '[.transcript_path, .agent_transcript_path, .agent_id]'`;
    const { context } = await house.run("Go", {
      hooks: { ...on("SubagentStop", [`${paths} > asides`]), ...on("Stop", [`${paths} > own`]) },
    });
    const aside = path.join(house.state, "transcripts", context, "subagents/agent-lead.c1.jsonl");
    expect([JSON.parse(house.read("asides")), JSON.parse(house.read("own"))]).toEqual([
      [fileOf(context), aside, "lead.c1"],
      [fileOf(context), null, null],
    ]);
    const lines = linesIn(aside);
    expect(lines.map(({ isSidechain, agentId, sessionId }) => ({ isSidechain, agentId, sessionId }))).toEqual(
      lines.map(() => ({ isSidechain: true, agentId: "lead.c1", sessionId: context })),
    );
    expect(told(lines).at(-1)).toBe("assistant: seen");
    expect(told(linesIn(fileOf(context)))).toEqual([
      "user: Go",
      "assistant: Task",
      expect.stringMatching(/^user: c1: .*seen/s),
      "assistant: done",
    ]);
  });

  it("is there only while a hook wants it, and goes with its context", async () => {
    house = await openHookHouse([{ text: "one" }, { text: "two" }]);
    const hooks = on("Stop", ["exit 0"]);
    const here = () => fs.readdirSync(path.join(house.state, "transcripts")).filter((name) => !name.startsWith("."));
    const { context } = await house.run("First", { hooks });
    expect(linesIn(fileOf(context))).toHaveLength(2);
    await house.run("Second", { hooks: {}, context });
    expect(here()).toEqual([]);
    const other = await house.run("Another", { hooks });
    await (await openContexts({ store: house.store })).delete(other.context);
    const swept = path.join(house.state, "transcripts/.swept");
    fs.utimesSync(swept, 0, 0);
    const last = await house.run("The last", { hooks });
    while (here().length > 1) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(here()).toEqual([`${last.context}.jsonl`]);
  });
});

describe("a transcript that is gone on with", () => {
  const rounds: Script = [
    { text: "one", calls: [{ name: "bash", input: { command: "echo one" } }] },
    { text: "first answer" },
    { text: "second answer" },
    { text: "third answer" },
  ];

  /** As a process that has just begun would write it. */
  const writer = () => {
    const recorded = (context: string, range: Parameters<typeof readFacts>[3]) =>
      readFacts(house.store, house.harness.host.codec, context, range);
    return createTranscripts(house.state, { recorded, version: VERSION });
  };

  it("by another process after a kill in the middle of a line is the same, byte for byte, and only its end is written", async () => {
    house = await openHookHouse(rounds);
    const { context } = await house.run("First", { hooks: on("Stop", ["exit 0"]) });
    const file = fileOf(context);
    const whole = textOf(file);
    const lead = { context, agent: "lead" };
    for (const part of [0.05, 0.3, 0.5, 0.77, 0.999]) {
      const inode = fs.statSync(file).ino;
      fs.truncateSync(file, Math.floor(whole.length * part));
      const isKept = textOf(file).includes("\n");
      expect(await writer().update(lead)).toBe(undefined);
      expect([textOf(file), !isKept || fs.statSync(file).ino === inode]).toEqual([whole, true]);
    }
    for (const wrong of ["\0".repeat(100), '{"type":"user"}\n', whole.replaceAll('"seq":', '"seq":1'), "x".repeat(9)]) {
      fs.appendFileSync(file, wrong);
      await writer().update(lead);
      expect(textOf(file)).toBe(whole);
    }
    const both = [writer(), writer()];
    fs.truncateSync(file, Math.floor(whole.length / 2));
    await Promise.all(both.map((one) => one.update(lead)));
    expect(textOf(file)).toBe(whole);
    // An input that waits while the turn goes on is taken in much later than it came.
    const run = await house.harness.run("Second", { context });
    await run.send("and this");
    await run.result;
    await run.taken.release();
    await writer().update(lead);
    const longer = textOf(file);
    fs.rmSync(file);
    await writer().update(lead);
    expect([longer.startsWith(whole), textOf(file)]).toEqual([true, longer]);
    expect(
      told(linesIn(file))
        .filter((line) => line.startsWith("user: ") && !line.includes("c1"))
        .sort(),
    ).toEqual(["user: First", "user: Second", "user: and this"]);
  });

  it("follows the conversation back to a checkpoint, forward again, and into a copy", async () => {
    house = await openHookHouse(rounds);
    const hooks = { ...on("UserPromptSubmit", [command(copies("at-prompt"))]), ...on("Stop", ["exit 0"]) };
    const contexts = await openContexts({ store: house.store });
    const { context } = await house.run("First", { hooks });
    const opened = await contexts.get(context);
    await opened.checkpoint("after first");
    await house.run("Second", { hooks, context });
    const before = told(linesIn(fileOf(context)));
    await opened.restore("after first", { conversation: true });
    await house.run("Another", { hooks, context });
    const first = [
      "user: First",
      "assistant: one + Bash",
      expect.stringMatching(/^user: c1: one/),
      "assistant: first answer",
    ];
    expect(told(linesIn(path.join(house.root, "at-prompt")))).toEqual(first);
    const lines = linesIn(fileOf(context));
    expect([told(lines), isChain(lines)]).toEqual([[...first, "user: Another", "assistant: second answer"], true]);
    await opened.restore("after first", { conversation: true });
    await opened.undo();
    await writer().update({ context, agent: "lead" });
    expect(told(linesIn(fileOf(context)))).toEqual([...first, "user: Another", "assistant: second answer"]);
    expect(before).toEqual([...first, "user: Second", "assistant: second answer"]);
    const fork = await opened.fork("after first");
    await house.run("In the fork", { hooks, context: fork.id });
    const copy = linesIn(fileOf(fork.id));
    expect([told(copy), new Set(copy.map((line) => line.sessionId))]).toEqual([
      [...first, "user: In the fork", "assistant: second answer"],
      new Set([fork.id]),
    ]);
  });
});
