// What the tabs of a context are made of, without a browser: lines of diffs, the tree of checkpoints, boxes of costs, lists for charts.
import { expect, test } from "vitest";
import type { CheckpointRow, CostNode, DataRow, UsageSeries } from "../../../../src/front/monitor/context-api.ts";
import { growing, spread, windowLines } from "../../../../src/front/monitor/page/context/views/chart-data.ts";
import {
  eventTicks,
  nearest,
  placeUpTo,
  rangeOf,
  roundMarks,
} from "../../../../src/front/monitor/page/context/views/chart-scale.ts";
import { placeCheckpoints } from "../../../../src/front/monitor/page/context/views/checkpoint-tree.ts";
import { sortedData } from "../../../../src/front/monitor/page/context/views/data-order.ts";
import { comparedLines, patchLines } from "../../../../src/front/monitor/page/context/views/diff-lines.ts";
import { boxBeside, flameBoxes } from "../../../../src/front/monitor/page/context/views/flame.ts";

test("a patch becomes lines with their signs and numbers; names of files are left out, and a removed line that begins with dashes is not one", () => {
  const patch = "--- a.sql\n+++ a.sql\n@@ -3,3 +3,3 @@\n one\n--- a note\n+-- another\n two\n";
  expect(patchLines(patch)).toEqual([
    { sign: "@", text: "@@ -3,3 +3,3 @@" },
    { sign: " ", text: "one", before: 3, after: 3 },
    { sign: "-", text: "-- a note", before: 4 },
    { sign: "+", text: "-- another", after: 4 },
    { sign: " ", text: "two", before: 5, after: 5 },
  ]);
});

test("what is no patch is shown as it is", () => {
  expect(patchLines("a binary file")).toEqual([{ sign: "@", text: "a binary file" }]);
});

test("two texts are compared line by line; what is the same far from it is counted", () => {
  const before = Array.from({ length: 12 }, (_, i) => `行 ${i}`);
  const after = before.toSpliced(6, 1, "another", "and more");
  expect(comparedLines(before.join("\n"), after.join("\n"))).toEqual([
    { sign: "@", text: "3 lines are the same" },
    { sign: " ", text: "行 3", before: 4, after: 4 },
    { sign: " ", text: "行 4", before: 5, after: 5 },
    { sign: " ", text: "行 5", before: 6, after: 6 },
    { sign: "-", text: "行 6", before: 7 },
    { sign: "+", text: "another", after: 7 },
    { sign: "+", text: "and more", after: 8 },
    { sign: " ", text: "行 7", before: 8, after: 9 },
    { sign: " ", text: "行 8", before: 9, after: 10 },
    { sign: " ", text: "行 9", before: 10, after: 11 },
    { sign: "@", text: "2 lines are the same" },
  ]);
  expect(comparedLines("a", "a")).toEqual([]);
});

test("texts of which everything differs are one block, however long they are", () => {
  const long = (word: string) => Array.from({ length: 3_000 }, (_, i) => `${word} ${i}`).join("\n");
  const lines = comparedLines(long("a"), long("b"));
  expect(lines.slice(0, 3_000).every(({ sign }) => sign === "-")).toBe(true);
  expect(lines.slice(3_000).every(({ sign }) => sign === "+")).toBe(true);
});

const checkpoint = (seq: number, more: Partial<CheckpointRow>): CheckpointRow => ({
  ...{ seq, at: seq, name: `c${seq}`, auto: true, current: true, forks: [] },
  ...more,
});

test("what a restore left stands a level in, what it left in turn one more, and the timeline of now at the edge", () => {
  const rows = [
    checkpoint(1, {}),
    checkpoint(2, { parent: 1, current: false }),
    checkpoint(3, { parent: 2, current: false }),
    checkpoint(4, { parent: 2, current: false }),
    checkpoint(5, { parent: 1 }),
    checkpoint(6, { parent: 5 }),
  ];
  const [first, second] = rows;
  expect(placeCheckpoints(rows)).toEqual([
    { row: rows[0], level: 0 },
    { row: rows[1], level: 1, branchOf: first },
    { row: rows[2], level: 2, branchOf: second },
    { row: rows[3], level: 1 },
    { row: rows[4], level: 0 },
    { row: rows[5], level: 0 },
  ]);
});

test("a checkpoint whose parent is not listed any more begins at the edge", () => {
  const rows = [checkpoint(7, { parent: 3 }), checkpoint(8, { parent: 7 })];
  expect(placeCheckpoints(rows).map(({ level }) => level)).toEqual([0, 0]);
});

const node = (name: string, usd: number, children: CostNode[] = [], kind: CostNode["kind"] = "round"): CostNode => ({
  ...{ name, kind, seq: 1, usd, ms: usd * 10, children },
  tokens: { input: usd * 100, output: usd, cacheRead: 0, cacheWrite: 0 },
});

test("a flame graph has a box for each that can be seen, as wide as its part; a zoomed one takes the whole width under what it belongs to", () => {
  const tree = node(
    "all",
    4,
    [node("a", 3, [node("r1", 1), node("r2", 2)], "agent"), node("b", 1, [], "agent")],
    "context",
  );
  const shown = (zoom: number[]) =>
    flameBoxes(tree, { measure: "usd", zoom }).map(({ node: { name }, depth, left, width }) => [
      name,
      depth,
      left,
      width,
    ]);
  expect(shown([])).toEqual([
    ["all", 0, 0, 1],
    ["a", 1, 0, 0.75],
    ["r1", 2, 0, 0.25],
    ["r2", 2, 0.25, 0.5],
    ["b", 1, 0.75, 0.25],
  ]);
  expect(shown([0])).toEqual([
    ["all", 0, 0, 1],
    ["a", 1, 0, 1],
    ["r1", 2, 0, 1 / 3],
    ["r2", 2, 1 / 3, 2 / 3],
  ]);
});

test("thousands of rounds are never more than 280 boxes; joined ones count what is in them", () => {
  const turns = Array.from({ length: 300 }, (_, i) =>
    node(
      `turn ${i}`,
      20,
      Array.from({ length: 10 }, (_, k) => node(`r${i}.${k}`, 2)),
      "turn",
    ),
  );
  const tree = node("all", 6_000, [node("lead", 6_000, turns, "agent")], "context");
  const boxes = flameBoxes(tree, { measure: "tokens", zoom: [] });
  expect(boxes.length).toBeLessThanOrEqual(280);
  const level = boxes.filter(({ depth }) => depth === 2);
  expect(level.reduce((sum, { count }) => sum + count, 0)).toBe(300);
  expect(level.reduce((sum, { width }) => sum + width, 0)).toBeCloseTo(1);
  expect(flameBoxes(node("all", 0, [node("a", 0)]), { measure: "usd", zoom: [] })).toHaveLength(1);
});

test("arrows lead to neighbours, to what a box is part of and into it", () => {
  const tree = node("all", 4, [node("a", 3, [node("r1", 1), node("r2", 2)]), node("b", 1, [node("r3", 1)])]);
  const boxes = flameBoxes(tree, { measure: "usd", zoom: [] });
  const named = (name: string) => boxes.find((box) => box.node.name === name)!;
  const from = (name: string, key: string) => boxBeside(boxes, named(name), key)?.node.name;
  expect([
    ...[from("all", "ArrowDown"), from("a", "ArrowRight"), from("b", "ArrowDown"), from("r3", "ArrowLeft")],
    ...[from("r2", "ArrowUp"), from("r3", "ArrowUp"), from("all", "ArrowUp"), from("a", "x")],
  ]).toEqual(["a", "b", "r3", "r2", "a", "b", undefined, undefined]);
});

const usage = (by: number[], agents: string[]): UsageSeries => {
  const list = by.map((_, i) => i + 1);
  return {
    ...{ at: list, seq: list, by, agents, tokensIn: list, tokensOut: list, cached: list, usd: list },
    ...{ window: list, events: list, dataBytes: list },
  };
};

test("what the model saw is a line for each agent with gaps where others asked; of many agents those that asked most", () => {
  expect(windowLines(usage([0, 1, 0], ["lead", "花子"]))).toEqual({
    lines: [
      { label: "lead", values: [1, null, 3] },
      { label: "花子", values: [null, 2, null] },
    ],
    left: 0,
  });
  const many = Array.from({ length: 9 }, (_, i) => i);
  const { lines, left } = windowLines(
    usage(
      [...many, 8, 7],
      many.map((n) => `a${n}`),
    ),
  );
  expect(lines.map(({ label }) => label)).toEqual(["a0", "a1", "a2", "a3", "a7", "a8"]);
  expect(left).toBe(3);
});

test("time on an axis only grows, whatever clocks said; a table has the first and the last of many", () => {
  expect(growing([5, 4, 4, 9])).toEqual([5, 6, 7, 9]);
  expect(spread(3, 5)).toEqual([0, 1, 2]);
  expect(spread(101, 5)).toEqual([0, 25, 50, 75, 100]);
});

test("marks of a chart are round numbers, never closer than what is written differently, and none where nothing is", () => {
  const upTo = (to: number, least = 1) => roundMarks({ from: 0, to }, { most: 4, least });
  expect(upTo(19_100_000)).toEqual([0, 5_000_000, 10_000_000, 15_000_000]);
  expect(upTo(200_000)).toEqual([0, 50_000, 100_000, 150_000, 200_000]);
  expect(upTo(3)).toEqual([0, 1, 2, 3]);
  expect(upTo(0)).toEqual([0]);
  expect(upTo(0.15, 0.0001).map((usd) => usd.toFixed(2))).toEqual(["0.00", "0.05", "0.10", "0.15"]);
  expect(upTo(0.0002, 0.0001)).toEqual([0, 0.0001, 0.0002]);
  expect(eventTicks({ from: 7, to: 1_700 }, 4)).toEqual([
    { at: 500, says: "500" },
    { at: 1_000, says: "1,000" },
    { at: 1_500, says: "1,500" },
  ]);
});

test("a chart points at the nearest point; where an agent did not ask, what it saw last holds", () => {
  expect([-5, 10, 14, 15, 16, 19, 90].map((x) => nearest([10, 20, 40], x))).toEqual([0, 0, 0, 0, 1, 1, 2]);
  expect(nearest([10], 3)).toBe(0);
  expect([0, 1, 2, 3, 9].map((place) => placeUpTo([null, 4, null, 6], place))).toEqual([-1, 1, 1, 3, 3]);
  expect(rangeOf([10, 20, 40])).toEqual({ from: 10, to: 40 });
  expect(rangeOf([10])).toEqual({ from: 9, to: 11 });
});

test("shared data is put in order by any column, numbers in names as numbers, and filtered by key, value or author", () => {
  const row = (key: string, bytes: number, by = "lead"): DataRow => ({
    ...{ key, bytes, by, version: 1, at: bytes, preview: `"${key}"` },
  });
  const rows = [row("part 10", 5), row("part 2", 7, "花子"), row("計画", 7)];
  const keys = (found: readonly DataRow[]) => found.map(({ key }) => key);
  expect(keys(sortedData(rows, { by: "key", isDown: false }, ""))).toEqual(["part 2", "part 10", "計画"]);
  expect(keys(sortedData(rows, { by: "bytes", isDown: true }, ""))).toEqual(["part 2", "計画", "part 10"]);
  expect(keys(sortedData(rows, { by: "key", isDown: false }, "花子"))).toEqual(["part 2"]);
});
