// What waits for a person: how much of it is shown, and when a card may be answered.
import { expect, test } from "vitest";
import type { Need } from "../../../../src/front/monitor/api.ts";
import { away } from "../../../../src/front/monitor/page/format.ts";
import { type Card, cardsNow } from "../../../../src/front/monitor/page/home/cards.ts";
import { isSettled, placesNow, SETTLE_MS } from "../../../../src/front/monitor/page/home/places.ts";
import { shownNeeds } from "../../../../src/front/monitor/page/home/shown-needs.ts";

const facts = (id: string) => ({ project: "p", context: "c", id, at: 0, agent: "lead", title: id });
const plan = (n: number): Need => ({ ...facts(`plan ${n}`), kind: "plan", text: "" });
const failure = (n: number): Need => ({
  ...{ ...facts(`failure ${n}`), kind: "failure", status: "failed", text: "", command: "" },
});

test("everything that can be answered is shown, and the newest of what stopped", () => {
  const needs = [0, 1, 2, 3, 4].flatMap((n) => [plan(n), failure(n)]);
  expect(shownNeeds(needs).map(({ id }) => id)).toEqual([
    ...["plan 0", "failure 0", "plan 1", "failure 1", "plan 2", "failure 2", "plan 3", "plan 4"],
  ]);
  expect(shownNeeds(Array.from({ length: 90 }, (_, n) => plan(n)))).toHaveLength(30);
});

test("a card that has just appeared, or just moved where another was, is not answered yet", () => {
  const first = placesNow(
    new Map(),
    [
      ["a", "0"],
      ["b", "100"],
    ],
    1_000,
  );
  const later = 1_000 + SETTLE_MS;
  expect([isSettled(first.get("a"), later - 1), isSettled(first.get("a"), later)]).toEqual([false, true]);
  // "a" is answered and gone: "b" comes to its place, and "c" appears below.
  const second = placesNow(
    first,
    [
      ["b", "0"],
      ["c", "100"],
    ],
    later,
  );
  expect(["a", "b", "c"].map((key) => isSettled(second.get(key), later + 1))).toEqual([false, false, false]);
  const third = placesNow(
    second,
    [
      ["b", "0"],
      ["c", "120"],
    ],
    later + 200,
  );
  expect(["b", "c"].map((key) => isSettled(third.get(key), later + SETTLE_MS))).toEqual([true, false]);
});

test("what is answered keeps its place behind its neighbour, and others are added around it", () => {
  const over = { isOwn: false, says: "over" };
  const first = cardsNow([], [plan(0), plan(1), plan(2)], () => over);
  const second = cardsNow(first, [plan(9), plan(0), plan(2)], () => over);
  const seen = (cards: readonly Card[]) => cards.map(({ need, over: how }) => `${need.id}${how ? " over" : ""}`);
  expect(seen(second)).toEqual(["plan 9", "plan 0", "plan 1 over", "plan 2"]);
  expect(seen(cardsNow(second, [plan(2)], () => over))).toEqual([
    ...["plan 9 over", "plan 0 over", "plan 1 over", "plan 2"],
  ]);
});

test("what has just been made was made now, also by a clock that is some seconds old", () => {
  expect([1_001_000, 999_000, 1_090_000, 880_000].map((at) => away(at, 1_000_000))).toEqual([
    ...["now", "now", "in 2 min", "2 min ago"],
  ]);
});
