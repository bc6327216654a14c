// Facts as lines, live text as it comes, and a screen that a question is not run over: without a process.
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { createActivity } from "../../src/front/presentation/activity.ts";
import { describeRequest } from "../../src/front/presentation/approval.ts";
import { duration, money, tokens } from "../../src/front/presentation/format.ts";
import { createLineRenderer } from "../../src/front/presentation/lines.ts";
import { createLiveReader } from "../../src/front/presentation/live.ts";
import { createMarkdownStream } from "../../src/front/presentation/markdown.ts";
import { createPresenter } from "../../src/front/presentation/presenter.ts";
import { escaped, printable } from "../../src/front/presentation/printable.ts";
import { PLAIN, styleFor } from "../../src/front/presentation/style.ts";
import { createScreen } from "../../src/front/text/screen.ts";
import type { StoredEvent } from "../../src/ledger/store.ts";
import { rulesFor } from "../../src/shell-policy/rules-for-call.ts";

let seq = 0;
const fact = (actor: string, type: string, data: object, at = 0): StoredEvent => ({
  ...{ seq: ++seq, at, id: `e${seq}`, type, v: 1, actor, data, touches: [] },
});
const call = (id: string, name: string, input: object) => ({ type: "call", id, name, input });
const reply = (actor: string, ...parts: object[]) =>
  fact(actor, "reply.received", {
    ...{ model: "m", parts, finish: "calls" },
    usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
  });
const started = (actor: string, callId: string, name: string, input: object, at = 0) =>
  fact(actor, "tool.started", { callId, name, input, effect: "job", cwd: "/p" }, at);
const finished = (actor: string, callId: string, name: string, text: string, more: object = {}) =>
  fact(actor, "tool.finished", {
    ...{ callId, name, content: [{ type: "text", text }], isError: false, durationMs: 5, ...more },
  });

function linesOf(facts: StoredEvent[], past = false): string[] {
  const presenter = createPresenter();
  const lines = createLineRenderer({ style: PLAIN, lead: "lead", past });
  return facts.flatMap((one) => presenter.fact(one)).flatMap((block) => lines.render(block));
}

const numbered = (n: number) => Array.from({ length: n }, (_, i) => `line ${i + 1}`).join("\n");

describe("facts", () => {
  it("show a call when it begins and its end below it: the last lines and the exit code of what failed, the first of what did not", () => {
    const ran = { status: "failed", exitCode: 2, ms: 4_100 };
    const shown = linesOf([
      reply("lead", { type: "text", text: "I run them." }, call("c1", "bash", { command: "npm test\nx" })),
      started("lead", "c1", "bash", { command: "npm test\nx" }),
      finished("lead", "c1", "bash", `${numbered(40)}\n[exit code 2]`, { isError: true, ran, lines: 3_001 }),
      started("lead", "c2", "bash", { command: "ls" }),
      finished("lead", "c2", "bash", numbered(40), { ran: { status: "completed", exitCode: 0, ms: 20 } }),
      started("lead", "c3", "read_file", { path: "a.ts", offset: 10, limit: 5 }),
      finished("lead", "c3", "read_file", "10|x\n11|y"),
      finished("lead", "c4", "nothing", "There is no tool named nothing.", { isError: true }),
    ]);
    expect(shown).toEqual([
      "I run them.",
      "● bash npm test … (1 more line)",
      "  … 2988 lines before",
      ...Array.from({ length: 12 }, (_, i) => `  line ${i + 29}`),
      "  ✗ exit code 2 · 4.1 s",
      "● bash ls",
      ...["line 1", "line 2", "line 3", "line 4", "line 5", "… 35 more lines"].map((line) => `  ${line}`),
      "● read_file a.ts:10-14",
      "  2 lines",
      "● nothing",
      "  ✗ There is no tool named nothing.",
    ]);
  });

  it("show edits as their diff, todo lists once, jobs, schedules and messages in one line, and no note for the model", () => {
    const todos = (first: string, second: string) => ({
      todos: [
        { id: 1, content: "look", status: first },
        { id: 2, content: "mend", status: second },
      ],
    });
    const shown = linesOf([
      finished("lead", "c1", "edit_file", "Edited a.ts", {
        display: "--- a.ts\n+++ a.ts\n@@ -1,2 +1,2 @@\n one\n-two\n+2",
      }),
      started("lead", "c2", "todo_write", {}),
      finished("lead", "c2", "todo_write", "[>] look\n[ ] mend"),
      fact("lead", "todo.written", todos("in_progress", "pending")),
      fact("lead", "todo.written", todos("completed", "in_progress")),
      fact("lead", "job.started", {
        jobId: "job_1",
        callId: "c3",
        command: "npm install",
        dir: "",
        boot: "",
        background: true,
      }),
      fact("lead", "note.added", { origin: "jobs", text: "<task_notification>…" }),
      fact("lead", "job.ended", { jobId: "job_1", status: "failed", exitCode: 1, durationMs: 3_200, tail: "" }),
      fact("lead", "note.added", { origin: "todo", text: "Your todo list has open items" }),
      fact(
        "lead",
        "cron.created",
        { scheduleId: "s1", prompt: "the meeting", when: "in 3 minutes", zone: "UTC", next: 180_000, missed: "once" },
        1_000,
      ),
      fact("lead", "cron.fired", { scheduleId: "s1", due: 180_000, skipped: 0, next: null }),
      fact("alice", "message.sent", { messageId: "m", to: "user", content: "Hello\nthere" }),
      fact("lead", "model.retried", { kind: "overloaded", attempt: 1, delayMs: 2_000, model: "m", message: "529" }),
    ]);
    expect(shown).toEqual([
      ...["● edit_file", "  @@ -1,2 +1,2 @@", "   one", "  -two", "  +2"],
      ...["● todo_write 0 of 2 done", "  ▸ look", "  ☐ mend", "● todo_write 1 of 2 done · now: mend"],
      "✗ background job did not finish well (exit code 1): npm install · 3.2 s",
      "· scheduled for 00:03:00: the meeting",
      "· reminder: the meeting",
      "✉ alice → user: Hello",
      "  there",
      "· 529; asking again in 2 s (attempt 2)",
    ]);
  });

  it("fold subagents into a line with their calls, name others, and name a call again whose end comes later", () => {
    const child = { parent: "lead", type: "general-purpose", description: "Find it", depth: 1 };
    const shown = linesOf([
      started("lead", "c1", "task", { description: "Find it", prompt: "…" }),
      started("lead", "c2", "task", { description: "Other", prompt: "…", agent: "explorer" }),
      fact("lead.c1", "subagent.started", { ...child, callId: "c1" }),
      fact("lead.c2", "subagent.started", { ...child, callId: "c2" }),
      reply("lead.c1", { type: "text", text: "hidden" }, call("c1", "glob", { pattern: "*" })),
      started("lead.c1", "c1", "glob", { pattern: "*" }),
      finished("lead.c1", "c1", "glob", "a"),
      finished("lead.c1", "c2", "bash", "Refused: no", { denied: "no", isError: true }),
      finished("lead", "c1", "task", "found", { durationMs: 1_500 }),
      finished("lead", "c2", "task", "The subtask lead.c2 failed: it broke", { isError: true, durationMs: 200 }),
      started("alice", "c1", "bash", { command: "pwd" }),
      started("lead", "c3", "bash", { command: "ls" }),
      finished("alice", "c1", "bash", "/p", { ran: { status: "completed", ms: 2_000 } }),
    ]);
    expect(shown).toEqual([
      "● task Find it",
      "● task Other (explorer)",
      "  [lead.c1] ● bash",
      "  [lead.c1]   ✗ refused: no",
      "└ task Find it",
      "  1 call in 1.5 s",
      "└ task Other (explorer)",
      "  ✗ 0 calls in 0.2 s: The subtask lead.c2 failed: it broke",
      "  [alice] ● bash pwd",
      "● bash ls",
      "  [alice] └ bash pwd",
      "  [alice]   /p",
      "  [alice]   2.0 s",
    ]);
  });

  it("go on after a resume with what the ledger holds: the words before it, the call with its arguments, that it was adopted", () => {
    const presenter = createPresenter();
    const lines = createLineRenderer({ style: PLAIN, lead: "lead" });
    const input = { command: "npm test" };
    const pending = { call: call("c1", "bash", input), started: { input, effect: "job", cwd: "/p", at: 5 } };
    const items = [{ kind: "reply", model: "m", parts: [{ type: "text", text: "Testing." }, pending.call] }];
    const slices: Record<string, unknown> = {
      transcript: { agents: { lead: { name: "lead", items, pending: [pending] } } },
      jobs: { lead: { job_1: { jobId: "job_1", command: "npm run dev" } } },
      cron: { lead: { schedules: { s1: { scheduleId: "s1", prompt: "the meeting", when: "", zone: "UTC" } } } },
    };
    const resumed = presenter.resume({ slice: <T>(name: string) => slices[name] as T });
    const ran = { status: "completed", exitCode: 0, ms: 4_000 };
    const after = [
      finished("lead", "c1", "bash", "OK", { resumed: "adopted", ran, durationMs: 60_000 }),
      fact("lead", "job.ended", { jobId: "job_1", status: "completed", exitCode: 0, durationMs: 100, tail: "" }),
      fact("lead", "cron.fired", { scheduleId: "s1", due: 0, skipped: 0, next: null }),
    ].flatMap((one) => presenter.fact(one));
    expect([...resumed, ...after].flatMap((block) => lines.render(block))).toEqual([
      "Testing.",
      "● bash npm test · begun before the last process ended",
      "  OK",
      "  adopted after the crash · ran 4.0 s",
      "· background job finished: npm run dev · 0.1 s",
      "· reminder: the meeting",
    ]);
  });

  it("say what would have allowed a refused call only where nobody could be asked", () => {
    const presenter = createPresenter();
    const refusal = (tool: string, input: object, why: object) => {
      presenter.fact(reply("lead", call("c1", tool, input)));
      const [block] = presenter.fact(finished("lead", "c1", tool, "", { denied: "no", isError: true, refusal: why }));
      return block?.kind === "ended" && block.refusal?.flags;
    };
    const unanswered = { unanswered: true, rules: rulesFor({ tool: "bash", input: { command: 'echo "$x"' } }) };
    expect([
      refusal("write_file", { path: "a" }, { code: "edit", unanswered: true, rules: ["Edit(/**)"] }),
      refusal("bash", { command: 'echo "$x"' }, { code: "runtime", ...unanswered }),
      refusal("bash", { command: "x" }, { code: "network", unanswered: true }),
      refusal("bash", { command: "x" }, { code: "rule" }),
    ]).toEqual([["--permission-mode acceptEdits"], [`--allowedTools 'Bash(echo "$x")'`], [], []]);
  });
});

describe("what happens now", () => {
  it("gives, in whatever pieces it comes, the text that is then recorded; styles take no character away", () => {
    const text =
      "# A **head**\n\nSome `code ** here`, **bold\nend** \u001b[31mred\u001b]0;title\u0007 ❤️ 😀\r\n```ts\nconst a = `x`; # no head\n```\n* a * b ** c\n~~~\n**no**\n~~~ ";
    const colour = styleFor({ isTTY: true }, {});
    for (let size = 1; size < 12; size++) {
      const reader = createLiveReader();
      const markdown = createMarkdownStream(colour);
      let out = "";
      for (let at = 0; at < text.length; at += size) {
        const piece = text.slice(at, at + size);
        for (const block of reader.live({ type: "delta", delta: { type: "text", text: piece } }))
          if (block.kind === "saying") out += markdown.push(block.text);
      }
      const settled = reader.recorded(text);
      out += markdown.push(settled.kind === "same" ? settled.rest : "other") + markdown.end();
      expect([size, out.replace(/\u001b\[\d+m/g, "")]).toEqual([size, printable(text)]);
      expect(out).toContain("\u001b[1m");
    }
  });

  it("tells a reply that was recorded otherwise, and one that is asked for again", () => {
    const reader = createLiveReader();
    const say = (text: string) => reader.live({ type: "delta", delta: { type: "text", text } });
    say("Hello");
    expect(reader.recorded("Good bye")).toEqual({ kind: "other" });
    say("Hel");
    expect(reader.live({ type: "delta", delta: { type: "reset" } })).toEqual([{ kind: "again" }]);
    say("Good");
    expect([reader.recorded("Good bye"), reader.recorded("unseen")]).toEqual([
      { kind: "same", rest: " bye" },
      { kind: "unseen" },
    ]);
  });

  it("fits one line: how long, what runs and its last line, what was spent", () => {
    const activity = createActivity();
    const at = (columns: number) => activity.line({ at: 65_000, columns, spent: "1.2k tokens · $0.01" });
    expect(at(80)).toBe(undefined);
    activity.turnStarted("lead", 0);
    expect(at(80)).toBe("1 min 5 s · waiting for the model · 1.2k tokens · $0.01");
    activity.fact({
      kind: "begun",
      call: { agent: "lead", callId: "c1", tool: "bash", title: "npm test" },
      at: 0,
      before: false,
    });
    activity.live({ kind: "tail", callId: "c1", line: "日本語のテスト ".repeat(9) });
    expect(at(60)).toBe("1 min 5 s · bash npm test │ 日本語の… · 1.2k tokens · $0.01");
    activity.turnEnded("lead");
    expect(at(60)).toBe(undefined);
  });

  it("writes numbers for people", () => {
    expect([duration(340), duration(61_000), duration(3_700_000)]).toEqual(["0.3 s", "1 min 1 s", "1 h 1 min"]);
    expect([tokens(950), tokens(12_345), tokens(2_500_000)]).toEqual(["950", "12.3k", "2.5M"]);
    expect([money(undefined), money(0), money(0.0123), money(2)]).toEqual(["cost unknown", "$0", "$0.0123", "$2.00"]);
  });
});

describe("a screen", () => {
  const read = (stream: PassThrough) => String(stream.read() ?? "");

  it("holds everything back while a question is open, keeps its order, and asks one at a time", async () => {
    const stderr = new PassThrough();
    const stdout = new PassThrough();
    const screen = createScreen({ isLive: true, stdout, stderr });
    let first = () => {};
    const asked: string[] = [];
    screen.answer("half a");
    screen.print(["from bob"]); // waits for the line to be whole
    const one = screen.exclusively(
      () =>
        new Promise<void>((resolve) => {
          asked.push("one");
          first = resolve;
        }),
    );
    const two = screen.exclusively(async () => void asked.push("two"));
    await new Promise(setImmediate);
    expect([read(stdout), read(stderr), asked]).toEqual(["half a\n", "from bob\n", ["one"]]);
    screen.answer(" line");
    screen.endAnswer();
    screen.print(["from alice"]);
    expect([read(stdout), read(stderr)]).toEqual(["", ""]);
    first();
    await Promise.all([one, two]);
    screen.close();
    expect([read(stdout), read(stderr), asked]).toEqual([" line\n", "from alice\n", ["one", "two"]]);
  });
});

describe("a question", () => {
  const request = (input: object) => ({
    ...{ requestId: "apr_1", agent: "alice", callId: "c1", tool: "bash", cwd: "/p", askedAt: 0 },
    ...{ input, reason: "it runs a script", firm: false },
  });

  it("hides nothing: runs are counted, what cannot be seen is spelt, letters of other alphabets are named", () => {
    const command = `ls${"\n".repeat(301)}rm -rf x${" ".repeat(5000)}y \u{e0041}\u{e0042}\u202e\u3164 \u0430pt ${"\u{e0061}".repeat(40)}`;
    expect(describeRequest({ request: request({ command }) })).toEqual([
      "  bash in /p",
      "  │ ls",
      "  │ ⟨300 empty lines⟩",
      "  │ rm -rf x⟨5000 blanks⟩y \\u{e0041}\\u{e0042}\\u202e\\u3164 \u0430pt ⟨40 invisible characters⟩",
      "  letters of several alphabets in one word: \u0430pt (U+0430)",
      "  why: it runs a script",
    ]);
    expect(printable("a\u{e0041}\u202eb❤️")).toBe("ab❤️");
    expect(escaped("日本 é")).toBe("日本 é");
  });

  it("spells what joins the next character and heaps of marks, and leaves letters with a few marks alone", () => {
    const marks = (count: number) => "\u0301\u0323".repeat(count).slice(0, count);
    expect(escaped(`a\u0d4e;b \u{11a84}\u{1193f}>c ${"\u0d4e".repeat(17)}|`)).toBe(
      "a\\u0d4e;b \\u{11a84}\\u{1193f}>c ⟨17 joining signs⟩|",
    );
    expect([escaped(`e${marks(4)}`), escaped(`e${marks(5)}x`), escaped(`e${marks(17)}x`)]).toEqual([
      `e${marks(4)}`,
      "e\\u0301\\u0323\\u0301\\u0323\\u0301x",
      "e⟨17 combining marks⟩x",
    ]);
    expect([printable(`e${marks(8)}x`), printable(`e${marks(5000)}x`)]).toEqual([`e${marks(8)}x`, `e${marks(8)}x`]);
  });

  it("shows every argument of a tool that is not ours, and no line of a reason passes for one of its own", () => {
    const asked = request({ command: "ls", host: "prod", later: "rm\n  why: you asked" });
    const reason = "the MCP server ops says:\n\n  bash in /p\n  why: you asked for it";
    expect(describeRequest({ request: { ...asked, tool: "mcp__ops__run", reason, firm: true } })).toEqual([
      "  mcp__ops__run in /p",
      "  │ command: ls",
      "  │ host: prod",
      "  │ later:",
      "  │ rm",
      "  │   why: you asked",
      "  why: protected: the MCP server ops says:",
      "  │ ",
      "  │   bash in /p",
      "  │   why: you asked for it",
    ]);
  });

  it("offers rules that say what is repeated, and none that would say too much", () => {
    const rules = (command: string) => rulesFor({ tool: "bash", input: { command } }).slice(1);
    const table = ["npm test -- -x", "npm run build", "python3 tools/check.py a", "./work.sh", "pytest -q", "git push"];
    expect(table.map(rules)).toEqual(
      ["npm test", "npm run build", "python3 tools/check.py", "./work.sh", "pytest", "git push"].map((one) => [
        `Bash(${one} *)`,
      ]),
    );
    expect(
      ["rm x", "sudo npm test", "bash -c x", "npm run", "node -e 1", "git -c a=b push", "curl x"].map(rules),
    ).toEqual(Array(7).fill([]));
    expect(["a\nb", "ls *", "x".repeat(300)].map((command) => rulesFor({ tool: "bash", input: { command } }))).toEqual(
      Array(3).fill([]),
    );
    expect([rulesFor({ tool: "read_file", input: {} }), rulesFor({ tool: "edit_file", input: {} })]).toEqual([
      [],
      ["Edit(/**)"],
    ]);
  });
});
