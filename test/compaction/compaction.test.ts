import { expect, test } from "vitest";
import { createCodec } from "../../src/ledger/events.ts";
import { compactionEvents } from "../../src/mechanisms/compaction/events.ts";
import { compaction } from "../../src/mechanisms/compaction/index.ts";
import type { Item, Model } from "../../src/models/model.ts";
import { readFile, result, user } from "../models/asking.ts";
import { createFakeTurn } from "../recovery/fake-turn.ts";

const call = (id: string): Item => ({
  kind: "reply",
  model: "m",
  parts: [{ type: "call", id, name: "read_file", input: {} }],
});
const long = (id: string) => result(id, "x".repeat(12_345));
const textFor = (id: string) =>
  `[${id} read_file: 12 kB, left out to make room; to see it again: read_file path call:${id}]`;
const line = (id: string) => result(id, textFor(id));
const elided = (...ids: string[]) => ({
  type: "context.elided",
  data: { masks: ids.map((call) => ({ call, line: textFor(call) })), bytes: 12_345 * ids.length },
});
const noModel = {} as Model;

function setUp(past: { type: string; data: unknown }[] = []) {
  const mechanism = compaction();
  const turn = createFakeTurn(mechanism, noModel, past);
  const view = (items: Item[], overflow = false, tools = [readFile]) =>
    mechanism.seams!.context!(items, turn, { overflow, tools });
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
  expect(turn.events).toEqual([elided("c1")]);
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

test("it is done as often as a turn overflows, each time with what came since; what was said for a result stays", async () => {
  const { view, turn } = setUp();
  const items = [user("go")];
  for (const id of ["c1", "c2", "c3", "c4", "c5"]) {
    items.push(call(id), long(id));
    await view(items, true);
  }
  expect(turn.events).toEqual(["c1", "c2", "c3", "c4"].map((id) => elided(id)));
  expect(await view(items)).toEqual([
    user("go"),
    ...["c1", "c2", "c3", "c4"].flatMap((id) => [call(id), line(id)]),
    call("c5"),
    long("c5"),
  ]);
});

test("the line says how the call ended, and is true for an agent that cannot open results", async () => {
  const { view } = setUp();
  const command = (more: object) => ({ ...long("c1"), name: "bash", ...more }) as Item;
  const said = async (item: Item, tools?: [typeof readFile]) => {
    const shown = await setUp().view([user("go"), call("c1"), item, call("c2")], true, tools);
    return (shown[2] as Extract<Item, { kind: "result" }>).content;
  };
  const again = "left out to make room; to see it again: read_file path call:c1]";
  expect([
    await said(command({ exitCode: 0 })),
    await said(command({ isError: true, exitCode: 127 })),
    await said(command({ isError: true })),
    await said(command({ exitCode: 0 }), [{ ...readFile, name: "bash" }]),
  ]).toEqual(
    [
      `[c1 bash: exit code 0, 12 kB, ${again}`,
      `[c1 bash: exit code 127, 12 kB, ${again}`,
      `[c1 bash: failed, 12 kB, ${again}`,
      "[c1 bash: exit code 0, 12 kB, left out to make room; it is kept, but no tool of yours shows it]",
    ].map((text) => [{ type: "text", text }]),
  );
  expect(await view([user("go"), call("c1"), result("c1", "x".repeat(150)), call("c2")], true)).toEqual([
    user("go"),
    call("c1"),
    result("c1", "x".repeat(150)), // no line would be much shorter
    call("c2"),
  ]);
});

test("what an older version left out by call is shown as that version put it", async () => {
  const stored = { id: "e", seq: 1, at: 1, actor: "lead", touches: [], type: "context.elided", v: 2 };
  const data = { calls: ["c1"], results: 1, bytes: 12_345 };
  const decoded = createCodec([{ events: compactionEvents }]).decode({ ...stored, data });
  const { view } = setUp([{ type: "context.elided", data: decoded.event.data }]);
  const items = [user("go"), call("c1"), long("c1"), call("c2"), long("c2")];
  const before = result("c1", "[result elided: read_file, 12 kB; call it again if it is needed]");
  expect(await view(items)).toEqual([user("go"), call("c1"), before, call("c2"), long("c2")]);
});

test("results that hold for all that follows go last, and only when nothing else is left", async () => {
  const { turn } = setUp();
  const mechanism = compaction();
  const items = [user("go"), call("c1"), long("c1"), call("c2"), { ...long("c2"), name: "load_skill" }, call("c3")];
  const view = () =>
    mechanism.seams!.context!(items, turn, { overflow: true, tools: [readFile], keeps: ["load_skill"] });
  expect((await view())[4]).toBe(items[4]);
  expect(turn.events).toEqual([elided("c1")]);
  await view();
  expect(turn.events.length).toBe(2);
});
