// Turns by context: a big team does not keep the others waiting.
import { expect, test } from "vitest";
import { createFairSlots } from "../../src/loop/fair-slots.ts";

test("where there is room everybody enters, and what is left is free again", () => {
  const slots = createFairSlots(2);
  expect([slots.enter(), slots.enter(), slots.enter(), slots.taken]).toEqual([true, true, false, 2]);
  slots.leave();
  expect([slots.hasRoom, slots.enter(), slots.hasRoom]).toEqual([true, true, false]);
});

test("places go round the contexts, one each, however many of one context wait", () => {
  const slots = createFairSlots(1);
  const order: string[] = [];
  slots.enter();
  const wait = (context: string, name: string) => slots.queue(context, () => order.push(name));
  for (const name of ["a1", "a2", "a3"]) wait("a", name);
  wait("b", "b1");
  wait("c", "c1");
  for (let i = 0; i < 5; i++) slots.leave();
  expect(order).toEqual(["a1", "b1", "c1", "a2", "a3"]);
  expect([slots.taken, slots.hasRoom]).toEqual([1, false]);
  slots.leave();
  expect(slots.taken).toBe(0);
});

test("who has withdrawn gets no place, and nobody waits for it", () => {
  const slots = createFairSlots(1);
  const order: string[] = [];
  slots.enter();
  const withdraw = slots.queue("a", () => order.push("a"));
  slots.queue("b", () => order.push("b"));
  withdraw();
  slots.leave();
  expect(order).toEqual(["b"]);
});
