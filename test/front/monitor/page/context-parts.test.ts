// The parts of a context's view that need no browser: what is asked when, what came in live, where a timeline's stretches are.
import { expect, test } from "vitest";
import type { EventRow, Span, Timeline } from "../../../../src/front/monitor/context-api.ts";
import { createLatest } from "../../../../src/front/monitor/page/context/latest.ts";
import { liveFrom, withLive } from "../../../../src/front/monitor/page/context/live.ts";
import {
  filterQuery,
  isPlain,
  kindsOf,
  NO_FILTER,
  withKind,
} from "../../../../src/front/monitor/page/context/row-filter.ts";
import { boxOf, laneTop, spansIn, thingAt } from "../../../../src/front/monitor/page/context/timeline-lanes.ts";
import { moved, ticks, within, zoomed } from "../../../../src/front/monitor/page/context/timeline-range.ts";
import { addressOf, routeOf } from "../../../../src/front/monitor/page/router.ts";
import { createRowWindows } from "../../../../src/front/monitor/page/row-windows.ts";

const row = (seq: number, kind: EventRow["kind"]): EventRow => ({
  seq,
  at: seq,
  agent: "lead",
  type: "x",
  kind,
  title: "",
});
const later = () => new Promise((resolve) => setTimeout(resolve, 0));

test("of questions that come quicker than answers one is under way and only the newest follows", async () => {
  const asked: number[] = [];
  const told: number[] = [];
  const answers: (() => void)[] = [];
  const latest = createLatest<number, number>({
    fetch: (question) => new Promise((resolve) => answers.push(() => resolve(question * 10))),
    onAsk: (question) => asked.push(question),
    onAnswer: (answer) => told.push(answer),
    onProblem: () => undefined,
  });
  for (const question of [1, 2, 3, 4]) latest.ask(question);
  expect(asked).toEqual([1]);
  answers[0]!();
  await later();
  expect({ asked, told }).toEqual({ asked: [1, 4], told: [10] });
  latest.end();
  answers[1]!();
  await later();
  expect(told).toEqual([10]);
});

test("a question that fails is told, and the one that waits is asked", async () => {
  const problems: number[] = [];
  const told: number[] = [];
  const latest = createLatest<number, number>({
    fetch: async (question) => {
      if (question === 1) throw new Error("not there");
      return question;
    },
    onAnswer: (answer) => told.push(answer),
    onProblem: (_, question) => problems.push(question),
  });
  latest.ask(1);
  latest.ask(2);
  await later();
  expect({ problems, told }).toEqual({ problems: [1], told: [2] });
});

test("rows that come in move the head, count once, and say which kinds are new", () => {
  const first = withLive(liveFrom(10), { rows: [row(11, "reply"), row(12, "data")], head: 12 });
  const recent = [
    { seq: 11, kind: "reply" },
    { seq: 12, kind: "data" },
  ];
  expect(first).toEqual({ head: 12, last: { reply: 11, data: 12 }, recent });
  expect(withLive(first, { rows: [row(12, "data")], head: 12 })).toBe(first);
  const gap = withLive(first, { rows: [row(900, "note")], head: 900 });
  expect([gap.head, gap.last.plan, gap.last.note]).toEqual([900, 900, 900]);
  expect(gap.recent).toEqual([{ seq: 900, kind: "note" }]);
});

test("the same filter is the same question, whatever the order it was made in", () => {
  const one = withKind(withKind(NO_FILTER, "reply"), "data");
  const other = withKind(withKind(NO_FILTER, "data"), "reply");
  expect(filterQuery({ ...one, agent: "花子", text: "a&b" })).toBe(
    filterQuery({ ...other, agent: "花子", text: "a&b" }),
  );
  expect(filterQuery(one)).toBe("&kinds=data%2Creply");
  const all = withKind(NO_FILTER, "other");
  expect([isPlain(NO_FILTER), isPlain(one), isPlain(all), isPlain(withKind(withKind(all, "plan"), "plan"))]).toEqual([
    ...[false, false, true, true],
  ]);
  // Rows that say little are left out until they are asked for, beside the others.
  expect([NO_FILTER, all, one].map((filter) => kindsOf(filter)?.includes("other"))).toEqual([false, undefined, false]);
  expect(kindsOf(withKind(one, "other"))).toEqual(["reply", "data", "other"]);
});

test("a round of an agent stands in the address, with any name", () => {
  const route = {
    kind: "context",
    project: "p",
    context: "c",
    view: "requests",
    round: { agent: "花子 &", n: 3 },
  } as const;
  expect(routeOf(addressOf(route))).toEqual(route);
  expect(routeOf("#/p/p/c/c?view=requests&agent=lead&n=x")).toEqual({
    ...{ kind: "context", project: "p", context: "c", view: "requests" },
  });
});

test("a timeline is zoomed around the pointer and never leaves what there is", () => {
  const all = { from: 0, to: 100_000 };
  expect(zoomed(all, { factor: 0.5, at: 25_000, all })).toEqual({ from: 12_500, to: 62_500 });
  expect(zoomed({ from: 10, to: 300 }, { factor: 0.001, at: 100, all })).toEqual(
    expect.objectContaining({ to: expect.any(Number) }),
  );
  expect(zoomed({ from: 40_000, to: 60_000 }, { factor: 100, at: 50_000, all })).toEqual(all);
  expect(moved({ from: 90_000, to: 95_000 }, 50_000, all)).toEqual({ from: 95_000, to: 100_000 });
  expect(moved({ from: 5_000, to: 10_000 }, -50_000, all)).toEqual({ from: 0, to: 5_000 });
  expect(within({ from: 5, to: 6 }, { from: 5, to: 6 })).toEqual({ from: 5, to: 205 });
});

test("ticks are few, round and in order", () => {
  const found = ticks({ from: Date.parse("2026-11-18T10:00:03Z"), to: Date.parse("2026-11-18T11:00:03Z") }, 8);
  expect(found.length).toBeLessThanOrEqual(8);
  expect(found.every(({ at }) => at % 600_000 === 0)).toBe(true);
  expect(found.every(({ says }) => /^\d\d:\d0$/.test(says))).toBe(true);
});

const span = (more: Partial<Span>): Span => ({
  agent: "lead",
  kind: "tool",
  from: 0,
  to: 500,
  seq: 1,
  title: "",
  ...more,
});

test("what is pointed at is the innermost stretch there, a turn only where nothing else is", () => {
  const turn = span({ kind: "turn", to: 1000, seq: 1 });
  const tool = span({ from: 100, to: 200, seq: 2 });
  const open = span({ kind: "job", from: 600, seq: 3 });
  delete open.to;
  const mark = { at: 300, seq: 4, kind: "checkpoint" as const, title: "one" };
  const timeline: Timeline = { from: 0, to: 1000, agents: ["lead"], spans: [turn, tool, open], marks: [mark] };
  const layout = { left: 0, width: 1000, range: { from: 0, to: 1000 }, agents: ["lead"], now: 900 };
  const top = laneTop(0);
  const at = (x: number, y: number) => thingAt({ x, y }, timeline, layout);
  expect([at(150, top + 25), at(500, top + 25), at(850, top + 42), at(301, 30), at(500, 30)]).toEqual([
    { kind: "span", span: tool },
    { kind: "span", span: turn },
    { kind: "span", span: open },
    { kind: "mark", mark },
    undefined,
  ]);
  expect(boxOf(span({ from: 2000, to: 3000 }), layout)).toBeUndefined();
  expect(boxOf(span({ agent: "nobody" }), layout)).toBeUndefined();
  expect(spansIn(timeline, { from: 550, to: 650 }, 900)).toEqual([turn, open]);
});

test("rows of another moment stay until those of the new one are there, and an answer is not cancelled by the next row", async () => {
  let changes = 0;
  const windows = createRowWindows<string>(() => changes++);
  const answers: ((rows: string[]) => void)[] = [];
  const fetchWindow = () => new Promise<string[]>((resolve) => answers.push(resolve));
  const want = (total: number, edition: string) => windows.want({ from: 0, to: total, total, edition, fetchWindow });
  want(1, "now");
  want(2, "now");
  expect(answers.length).toBe(1);
  answers[0]!(["a"]);
  await later();
  expect([changes, windows.at(0), windows.at(1)]).toEqual([1, "a", undefined]);
  want(2, "now");
  answers[1]!(["a", "b"]);
  await later();
  want(2, "then");
  expect([windows.at(0), answers.length]).toEqual(["a", 3]);
  answers[2]!(["A", "B"]);
  await later();
  want(2, "then");
  expect([windows.at(0), windows.at(1), answers.length]).toEqual(["A", "B", 3]);
});
