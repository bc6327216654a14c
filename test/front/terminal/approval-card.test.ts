import { expect, test } from "vitest";
import { PLAIN, type Style, styleFor } from "../../../src/front/presentation/style.ts";
import { createApprovalCard } from "../../../src/front/terminal/approval-card.ts";
import type { ApprovalAnswer, ApprovalRequest } from "../../../src/mechanisms/approvals/events.ts";
import { whoAnswers } from "../../../src/mechanisms/approvals/index.ts";
import type { ChangePreview } from "../../../src/mechanisms/files/change-preview.ts";
import { drawn, KEYS, press, textOf, type } from "./keys.ts";

const REQUEST: ApprovalRequest = {
  requestId: "apr_1",
  agent: "alice",
  callId: "c1",
  tool: "bash",
  input: { command: "npm test" },
  cwd: "/home/me/proj",
  reason: "npm test: it runs scripts of the project",
  firm: false,
  rules: ["Bash(npm test)", "Bash(npm test *)"],
  askedAt: 0,
};
const SIZE = { columns: 80, rows: 24 };
const COLOURED = styleFor({ isTTY: true }, {});
const FROM = "the terminal";

interface Given {
  request?: Partial<ApprovalRequest>;
  change?: ChangePreview;
  waiting?: number;
  style?: Style;
  /** Since it appeared, at the first key. */
  after?: number;
  /** How long before it appeared the last key was typed. */
  typed?: number | undefined;
}

/** Its time passes when it is told to. */
function card({ request = {}, change, waiting = 0, style = PLAIN, after = 1000, typed }: Given = {}) {
  const answers: ApprovalAnswer[] = [];
  const returned: string[] = [];
  const shownAt = 5000;
  let at = shownAt + after;
  let timers: { at: number; then: () => void }[] = [];
  const panel = createApprovalCard({
    ...{ request: { ...REQUEST, ...request }, change, waiting, style, shownAt, now: () => at },
    typedAt: typed === undefined ? undefined : shownAt - typed,
    after(ms, then) {
      const timer = { at: at + ms, then };
      timers.push(timer);
      return () => {
        timers = timers.filter((one) => one !== timer);
      };
    },
    answered: (answer) => void answers.push(answer),
    changed: () => undefined,
    givesBack: (key) => void (key.kind === "key" && returned.push(key.data)),
  });
  const pass = (ms: number): void => {
    at += ms;
    const due = timers.filter((timer) => timer.at <= at);
    timers = timers.filter((timer) => timer.at > at);
    for (const { then } of due) then();
  };
  /** One by one, as by somebody who waits and reads. */
  const slowly = (...keys: string[]): boolean[] =>
    keys.flatMap((key) => {
      pass(1500);
      const taken = press(panel, key);
      pass(80);
      return taken;
    });
  return { panel, answers, returned, pass, slowly };
}

const long = (lines: number) => ({
  input: { command: Array.from({ length: lines }, (_, i) => `echo ${i + 1}`).join("\n") },
});

test("says who asks, what exactly, why, each answer with how far it reaches, and how many wait behind it", () => {
  expect(textOf(card({ waiting: 2 }).panel, SIZE)).toBe(
    [
      "alice asks: may I? · 2 more wait behind it",
      "  bash in /home/me/proj",
      "  │ npm test",
      "  why: npm test: it runs scripts of the project",
      "▸ [y] yes, this once",
      "  [a] yes, and in this context again: exactly this, in this directory",
      "  [r] yes, and in this context from now on: whatever fits the rule Bash(npm test",
      "      *)",
      "  [n] no",
      "  [w] no, and say why",
      "y a r n w, or ↑↓ Enter · Esc interrupts",
    ].join("\n"),
  );
});

test("each key answers, once, and Enter answers with what is chosen", () => {
  const answerTo = (...keys: string[]) => {
    const { panel, answers, slowly } = card();
    drawn(panel, SIZE);
    slowly(...keys, "y");
    return answers;
  };
  const rule = { rule: "Bash(npm test *)", ...whoAnswers() };
  expect([
    answerTo("y"),
    answerTo("a"),
    answerTo("r"),
    answerTo("n"),
    answerTo(KEYS.enter),
    answerTo(KEYS.down, KEYS.enter),
    answerTo(KEYS.down, KEYS.down, KEYS.up, KEYS.up, KEYS.enter),
    answerTo(KEYS.down, KEYS.down, KEYS.down, KEYS.enter),
  ]).toEqual([
    [{ decision: "allow", from: FROM }],
    [{ decision: "allow", remember: true, from: FROM }],
    [{ decision: "allow", keeps: rule, from: FROM }],
    [{ decision: "deny", from: FROM }],
    [{ decision: "allow", from: FROM }],
    [{ decision: "allow", remember: true, from: FROM }],
    [{ decision: "allow", from: FROM }],
    [{ decision: "deny", from: FROM }],
  ]);
});

test("only what is offered answers: of a protected path neither a rule nor the same again, of an edit all of them by e", () => {
  const firm = card({ request: { firm: true } });
  drawn(firm.panel, SIZE);
  expect(firm.slowly("a", "r", "e", "z")).toEqual([false, false, false, false]);
  expect(firm.answers).toEqual([]);
  const edit = card({ request: { tool: "edit_file", rules: ["Edit(/**)"], input: { path: "a" } } });
  expect(textOf(edit.panel, SIZE)).toContain("(Edit(/**))");
  edit.slowly("e");
  expect(edit.answers).toEqual([{ decision: "allow", keeps: { rule: "Edit(/**)", ...whoAnswers() }, from: FROM }]);
});

test("a no goes with a reason that is typed or pasted, in one line, and can be taken back", () => {
  const { panel, answers, slowly } = card();
  drawn(panel, SIZE);
  slowly("w");
  type(panel, "yes, an理由");
  panel.key({ kind: "paste", text: "\nuse the\u001b[31m template\n" });
  const view = drawn(panel, SIZE);
  expect([view.lines.at(-1), view.caret]).toEqual([
    "  why not? yes, an理由 use the template ",
    { row: view.lines.length - 1, column: 40 },
  ]);
  press(panel, KEYS.up);
  expect(textOf(panel, SIZE)).not.toContain("why not?");
  slowly("w", KEYS.backspace, "w");
  type(panel, "use the template");
  press(panel, KEYS.enter);
  expect(answers).toEqual([{ decision: "deny", reason: "use the template", from: FROM }]);
});

test("on the row of the reason whatever is typed is the reason, also y", () => {
  const { panel, answers } = card();
  drawn(panel, SIZE);
  press(panel, ...Array(9).fill(KEYS.down));
  type(panel, "you may not");
  press(panel, KEYS.enter);
  expect(answers).toEqual([{ decision: "deny", reason: "you may not", from: FROM }]);
});

test("what is typed before it could be read answers nothing, however long the word is, nor does the Enter after it", () => {
  const { panel, answers, pass } = card({ after: 10 });
  drawn(panel, SIZE);
  expect(press(panel, "m")).toEqual([false]);
  for (const key of ["a", "n", "y", KEYS.enter]) {
    pass(1400);
    expect(press(panel, key)).toEqual([false]);
  }
  expect(textOf(panel, SIZE)).toContain("you were typing, so nothing was answered: wait a moment, then press a key");
  pass(1500);
  expect(press(panel, KEYS.enter)).toEqual([false]);
  pass(1500);
  expect(answers).toEqual([]);
  press(panel, KEYS.down, KEYS.enter);
  pass(80);
  expect(answers).toEqual([{ decision: "allow", from: FROM }]);
});

test.each([300, 360, 700, 1400])(
  "a sentence typed with a key every %i ms while it appears is not an answer",
  (every) => {
    const sentence = "carry the test data over too, and say why in a row";
    for (let before = 0; before < sentence.length; before++) {
      const { panel, answers, pass } = card({ typed: every / 2, after: every / 2 });
      drawn(panel, SIZE);
      const taken = [...`${sentence.slice(before)}\r`].map((key) => {
        const [isTaken] = press(panel, key);
        pass(every);
        return isTaken;
      });
      expect([answers, taken.includes(true)]).toEqual([[], false]);
    }
  },
);

test.each([
  { key: "y", after: 699, typed: undefined, count: 0 },
  { key: "y", after: 700, typed: undefined, count: 1 },
  { key: KEYS.enter, after: 699, typed: undefined, count: 0 },
  { key: KEYS.enter, after: 700, typed: undefined, count: 1 },
  { key: "y", after: 1000, typed: 499, count: 0 },
  { key: "y", after: 1000, typed: 500, count: 1 },
  { key: KEYS.enter, after: 1000, typed: 1999, count: 0 },
  { key: KEYS.enter, after: 1000, typed: 2000, count: 1 },
])("$key after $after ms, with the last key $typed ms before it: $count answers", ({ key, after, typed, count }) => {
  const { panel, answers, pass } = card({ after, typed });
  drawn(panel, SIZE);
  press(panel, key);
  pass(80);
  expect(answers.length).toBe(count);
});

test.each([
  { after: 699, count: 0 },
  { after: 700, count: 1 },
])("Down and Enter $after ms after it appeared give $count answers, also to one who typed just before", (given) => {
  const { panel, answers, pass } = card({ after: given.after, typed: 10 });
  drawn(panel, SIZE);
  press(panel, KEYS.down, KEYS.enter);
  pass(80);
  expect(answers.length).toBe(given.count);
});

test("Down that is held from before it could be read scrolls once it could be", () => {
  const { panel, pass } = card({ request: long(80), after: 0 });
  drawn(panel, SIZE);
  const taken = Array.from({ length: 30 }, () => {
    pass(30);
    return press(panel, KEYS.down)[0];
  });
  expect([taken.indexOf(true), textOf(panel, SIZE).includes("lines 8–23 of 83")]).toEqual([23, true]);
});

test("keys that come in a burst answer nothing, whatever they are: the first is taken back by the second", () => {
  for (const burst of ["yes", "for all others", "y\r", "\r\r", "no\r", "why\r", "aa"]) {
    const { panel, answers, pass } = card();
    drawn(panel, SIZE);
    for (const key of burst) {
      press(panel, key);
      pass(1);
    }
    press(panel, KEYS.down, KEYS.enter);
    pass(5000);
    expect([burst, answers, textOf(panel, SIZE).includes("why not?")]).toEqual([burst, [], false]);
  }
});

test.each([KEYS.escape, KEYS.ctrlC])("%j right after a letter takes it back", (key) => {
  const { panel, answers, pass } = card();
  drawn(panel, SIZE);
  press(panel, "y", key);
  pass(5000);
  expect(answers).toEqual([]);
});

test("after a paste nothing answers for a while: what follows may still be its text", () => {
  for (const rest of [["y"], [KEYS.enter], [KEYS.down, KEYS.enter], [KEYS.down, KEYS.down, "a"]]) {
    const { panel, answers, pass } = card();
    drawn(panel, SIZE);
    press(panel, KEYS.down);
    panel.key({ kind: "paste", text: "some text" });
    pass(100);
    expect(press(panel, ...rest)).toEqual(rest.map(() => false));
    pass(1500);
    expect(answers).toEqual([]);
    press(panel, "y");
    pass(80);
    expect(answers).toEqual([{ decision: "allow", from: FROM }]);
  }
});

test("nothing of a command is left out by what joins or covers the characters beside it", () => {
  const joining = ["\u0d4e", "\u{111c2}", "\u{1193f}", "\u{11a84}", "\u{11d46}", "\u{11f02}"];
  for (const sign of joining) {
    const { panel } = card({ request: { input: { command: `echo ${sign};touch canary1 ${sign}>evil.txt` } } });
    const code = sign.codePointAt(0)!.toString(16);
    const spelt = code.length > 4 ? `\\u{${code}}` : `\\u0${code}`;
    expect(textOf(panel, SIZE)).toContain(`  │ echo ${spelt};touch canary1 ${spelt}>evil.txt`);
  }
});

test("neither a paste nor a key that is let go answers; Escape and Ctrl-C are left to others, also in the reason", () => {
  const { panel, answers, slowly } = card();
  drawn(panel, SIZE);
  expect(panel.key({ kind: "paste", text: "y\n" })).toBe(false);
  expect(press(panel, "\u001b[121;1:3u", KEYS.escape, KEYS.ctrlC)).toEqual([false, false, false]);
  slowly("w");
  expect(textOf(panel, SIZE)).toContain("why not?");
  expect(press(panel, KEYS.escape, KEYS.ctrlC)).toEqual([false, false]);
  expect(answers).toEqual([]);
});

test("what is taller than the room is scrolled, says where one is, and a yes counts only once its end was shown", () => {
  const { panel, answers, slowly } = card({ request: long(80) });
  expect(textOf(panel, SIZE)).toContain("lines 1–16 of 83");
  slowly("y", KEYS.enter);
  expect([answers, textOf(panel, SIZE)]).toEqual([[], expect.stringContaining("read it to its end first: PgDn")]);
  press(panel, KEYS.down);
  expect(textOf(panel, SIZE)).toContain("lines 2–17 of 83");
  press(panel, KEYS.pageDown);
  expect(textOf(panel, SIZE)).toContain("lines 17–32 of 83");
  press(panel, KEYS.end);
  expect(textOf(panel, SIZE)).toContain("lines 68–83 of 83");
  press(panel, KEYS.home);
  expect(textOf(panel, SIZE)).toContain("lines 1–16 of 83");
  slowly("y");
  expect(answers).toEqual([{ decision: "allow", from: FROM }]);
});

test("a no needs no reading", () => {
  const { panel, answers, slowly } = card({ request: long(80) });
  drawn(panel, SIZE);
  slowly("n");
  expect(answers).toEqual([{ decision: "deny", from: FROM }]);
});

test("Down goes through what is asked and then through the answers, and Up all the way back", () => {
  const { panel } = card({ request: long(20) });
  const at = () => {
    const shown = textOf(panel, SIZE);
    return [/lines \S+/.exec(shown)?.[0], /▸ \[(.)\]/.exec(shown)?.[1]];
  };
  const seen = [at()];
  for (let i = 0; i < 8; i++) {
    press(panel, KEYS.down);
    seen.push(at());
  }
  expect([seen[0], seen[6], seen[7], seen[8]]).toEqual([
    ["lines 1–16", "y"],
    ["lines 7–22", "y"],
    ["lines 7–22", "a"],
    ["lines 7–22", "r"],
  ]);
  press(panel, KEYS.up, KEYS.up, KEYS.up);
  expect(at()).toEqual(["lines 6–21", "y"]);
});

test("a long line is shown whole, and none of its rows can pass for a row of the card", () => {
  const command = `echo ${"あ".repeat(60)} ${"x".repeat(200)} [y] yes`;
  const { panel } = card({ request: { input: { command } }, style: COLOURED });
  const rows = textOf(panel, { columns: 40, rows: 40 }).split("\n");
  const from = rows.findIndex((row) => row.startsWith("  │ "));
  const to = rows.findIndex((row) => row.startsWith("  why: "));
  const text = rows.slice(from, to).map((row, i) => row.slice(i === 0 ? "  │ ".length : "  ┊ ".length));
  expect([text.join(""), rows.slice(from + 1, to).every((row) => row.startsWith("  ┊ "))]).toEqual([command, true]);
});

test("a diff is coloured in every row of it, and what would hide is spelt", () => {
  const diff = `--- a\n+++ a\n@@ -1,1 +1,1 @@\n-one\n+${"two ".repeat(20)}\u202e\n`;
  const { panel } = card({
    request: { tool: "edit_file", input: { path: "a\nb" }, rules: ["Edit(/**)"] },
    change: { path: "/home/me/proj/a\nb", isNew: false, diff },
    style: COLOURED,
  });
  const { lines } = drawn(panel, { columns: 60, rows: 30 });
  const green = lines.filter((line) => line.includes("\u001b[32m"));
  expect([green.length, green.every((line) => /\u001b\[(?:39|0)m$/.test(line))]).toEqual([2, true]);
  const text = lines.join("\n");
  expect([text.includes("\\u202e"), text.includes("edit_file\u001b[22m a\\nb in /home/me/proj")]).toEqual([true, true]);
});

test("in a low window the answers are scrolled with what is asked: the rule is shown before it can be kept", () => {
  const size = { columns: 60, rows: 8 };
  const { panel, answers, slowly } = card();
  expect(textOf(panel, size)).toContain("▸y once  a again  r rule  n no  w say why");
  slowly("r");
  expect(answers).toEqual([]);
  slowly(KEYS.end);
  expect(textOf(panel, size)).toContain("Bash(npm test *)");
  slowly("r");
  expect(answers.length).toBe(1);
});

test.each([20, 40, 60, 100, 200])("every line fits %i columns, whatever is asked", (columns) => {
  const command = `echo 日本語のテスト 👨‍👩‍👧 e\u0301 ${"長い".repeat(80)}\n\t\u001b[31mred\u0007\n${"x".repeat(300)}`;
  const given = { agent: "あかりさん", reason: `理由: ${"とても".repeat(30)}\nline two`, input: { command } };
  for (const rows of [5, 8, 12, 24, 60]) {
    const { panel, slowly } = card({ request: given, waiting: 12, style: COLOURED });
    for (const key of ["", KEYS.down, KEYS.pageDown, KEYS.end, "w", "あ", "い".repeat(120)]) {
      if (key !== "") slowly(key);
      drawn(panel, { columns, rows });
    }
  }
});

test("a letter that answers and is the first of a word is given back, once; one that answered is not", () => {
  const { panel, answers, returned, slowly } = card();
  type(panel, "yes");
  expect([returned, answers]).toEqual([["y"], []]);
  slowly("n");
  expect([returned, answers.length]).toEqual([["y"], 1]);
});
