import { expect, test } from "vitest";
import { compaction } from "../../src/mechanisms/compaction/index.ts";
import type { Item, Model } from "../../src/models/model.ts";
import { result, user } from "../models/asking.ts";
import { createFakeTurn } from "./fake-turn.ts";

const call = (id: string): Item => ({
  kind: "reply",
  model: "m",
  parts: [{ type: "call", id, name: "read_file", input: {} }],
});
const long = (id: string) => result(id, "x".repeat(12_345));
const line = (id: string) => result(id, "[result elided: read_file, 12 kB; call it again if it is needed]");
const noModel = {} as Model;

function setUp(past: { type: string; data: unknown }[] = []) {
  const mechanism = compaction();
  const turn = createFakeTurn(mechanism, noModel, past);
  const view = (items: Item[], overflow = false) => mechanism.seams!.context!(items, turn, { overflow });
  return { turn, view };
}

test("without an overflow the model sees everything, as the same list", async () => {
  const { view } = setUp();
  const items = [user("go"), call("c1"), long("c1")];
  expect(await view(items)).toBe(items);
});

test("on overflow old results become one line; those that the model has not seen stay", async () => {
  const { view, turn } = setUp();
  const items = [user("go"), call("c1"), long("c1"), call("c2"), result("c2", "short"), call("c3"), long("c3")];
  const smaller = await view(items, true);
  expect(smaller).toEqual([
    user("go"),
    call("c1"),
    line("c1"),
    call("c2"),
    result("c2", "short"),
    call("c3"),
    long("c3"),
  ]);
  expect(turn.events).toEqual([{ type: "context.elided", data: { calls: ["c1"], results: 1, bytes: 12_345 } }]);
});

test("the view stays the same in later rounds and over a resume, item by item", async () => {
  const { view, turn } = setUp();
  const items = [user("go"), call("c1"), long("c1"), call("c2"), long("c2")];
  const first = await view(items, true);
  items.push(call("c3"), long("c3"));
  const later = await view(items);
  expect(later.slice(0, 5).map((item, i) => item === first[i])).toEqual(Array(5).fill(true));
  const resumed = await setUp(turn.events).view(items);
  expect(resumed).toEqual(later);
});

test("where nothing can be elided nothing is recorded, and the list is unchanged", async () => {
  const { view, turn } = setUp();
  const items = [user("go"), call("c1"), long("c1")];
  expect(await view(items, true)).toBe(items);
  expect(turn.events).toEqual([]);
});

test("it is tried at most twice a turn", async () => {
  const { view, turn } = setUp();
  const items = [user("go")];
  for (const id of ["c1", "c2", "c3", "c4"]) {
    items.push(call(id), long(id));
    await view(items, true);
  }
  expect(turn.events.map((e) => e.data)).toEqual([
    { calls: ["c1"], results: 1, bytes: 12_345 },
    { calls: ["c2"], results: 1, bytes: 12_345 },
  ]);
  turn.happened("turn.started");
  await view(items, true);
  expect(turn.events.at(-1)?.data).toEqual({ calls: ["c3"], results: 1, bytes: 12_345 });
});
