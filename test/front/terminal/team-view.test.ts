import { expect, test } from "vitest";
import { PLAIN, styleFor } from "../../../src/front/presentation/style.ts";
import type { TeamNow, TeamSource } from "../../../src/front/terminal/team-now.ts";
import { createTeamView } from "../../../src/front/terminal/team-view.ts";
import { drawn, KEYS, press, textOf, type } from "./keys.ts";

const SIZE = { columns: 80, rows: 20 };
const NOW = 100_000;

const TEAM: TeamNow = {
  members: [
    {
      name: "lead",
      role: "",
      doing: "working",
      call: "bash npm test",
      waitsFor: { kind: "nothing" },
      since: NOW - 12_000,
    },
    {
      ...{ name: "alice", role: "writer", doing: "waits for the review of plan_alice_1" },
      ...{ waitsFor: { kind: "plan", id: "plan_alice_1" }, since: NOW - 65_000 },
    },
    {
      ...{ name: "bob", role: "tester", doing: "working", task: { id: "task_2", subject: "Test it" } },
      ...{ waitsFor: { kind: "approval", id: "apr_1", title: "bash npm install" }, since: NOW - 4_000 },
    },
    { name: "carol", role: "reader", doing: "idle", waitsFor: { kind: "message" }, last: "All read.\n\u202eDone." },
  ],
  plans: [{ id: "plan_alice_1", by: "alice", at: NOW - 65_000 }],
  worktrees: [
    {
      ...{ name: "api", branch: "holdfast/api", agent: "alice", tasks: ["task_1 completed"] },
      ...{ commits: 2, files: 3, uncommitted: 1, says: "2 ahead, 0 behind; 1 change uncommitted" },
    },
    {
      ...{ name: "web", branch: "holdfast/web", agent: "", tasks: [] },
      ...{ commits: 0, files: 0, uncommitted: 0, says: "nothing new" },
    },
  ],
};

async function view(now: TeamNow = TEAM, more: Partial<TeamSource> = {}, style = PLAIN) {
  const seen = { asked: [] as unknown[], left: 0, looks: 0, drawings: 0 };
  const did =
    (what: string, line: string) =>
    async (...args: unknown[]) => {
      seen.asked.push([what, ...args]);
      return line;
    };
  const team = { now };
  const source: TeamSource = {
    async look() {
      seen.looks++;
      return team.now;
    },
    plan: did("plan", "1. read\n2. write\n\u001b[31m3. 終わり"),
    review: did("review", "plan_alice_1 approved. alice hears it when a host runs it."),
    send: did("send", "Sent."),
    async worktree(name) {
      seen.asked.push(["worktree", name]);
      return { lines: ["diff --git a/a b/a", "@@ -1 +1 @@", "-one", "+\ttwo\u0007"] };
    },
    merge: did("merge", "Merged 2 commits of holdfast/api (3 files) into main, now at 3f1c22ab90"),
    drop: did("drop", "the worktree api stays: 1 unstaged (1 change); 2 commits in no other branch and no remote"),
    ...more,
  };
  const panel = createTeamView({
    ...{ source, style, now: () => NOW },
    changed: () => void seen.drawings++,
    left: () => void seen.left++,
  });
  await panel.refresh();
  /** Presses, and lets what was begun come to its end. */
  const after = async (...keys: string[]) => {
    for (const key of keys) {
      press(panel, key);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return textOf(panel, SIZE);
  };
  return { panel, seen, team, after };
}

const down = (times: number): string[] => Array(times).fill(KEYS.down);

test("says who does what, since when, and waits for what, and what each worktree holds", async () => {
  const { panel } = await view();
  expect(textOf(panel, { columns: 100, rows: 20 })).toBe(
    [
      "Team · 2 for you to answer",
      "▸ lead                 bash npm test · 12 s",
      "  alice                waits for you: plan_alice_1 · 1 min 5 s",
      "  bob                  waits for your yes: bash npm install · 4 s · task_2 Test it",
      "  carol                idle, waits for a message · reader",
      "Plans that wait for you",
      "  alice                plan_alice_1 · 1 min 5 s",
      "Worktrees",
      "  api                  2 commits, 3 files · 1 uncommitted · task_1 completed · holdfast/api",
      "  web                  nothing new · holdfast/web",
      "↑↓ Enter · m message · Esc back",
    ].join("\n"),
  );
});

test("the last row names what can be done with the chosen one", async () => {
  const { after } = await view();
  const keys = async (...pressed: string[]) => (await after(...pressed)).split("\n").at(-1);
  expect([await keys(KEYS.down), await keys(...down(4)), await keys(KEYS.down)]).toEqual([
    "↑↓ Enter · a approve · r reject · m message · Esc back",
    "↑↓ Enter · m message · d diff · M merge · x drop · Esc back",
    "↑↓ Enter · d diff · M merge · x drop · Esc back",
  ]);
});

test("a plan is shown whole, escaped, and approved where it is shown; nothing is approved unseen", async () => {
  const { after, seen } = await view();
  const shown = await after(KEYS.down, "a");
  expect(shown.split("\n").slice(0, 4)).toEqual([
    "plan_alice_1 of alice",
    "1. read",
    "2. write",
    "\\u001b[31m3. 終わり",
  ]);
  expect(seen.asked).toEqual([["plan", "plan_alice_1"]]);
  const then = await after("a");
  expect(then).toContain("plan_alice_1 approved. alice hears it when a host runs it.");
  expect(then).toContain("Team · 2");
  expect(seen.asked.slice(1)).toEqual([["review", "plan_alice_1", { approve: true, feedback: "" }]]);
});

test("a plan that was read is approved from the list too, once", async () => {
  const { after, seen } = await view();
  await after(KEYS.down, KEYS.enter, KEYS.escape, "a");
  expect(seen.asked).toEqual([
    ["plan", "plan_alice_1"],
    ["review", "plan_alice_1", { approve: true, feedback: "" }],
  ]);
});

test("a plan is rejected with a reason that is typed; without one, or after Escape, it is not", async () => {
  const { panel, after, seen } = await view();
  await after(KEYS.down, "r", KEYS.enter, "r", "n", KEYS.escape);
  expect(seen.asked).toEqual([]);
  await after("r");
  type(panel, "ファイル名 by name");
  const { lines, caret } = drawn(panel, SIZE);
  expect([lines.at(-1), caret?.row, caret?.column]).toEqual([
    "why not plan_alice_1? ファイル名 by name",
    lines.length - 1,
    40,
  ]);
  await after(KEYS.enter);
  expect(seen.asked).toEqual([["review", "plan_alice_1", { approve: false, feedback: "ファイル名 by name" }]]);
});

test("a message goes to the chosen teammate, also with letters that are keys elsewhere, and what is pasted", async () => {
  const { panel, after, seen } = await view();
  await after(...down(3), "m");
  type(panel, "a r M x q");
  panel.key({ kind: "paste", text: " and\nmore" });
  const shown = await after(KEYS.enter);
  expect([seen.asked, shown.includes("Sent.")]).toEqual([[["send", "carol", "a r M x q and more"]], true]);
});

test("a worktree's diff is shown in place, coloured and safe; from there it is merged after one more question", async () => {
  const { panel, after, seen } = await view(TEAM, {}, styleFor({ isTTY: true }, {}));
  await after(...down(5), "d");
  expect(drawn(panel, SIZE).lines.slice(1, 5)).toEqual([
    "diff --git a/a b/a",
    "\u001b[36m@@ -1 +1 @@\u001b[39m",
    "\u001b[31m-one\u001b[39m",
    "\u001b[32m+    two\\u0007\u001b[39m",
  ]);
  const asked = await after("M");
  expect(asked.replace(/\n +/g, " ")).toContain(
    "commit 1 uncommitted on holdfast/api, then merge holdfast/api into the project's tree?",
  );
  await after("n");
  expect(seen.asked).toEqual([["worktree", "api"]]);
  await after(KEYS.escape);
  const merged = await after("M", "y");
  expect([seen.asked.at(-1), merged.includes("Merged 2 commits")]).toEqual([["merge", "api", { commit: true }], true]);
});

test("a worktree is dropped only after one more question, and why it stays is shown whole", async () => {
  const { after, seen } = await view();
  expect(await after(...down(5), "x", KEYS.enter)).not.toContain("stays:");
  expect(seen.asked).toEqual([]);
  const shown = await after("x", "y");
  expect(shown.replace(/\n\s*/g, " ")).toContain(
    "the worktree api stays: 1 unstaged (1 change); 2 commits in no other branch and no remote",
  );
  expect(await after(KEYS.up)).not.toContain("stays:");
});

test("Enter on a teammate shows what it said last, and a search there takes every letter", async () => {
  const { after, seen } = await view();
  expect(await after(...down(3), KEYS.enter)).toContain("carol · reader\nAll read.\n\\u202eDone.");
  expect(await after("/", "m", "a")).toContain("/ma");
  await after(KEYS.escape, KEYS.escape, KEYS.escape);
  expect([seen.left, seen.asked]).toEqual([1, []]);
});

test("what fails is told, and the view goes on", async () => {
  const { after } = await view(TEAM, {
    review: async () => {
      throw new Error("the disk is full");
    },
  });
  expect(await after(KEYS.down, KEYS.enter, "a")).toContain("the disk is full");
  expect(await after(KEYS.down)).toContain("▸ bob");
});

test("who is chosen stays chosen while others come and go; Ctrl-C is left to others", async () => {
  const { panel, team, after } = await view();
  await after(KEYS.down);
  team.now = { ...TEAM, members: [TEAM.members[3]!, ...TEAM.members.slice(0, 3)] };
  await panel.refresh();
  expect(textOf(panel, SIZE)).toContain("▸ alice");
  team.now = { ...TEAM, members: TEAM.members.slice(0, 1) };
  await panel.refresh();
  expect([textOf(panel, SIZE).includes("▸ lead"), press(panel, KEYS.ctrlC)]).toEqual([true, [false]]);
});

test.each([20, 40, 60, 120])(
  "every line fits %i columns, with Japanese names and texts, in low windows too",
  async (columns) => {
    const japanese: TeamNow = {
      members: Array.from({ length: 30 }, (_, i) => ({
        ...{
          name: `あかり${i}`,
          role: "設計担当".repeat(9),
          doing: "作業中です",
          call: `bash ${"試験".repeat(60)}\n\u001b[2J`,
        },
        ...{
          task: { id: `task_${i}`, subject: "日本語の題".repeat(9) },
          waitsFor: { kind: "nothing" as const },
          since: 0,
        },
      })),
      plans: [{ id: "plan_あかり_1", by: "あかり1", at: 0 }],
      worktrees: TEAM.worktrees,
    };
    const says = async () => "理由".repeat(200);
    const { panel, after } = await view(
      japanese,
      { plan: says, merge: says, send: says },
      styleFor({ isTTY: true }, {}),
    );
    const keys = [
      "",
      ...down(12),
      "m",
      "あ".repeat(90),
      KEYS.enter,
      ...down(20),
      "M",
      "y",
      KEYS.up,
      KEYS.up,
      KEYS.enter,
    ];
    for (const key of keys) {
      if (key !== "") await after(key);
      for (const rows of [12, 24]) drawn(panel, { columns, rows });
    }
  },
);
