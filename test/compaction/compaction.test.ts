import { expect, test } from "vitest";
import { createCodec } from "../../src/ledger/events.ts";
import type { ViewOptions } from "../../src/loop/seams.ts";
import { compactionEvents } from "../../src/mechanisms/compaction/events.ts";
import { compaction } from "../../src/mechanisms/compaction/index.ts";
import { type Item, type Model, noUsage, type ToolSpec } from "../../src/models/model.ts";
import { readFile, result, user } from "../models/asking.ts";
import { createFakeTurn } from "../recovery/fake-turn.ts";

const call = (id: string, n = Number(id.slice(1)), path = `${id}.txt`): Item => ({
  kind: "reply",
  model: "m",
  n,
  parts: [{ type: "call", id, name: "read_file", input: { path } }],
});
const long = (id: string) => result(id, "x".repeat(12_345));
const textFor = (id: string) => `[${id} read_file "${id}.txt": 12 kB, left out to make room; recall ${id}]`;
const line = (id: string) => result(id, textFor(id));
const masksIn = ({ type, data }: { type: string; data: unknown }) =>
  type === "context.compacted" ? (data as { masks: { call: string }[] }).masks.map((mask) => mask.call) : type;

const limits = { contextTokens: 20_000, outputTokens: 1_000, images: false, documents: false };
const model = { id: "m", limits } as Model;

function setUp(past: { type: string; data: unknown }[] = [], more: Partial<ViewOptions> = {}) {
  const mechanism = compaction();
  const turn = createFakeTurn(mechanism, model, past);
  const view = (items: Item[], overflow = false, tools: ToolSpec[] = [readFile]) =>
    mechanism.seams!.context!(items, turn, {
      ...{ overflow, tools, system: ["You are an agent."], keeps: () => [], offers: () => true, carry: async () => [] },
      ask: () => Promise.reject(new Error("nothing is asked here")),
      ...more,
    });
  return { turn, view };
}

const replied = (input: number) => ({
  type: "reply.received",
  data: { model: "m", parts: [], finish: "stop", usage: { ...noUsage(), input } },
});

test("where there is room the model sees everything, as the same list", async () => {
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
  expect(turn.events).toEqual([
    {
      type: "context.compacted",
      data: {
        cause: "overflow",
        model: "m",
        masks: [{ call: "c1", line: textFor("c1") }],
        snips: [],
        tokens: { before: expect.any(Number), after: expect.any(Number) },
      },
    },
  ]);
});

test("the view stays the same in later rounds and over a resume, item by item", async () => {
  const { view, turn } = setUp();
  const items = [user("go"), call("c1"), long("c1"), call("c2"), long("c2")];
  const first = await view(items, true);
  turn.happened("reply.received", replied(1_000).data);
  items.push(call("c3"), long("c3"));
  const later = await view(items);
  expect(later.slice(0, 5).map((item, i) => item === first[i])).toEqual(Array(5).fill(true));
  const resumed = await setUp(turn.events).view(items);
  expect(resumed).toEqual(later);
});

test("where nothing can be left out nothing is recorded, and the list is unchanged", async () => {
  const { view, turn } = setUp();
  const items = [user("go"), call("c1"), result("c1", "short")];
  expect(await view(items, true)).toBe(items);
  expect(turn.events).toEqual([]);
});

test("it is done as often as a turn overflows, each time with what came since; what was said for a result stays", async () => {
  const { view, turn } = setUp();
  const items = [user("go")];
  for (const id of ["c1", "c2", "c3", "c4"]) {
    items.push(call(id), long(id));
    if (id !== "c1") await view(items, true);
  }
  expect(turn.events.map(masksIn)).toEqual([["c1"], ["c2"], ["c3"]]);
  expect(await view(items)).toEqual([
    user("go"),
    ...["c1", "c2", "c3"].flatMap((id) => [call(id), line(id)]),
    call("c4"),
    long("c4"),
  ]);
});

test("where lines are not enough the oldest rounds go, as one reference; the sheet ends with the request that is worked on", async () => {
  const items = [user("do it")];
  for (let n = 1; n <= 8; n++) items.push(call(`c${n}`, n, "p".repeat(3_000)), result(`c${n}`, "short"));
  const { view, turn } = setUp();
  const shown = await view(items, true);
  const sheet =
    '<note from="compaction">\nThe conversation above was made smaller. All of it is kept, and recall brings any part back; this is where things stand.\n\nWhat you are working on follows behind these notes, as it was said.\n</note>';
  expect(shown.slice(0, 3).map((item) => item.kind === "user" && item.content)).toEqual([
    [
      {
        type: "text",
        text: "[5 rounds are left out here to make room: replies r1 to r5, calls c1 to c5; recall brings any of them back, by its name or by words]",
      },
    ],
    [{ type: "text", text: sheet }],
    [{ type: "text", text: "do it" }],
  ]);
  expect(shown.slice(3)).toEqual(items.slice(11));
  for (let n = 9; n <= 12; n++) items.push(call(`c${n}`, n, "p".repeat(3_000)), result(`c${n}`, "short"));
  const later = await view(items, true);
  expect(later[0]).toMatchObject({
    kind: "user",
    note: true,
    content: [
      {
        type: "text",
        text: "[9 rounds are left out here to make room: replies r1 to r9, calls c1 to c9; recall brings any of them back, by its name or by words]",
      },
    ],
  });
  expect(later.slice(3)).toEqual(items.slice(19));
  expect(await setUp(turn.events).view(items)).toEqual(later);
});

test("what was taken back is in view again", async () => {
  const { view, turn } = setUp();
  const items = [user("go"), call("c1"), long("c1"), call("c2"), long("c2")];
  turn.happened("compaction.asked", {});
  expect((await view(items))[2]).not.toBe(items[2]);
  await turn.append([{ type: "context.uncompacted", data: {} }]);
  expect(await view(items)).toBe(items);
});

test("the line says how the call ended", async () => {
  const { view } = setUp();
  const command = (more: object) => ({ ...long("c1"), name: "bash", ...more }) as Item;
  const said = async (item: Item) => {
    const shown = await setUp().view([user("go"), call("c1"), item, call("c2")], true);
    return (shown[2] as Extract<Item, { kind: "result" }>).content;
  };
  const again = "left out to make room; recall c1]";
  expect([
    await said(command({ exitCode: 0 })),
    await said(command({ isError: true, exitCode: 127 })),
    await said(command({ isError: true })),
    await said(command({ exitCode: 0, content: [{ type: "text", text: "line\n".repeat(2_000) }] })),
  ]).toEqual(
    [
      `[c1 bash "c1.txt": exit code 0, 12 kB, ${again}`,
      `[c1 bash "c1.txt": exit code 127, 12 kB, ${again}`,
      `[c1 bash "c1.txt": failed, 12 kB, ${again}`,
      `[c1 bash "c1.txt": exit code 0, 2001 lines, ${again}`,
    ].map((text) => [{ type: "text", text }]),
  );
  const short = [user("go"), call("c1"), result("c1", "x".repeat(120)), call("c2")];
  expect(await view(short, true)).toBe(short); // no line would be much shorter
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
  const { turn, view } = setUp([], { keeps: () => ["load_skill"] });
  const items = [user("go"), call("c1"), long("c1"), call("c2"), { ...long("c2"), name: "load_skill" }, call("c3")];
  expect((await view(items, true))[4]).toBe(items[4]);
  await view(items, true);
  expect(turn.events.map(masksIn)).toEqual([["c1"], []]); // its round, of which the sheet says it
});

test("it begins by what the provider counted: at half of the window", async () => {
  const items = [user("go"), call("c1"), long("c1"), call("c2"), long("c2"), call("c3"), long("c3")];
  const begins = async (...counts: number[]) => {
    const { view, turn } = setUp();
    for (const tokens of counts) {
      turn.happened("reply.received", replied(tokens).data);
      await view(items);
    }
    return turn.events.filter(({ type }) => type === "context.compacted").length;
  };
  expect([await begins(5_500), await begins(6_500)]).toEqual([0, 1]);
});
