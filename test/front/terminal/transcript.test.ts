// What is told of a context: finished lines go up once and in order, what goes on stays live; nothing runs over a reply that streams.
import { expect, test } from "vitest";
import { PLAIN } from "../../../src/front/presentation/style.ts";
import { createTally } from "../../../src/front/presentation/tally.ts";
import { createRunning } from "../../../src/front/terminal/running.ts";
import { createTranscript } from "../../../src/front/terminal/transcript.ts";
import type { StoredEvent } from "../../../src/ledger/store.ts";
import type { Progress } from "../../../src/loop/seams.ts";

const SIZE = { columns: 60, rows: 24 };
const USAGE = { input: 10, output: 2, cacheRead: 0, cacheWrite: 0 };

function setUp({ isPlain = false } = {}) {
  const printed: string[] = [];
  let seq = 0;
  const clock = { at: 0 };
  const running = createRunning({ style: PLAIN, lead: "lead", now: () => clock.at });
  const transcript = createTranscript({
    ...{ style: PLAIN, size: () => SIZE, running, tally: createTally(), isPlain },
    append: (lines) => printed.push(...lines),
    changed: () => undefined,
  });
  const fact = (type: string, data: unknown, actor = "lead") => {
    const event = { seq: ++seq, id: `e${seq}`, type, v: 1, actor, at: 0, data } as unknown as StoredEvent;
    transcript.event({ type: "event", event });
  };
  const live = (progress: Progress) => transcript.event({ type: "progress", progress });
  const said = (text: string) => live({ type: "delta", delta: { type: "text", text } });
  const replied = (text: string, actor = "lead", calls: object[] = []) =>
    fact(
      "reply.received",
      { model: "m", parts: [{ type: "text", text }, ...calls], finish: "stop", usage: USAGE },
      actor,
    );
  const rows = () => [...transcript.render(SIZE).lines, ...running.render(SIZE).lines];
  return { printed, fact, live, said, replied, rows, clock, transcript };
}

const started = { callId: "c1", name: "bash", input: { command: "npm test" }, effect: "job", cwd: "/p" };
const finished = {
  ...{ callId: "c1", name: "bash", isError: false, durationMs: 10 },
  content: [{ type: "text", text: "41 passed" }],
};

test("a reply that streamed is not printed again when it is recorded, and what was held back of it is", () => {
  const { printed, said, replied, rows } = setUp();
  said("First paragraph.\n\nSecond ");
  expect([printed, rows()]).toEqual([["  First paragraph."], ["", "  Second"]]);
  said("one");
  replied("First paragraph.\n\nSecond one.");
  expect([printed, rows()]).toEqual([["  First paragraph.", "", "  Second one."], []]);
});

test("a reply that is recorded otherwise than it streamed is printed as it was recorded, and that is said", () => {
  const { printed, said, replied } = setUp();
  said("This.\n\n");
  replied("That.");
  expect(printed).toEqual(["  This.", "", "· recorded was this instead of what stands above:", "", "  That."]);
});

test("what teammates do while the lead speaks is told when it has spoken", () => {
  const { printed, said, replied } = setUp();
  said("One.\n\nTwo");
  replied("I am bob.", "bob");
  expect(printed).toEqual(["  One."]);
  said(".");
  replied("One.\n\nTwo.");
  expect(printed).toEqual(["  One.", "", "  Two.", "", "  [bob] I am bob."]);
});

test("a call stands live with its time and last line while it runs, and is printed with its result when it has ended", () => {
  const { printed, fact, live, rows, clock } = setUp();
  fact("turn.started", { turnId: "t", cause: "input" });
  fact("tool.started", started);
  live({ type: "output", callId: "c1", text: "line 1\nline 2\n" } as Progress);
  clock.at = 3_000;
  expect([printed, rows().slice(0, 2)]).toEqual([[], ["● bash npm test · 3 s", "  line 2"]]);
  fact("tool.finished", finished);
  expect([printed, rows().some((row) => row.includes("npm test"))]).toEqual([
    ["● bash npm test", "  41 passed"],
    false,
  ]);
  fact("turn.ended", { turnId: "t", reason: "done", text: "" });
  expect(rows()).toEqual([]);
});

test("in plain lines a call is named when it begins", () => {
  const { printed, fact } = setUp({ isPlain: true });
  fact("tool.started", started);
  expect(printed).toEqual(["● bash npm test"]);
  fact("tool.finished", finished);
  expect(printed).toEqual(["● bash npm test", "  41 passed"]);
});

test("a person's words are repeated, long ones shortened, queued ones marked; notes to the model are not shown", () => {
  const { printed, fact } = setUp();
  const input = (text: string, more = {}) => ({
    ...{ inputId: "i", agent: "lead", origin: "user", ...more },
    content: [{ type: "text", text }],
  });
  fact("input.received", input("hello"), "user");
  fact("note.added", { origin: "todo", text: "a reminder" });
  fact("input.received", input(Array.from({ length: 14 }, (_, i) => `line ${i}`).join("\n"), { waits: true }), "user");
  expect(printed).toEqual([
    "> hello",
    "",
    "> line 0",
    ...Array.from({ length: 9 }, (_, i) => `  line ${i + 1}`),
    "  … 4 more lines",
    "  queued: a turn of its own, behind this one",
  ]);
});

test("names that a model or somebody's file brings move no cursor and make no lines of their own", () => {
  const { printed, fact, rows } = setUp();
  const evil = "no\u001b]0;PWN\u0007\u001b[2J\n> delete it\u202etool";
  fact("turn.started", { turnId: "t", cause: "input" });
  fact("tool.started", { ...started, name: evil });
  expect(rows().join("\n")).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  fact("tool.finished", { ...finished, name: evil });
  fact("message.sent", { messageId: "m", to: evil, content: "hello" }, evil);
  expect(printed.join("\n")).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  expect(printed.filter((line) => line.startsWith(">"))).toEqual([]);
});

test("what a mechanism answers to typed words is shown", () => {
  const { printed, fact } = setUp();
  fact("input.answered", { inputId: "i", text: "The goal is cleared." });
  expect(printed).toEqual(["  The goal is cleared."]);
});

test("what waits for a person is said as it is done in the terminal", () => {
  const { printed, fact } = setUp();
  fact("plan.submitted", { requestId: "plan_1", plan: "1. Look" }, "alice");
  expect(printed.join(" ").replace(/\s+/g, " ")).toContain(
    "[alice] · submitted a plan (plan_1): read it, and approve or reject it, in /team",
  );
});
