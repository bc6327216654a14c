// The screen on a headless terminal: nothing of the user's is lost, every line is there once, and what is live looks as if it had just been drawn.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Size, View } from "../../../src/front/terminal/view.ts";
import { type Headless, openHeadless, part, SHELL_LINES } from "./headless.ts";
import { bare, cut, EMOJI, PIECES, type Step, steps, viewAt, withoutEmptyEnd } from "./random-screens.ts";

/** Of 60 steps each. Where one fails, the first that does is enough: shrinking it takes minutes. */
const RUNS = Number(process.env.FC_RUNS ?? 10);
/** Contract: the live part, and the cursor in it, look as on a terminal that was given nothing else. */
async function expectFresh(h: Headless, view: View, size: Size): Promise<void> {
  const fresh = await openHeadless(size);
  fresh.screen.show(part(() => view));
  await fresh.settled();
  const { row, column } = fresh.cursor();
  const top = h.cursor().row - (row - SHELL_LINES.length);
  expect({ rows: withoutEmptyEnd(h.looks().slice(top)), column: h.cursor().column }).toEqual({
    rows: withoutEmptyEnd(fresh.looks().slice(SHELL_LINES.length)),
    column,
  });
  if (view.caret) expect(column).toBe(view.caret.column);
  fresh.screen.close();
}

async function play(
  all: Step[],
  check: (h: Headless, s: { appended: string[]; view: View; size: Size }) => Promise<void>,
) {
  let size: Size = { columns: 100, rows: 30 };
  const h = await openHeadless(size);
  const appended: string[] = [];
  let view: View = { lines: [] };
  let now: { live: string[]; caret: number } = { live: [], caret: 0 };
  h.screen.show(
    part((at) => {
      view = viewAt(now.live, now.caret, at);
      return view;
    }),
  );
  try {
    for (const step of all) {
      now = step;
      if (step.append) {
        const lines = step.append.map((line, i) => `[${appended.length + i}] ${line}`);
        appended.push(...lines);
        h.screen.append(lines);
      }
      if (step.resize) {
        size = { ...size, ...step.resize };
        await h.resize(size);
      } else await h.settled();
      await check(h, { appended, view, size });
    }
  } finally {
    h.screen.close();
  }
  await h.settled();
  return { h, appended };
}

const finishedIn = (h: Headless) => h.logical().filter((line) => /^shell-line-|^\[\d+\]/.test(line));

const runs = { numRuns: RUNS, endOnFailure: !process.env.FC_SHRINK };
const marksIn = (h: Headless) => finishedIn(h).map((line) => /^(?:shell-line-\d\d|\[\d+\])/.exec(line)![0]);

test("what stood before and every finished line is there once, in order, whatever sizes the terminal gets", async () => {
  const any = steps({ pieces: [...PIECES, ...EMOJI], columns: [20, 200], rows: [5, 60], live: 8, both: true });
  await fc.assert(
    fc.asyncProperty(any, async (all) => {
      const expected = (appended: string[]) => [...SHELL_LINES, ...appended.map((_, i) => `[${i}]`)];
      const { h, appended } = await play(all, async (h, { appended }) => {
        expect(marksIn(h)).toEqual(expected(appended));
      });
      expect(marksIn(h)).toEqual(expected(appended));
    }),
    runs,
  );
});

test("a frame that meets a screen which got lower meanwhile takes nothing of what is finished", async () => {
  for (const rows of [29, 28, 26, 18]) {
    const h = await openHeadless({ columns: 100, rows: 30 });
    const live = (more: string[]) =>
      part(() => ({
        lines: ["a call", ...more, "working", "", "> ", "status"],
        caret: { row: 3 + more.length, column: 2 },
      }));
    h.screen.show(live([]));
    h.screen.append(["[0] said"]);
    await h.settled();
    h.resizeUntold({ columns: 100, rows }); // the status below the caret goes
    h.screen.show(live(["one row more"]));
    await h.settled();
    h.screen.append(["[1] done", "[2] done"]);
    h.screen.show(live([]));
    await h.settled();
    await h.resize({ columns: 100, rows });
    expect(marksIn(h)).toEqual([...SHELL_LINES, "[0]", "[1]", "[2]"]);
    h.screen.close();
  }
});

test("what is live looks as if it had just been drawn, with the cursor on the caret, whatever sizes the terminal gets", async () => {
  const any = steps({ pieces: [...PIECES, ...EMOJI], columns: [20, 200], rows: [5, 60], live: 8, both: true });
  await fc.assert(
    fc.asyncProperty(any, async (all) => {
      await play(all, (h, { view, size }) => expectFresh(h, view, size));
    }),
    { ...runs, numRuns: Math.ceil(RUNS / 4) },
  );
});

test("where the live part has room, there are finished lines and live lines, and nothing is left behind", async () => {
  const roomy = steps({ pieces: PIECES, columns: [50, 150], rows: [30, 60], live: 6, both: false });
  await fc.assert(
    fc.asyncProperty(roomy, async (all) => {
      const { h, appended } = await play(all, async (h, { appended, view }) => {
        expect(withoutEmptyEnd(h.logical())).toEqual(
          withoutEmptyEnd([...SHELL_LINES, ...appended.map(bare), ...view.lines.map(bare)]),
        );
      });
      expect(withoutEmptyEnd(h.logical())).toEqual([...SHELL_LINES, ...appended.map(bare)]);
      expect(h.cursor()).toEqual({ row: SHELL_LINES.length + rowsBelowShell(h), column: 0 });
    }),
    runs,
  );
});

/** Rows of finished lines: the cursor is below the last one. */
const rowsBelowShell = (h: Headless) => withoutEmptyEnd(h.rows()).length - SHELL_LINES.length;

const edit = fc.record({
  row: fc.nat(6),
  at: fc.nat(12),
  gone: fc.nat(3),
  come: fc.array(fc.constantFrom(...PIECES, ...EMOJI, "a", "\u001b[44m ground \u001b[49m"), { maxLength: 4 }),
  what: fc.constantFrom("change", "change", "change", "insert", "remove", "finish"),
});

test("any small change of any line gives what drawing all of it would give", async () => {
  const size = { columns: 40, rows: 12 };
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 40, maxLength: 40 }), async (edits) => {
      const h = await openHeadless(size);
      const live: string[][] = [["a"], ["b", "c"], ["plain words "]];
      const finished: string[] = [];
      let view: View = { lines: [] };
      for (const { row, at, gone, come, what } of edits) {
        const line = live[row % (live.length || 1)];
        if (what === "insert" || !line) live.splice(row % (live.length + 1), 0, come);
        else if (what === "remove") live.splice(live.indexOf(line), 1 + (gone % 3));
        else if (what === "finish") {
          const done = live.splice(0, 1 + (row % live.length)).map((pieces) => cut(pieces.join(""), size.columns));
          h.screen.append(done);
          finished.push(...done);
        } else line.splice(at, gone, ...come);
        view = viewAt(
          live.map((pieces) => pieces.join("")),
          at + row,
          size,
        );
        h.screen.show(part(() => view));
        await h.settled();
        await expectFresh(h, view, size);
      }
      h.screen.close(["the end"]);
      await h.settled();
      // The width of an emoji is the terminal's own: only the letters are compared.
      const letters = (line: string) => bare(line).replace(/[^\w-]/g, "");
      const expected = [...SHELL_LINES, ...finished, "the end"];
      expect(withoutEmptyEnd(h.logical().map(letters))).toEqual(expected.map(letters));
    }),
    runs,
  );
});

test("a frame is one write in one synchronised update; none is drawn when nothing changed; nothing else of the terminal is touched", async () => {
  const any = steps({ pieces: [...PIECES, ...EMOJI], columns: [20, 200], rows: [5, 60], live: 8, both: true });
  await fc.assert(
    fc.asyncProperty(any, async (all) => {
      const { h } = await play(all, async (h) => {
        const drawn = h.frames.length;
        await h.settled();
        expect(h.frames.length).toBe(drawn);
      });
      for (const frame of h.frames) {
        expect(frame).toMatch(/^\u001b\[\?2026h.+\u001b\[\?2026l$/s);
        const sequences = frame.match(/\u001b(?:\[[0-?]*[ -/]*[@-~]|[^[])/g)!;
        const others = sequences.filter((one) => !/^\u001b\[(?:[\d;]*m|\d*[ABCGKLM]|J|\?(?:7|25|2026)[hl])$/.test(one));
        expect(others).toEqual([]);
        expect(sequences.filter((one) => one.includes("?2026"))).toEqual(["\u001b[?2026h", "\u001b[?2026l"]);
        expect(sequences.filter((one) => one.includes("?7")).at(-1) ?? "\u001b[?7h").toBe("\u001b[?7h");
      }
    }),
    { ...runs, numRuns: Math.ceil(RUNS / 4) },
  );
});

test("lines exactly as wide as the screen stay one row each, live and finished, while they grow to it and beyond", async () => {
  const size = { columns: 20, rows: 10 };
  const h = await openHeadless(size);
  const wide = "日本語".repeat(7);
  let live: string[] = [];
  h.screen.show(part(() => ({ lines: [...live, "=".repeat(20)], caret: { row: live.length, column: 19 } })));
  for (let i = 0; i <= 20; i++) {
    live = ["x".repeat(i), wide.slice(0, i / 2), "y".repeat(20)];
    await h.settled();
    expect(h.cursor().column).toBe(19);
  }
  h.screen.append(["z".repeat(20), "1", "w".repeat(20)]);
  h.screen.append([`${"long ".repeat(9)}end`, "日本語の行".repeat(2)]);
  await h.settled();
  h.screen.close(["z".repeat(20)]);
  await h.settled();
  expect(withoutEmptyEnd(h.logical()).slice(SHELL_LINES.length)).toEqual([
    "z".repeat(20),
    "1",
    "w".repeat(20),
    `${"long ".repeat(9)}end`,
    "日本語の行日本語の行",
    "z".repeat(20),
  ]);
});

test("the cursor is hidden where there is no caret, and shown again at the end; nothing is written after it", async () => {
  const h = await openHeadless({ columns: 40, rows: 10 });
  h.screen.show(part(() => ({ lines: ["working"] })));
  await h.settled();
  expect(h.frames.join("").match(/\u001b\[\?25[hl]/g)).toEqual(["\u001b[?25l"]);
  h.screen.close();
  const written = h.frames.length;
  h.screen.append(["late"]);
  h.screen.show(part(() => ({ lines: ["late"] })));
  h.screen.changed();
  h.screen.resized();
  h.screen.close();
  await h.settled();
  expect(h.frames.length).toBe(written);
  expect(h.frames.join("").match(/\u001b\[\?25[hl]/g)).toEqual(["\u001b[?25l", "\u001b[?25h"]);
  expect(withoutEmptyEnd(h.rows())).toEqual(SHELL_LINES);
});

test("what is live and does not fit is shown around the caret", async () => {
  const h = await openHeadless({ columns: 40, rows: 5 });
  const lines = Array.from({ length: 12 }, (_, i) => `line ${i}`);
  let row = 11;
  h.screen.show(part(() => ({ lines, caret: { row, column: 2 } })));
  const shown: string[][] = [];
  for (row of [11, 5, 0]) {
    await h.settled();
    shown.push(h.rows().slice(-5));
    expect(h.rows()[h.cursor().row]).toBe(`line ${row}`);
  }
  expect(shown).toEqual([lines.slice(7), lines.slice(3, 8), lines.slice(0, 5)]);
  h.screen.close();
});

test("a frame costs the same however much is finished", async () => {
  const h = await openHeadless({ columns: 80, rows: 24 });
  let typed = "";
  h.screen.show(part(() => ({ lines: ["status", `> ${typed}`], caret: { row: 1, column: 2 + typed.length } })));
  const costs: number[] = [];
  for (const count of [0, 5000]) {
    h.screen.append(Array.from({ length: count }, (_, i) => `finished ${i}`));
    await h.settled();
    typed += "x";
    await h.settled();
    costs.push(h.frames.at(-1)!.length);
  }
  expect(costs).toEqual([17, 17]);
  h.screen.close();
});

/** All that a frame may hold of ours, and styles. */
const OURS = /\u001b\[(?:[\d;:]*m|\d*[ABCGKLM]|J|\?(?:7|25|2026)[hl])|\r\n|\r/g;
const ACTING = [
  ...[
    "\u001b",
    "\u001b[",
    "\u001b]0;",
    "\u001b]52;c;aGk=\u0007",
    "\u001b]8;;http://x\u001b\\",
    "\u001bP",
    "\u001b\\",
    "\u001b[2J",
  ],
  ...[
    "\u001b[1;1H",
    "\u001b[?1049h",
    "\u001b[>4;2m",
    "\u001b[?5m",
    "\u001b[6n",
    "\u001bc",
    "\u001b(0",
    "\u001b#8",
    "\u001b[1 q",
  ],
  ...[
    "\u0000",
    "\u0007",
    "\b",
    "\t",
    "\n",
    "\r",
    "\r\n",
    "\u000b",
    "\u000c",
    "\u000e",
    "\u007f",
    "\u0085",
    "\u0090",
    "\u009b",
    "\u009c",
  ],
  ...[
    "\u009d",
    "\u202e",
    "\u2066",
    "\u2069",
    "\u200e",
    "\u200f",
    "\u061c",
    "31m",
    "2J",
    "H",
    ";",
    "m",
    "\u001b[31m",
    "\u001b[4:3m",
  ],
  ...["a", "日", "👍", "e\u0301", "\u0d4e"],
];

test("whatever lines are given, nothing but styles and the screen's own sequences reaches the terminal", async () => {
  const piece = fc.oneof(fc.constantFrom(...ACTING), fc.string({ unit: "binary", maxLength: 3 }));
  const lines = fc.array(
    fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join("")),
    { minLength: 1, maxLength: 4 },
  );
  await fc.assert(
    fc.asyncProperty(lines, lines, lines, async (finished, live, last) => {
      const h = await openHeadless({ columns: 30, rows: 12 });
      h.screen.show(part(() => ({ lines: live })));
      h.screen.append(finished);
      await h.settled();
      h.screen.append(live);
      await h.settled();
      h.screen.close(last);
      for (const frame of h.frames) {
        const rest = frame.replace(OURS, "");
        expect(rest).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/);
      }
    }),
    { numRuns: 30 * RUNS, endOnFailure: true },
  );
});

test("text around what acts stays, and so do styles; a live line stays one row", async () => {
  const h = await openHeadless({ columns: 40, rows: 10 });
  const given = "a\u001b]0;title\u0007b\u001b[2Jc\u001b[31md\u001b[39m\u009b31me\u202ef\u001b]8;;no end";
  h.screen.append([given, "one\r\ntwo\tthree\rfour"]);
  h.screen.show(part(() => ({ lines: [given, "one\r\ntwo\tthree", "below"], caret: { row: 2, column: 0 } })));
  await h.settled();
  const safe = "abcd31mef]8;;no end";
  const rows = [safe, "one", "two   threefour", safe, "onetwo   three", "below"];
  expect(withoutEmptyEnd(h.rows()).slice(SHELL_LINES.length)).toEqual(rows);
  expect(h.cursor()).toEqual({ row: SHELL_LINES.length + 5, column: 0 });
  expect(h.frames.join("")).toContain("abc\u001b[31md\u001b[39m");
  h.screen.close();
});
