// One open ledger: folding, long strings, what is durable soon, other writers in between, newer writers.
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { createCodec, type EventDefs } from "../../src/ledger/events.ts";
import { createFold } from "../../src/ledger/fold.ts";
import { type Ledger, openLedger } from "../../src/ledger/ledger.ts";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import type { Store } from "../../src/ledger/store.ts";
import { tempDir } from "../house.ts";

let dir: string;
let store: Store;
beforeEach(async () => {
  dir = tempDir("ledger");
  store = await openSqliteStore(path.join(dir, "p.db"));
});
afterEach(async () => {
  await store.close();
  fs.rmSync(dir, { recursive: true });
});

const wordEvents: EventDefs = {
  "word.said": {
    v: 2,
    schema: () => z.object({ word: z.string() }),
    upcast: { 1: (data) => ({ word: (data as { w: string }).w }) },
  },
};
const codec = createCodec([{ events: wordEvents }]);
const words = {
  version: 1,
  initial: (): string[] => [],
  apply: (state: string[], event: { type: string; data: unknown }) =>
    event.type === "word.said" ? [...state, (event.data as { word: string }).word] : state,
};
const fold = createFold({ words });
const open = (at: Store = store): Promise<Ledger> => openLedger({ store: at, name: "l", codec, fold });
const say = (word: string) => ({ type: "word.said", actor: "a", data: { word } });
const stored = async () => {
  const all: string[] = [];
  for await (const e of store.read("l")) all.push(`${e.seq} v${e.v} ${(e.data as { word: string }).word}`);
  return all;
};

describe("an open ledger", () => {
  it("folds what it appends and what others append, in order of seq", async () => {
    const [one, two] = [await open(), await open()];
    await one.append([say("a")]);
    await two.append([say("b")]);
    await one.append([say("c")]);
    await two.catchUp();
    expect([one.state, two.state]).toEqual([
      { seq: 3, slices: { words: ["a", "b", "c"], extensions: {} } },
      { seq: 3, slices: { words: ["a", "b", "c"], extensions: {} } },
    ]);
  });

  it("keeps long strings in blobs and gives them back in place", async () => {
    const long = "長い".repeat(20_000);
    await (await open()).append([say(long)]);
    expect((await open()).state.slices.words).toEqual([long]);
    for await (const e of store.read("l")) expect(JSON.stringify(e.data).length).toBeLessThan(2_000);
  });

  it("makes what was appended soon durable in one transaction with the next append", async () => {
    const ledger = await open();
    const seqs: number[] = [];
    ledger.subscribe((e) => seqs.push(e.seq));
    await ledger.append([say("reply")], { durability: "deferred" });
    expect([ledger.state.slices.words, await stored(), seqs]).toEqual([["reply"], [], []]); // nobody is told before it is durable
    await ledger.append([say("intent")]);
    expect([ledger.state, await stored(), seqs]).toEqual([
      { seq: 2, slices: { words: ["reply", "intent"], extensions: {} } },
      ["1 v2 reply", "2 v2 intent"],
      [1, 2],
    ]);
  });

  it("makes it durable by itself when no other append comes", async () => {
    const ledger = await open();
    await ledger.append([say("reply")], { durability: "deferred" });
    for (let i = 0; i < 200 && (await stored()).length === 0; i++) await new Promise((r) => setTimeout(r, 10));
    expect([await stored(), ledger.state.seq]).toEqual([["1 v2 reply"], 1]);
  });

  it("keeps its place when another process appends between a soon and the next append", async () => {
    const [one, two] = [await open(), await open()];
    await one.append([say("reply")], { durability: "deferred" });
    await two.append([say("input")]);
    await one.append([say("intent")]);
    await two.catchUp();
    expect([await stored(), one.state.seq, one.state.slices.words, two.state.slices.words]).toEqual([
      ["1 v2 input", "2 v2 reply", "3 v2 intent"],
      3,
      ["reply", "input", "intent"],
      ["input", "reply", "intent"],
    ]);
  });

  it("stops only the holder whose lease was lost with something held: the others go on, and the state is what was recorded", async () => {
    const ledger = await open();
    const seen: string[] = [];
    ledger.subscribe((e) => seen.push(`${e.seq} ${(e.data as { word: string }).word}`));
    const taken = async (name: string) => {
      const lease = await store.leases.acquire(name);
      if ("held" in lease) throw new Error("held");
      return lease;
    };
    const [a, b] = [await taken("agent:a"), await taken("agent:b")];
    await ledger.append([say("before")], { lease: a });
    const lose = async (word: string) => {
      const lease = await taken("agent:c");
      await ledger.append([say(word)], { lease, durability: "deferred" });
      await lease.release();
      await (await taken("agent:c")).release();
      return lease;
    };
    const ways = {
      append: () => ledger.append([say("by b")], { lease: b }),
      soon: () => ledger.append([say("soon by b")], { lease: b, durability: "deferred" }),
      catchUp: () => ledger.catchUp(),
      snapshot: () => ledger.saveSnapshot(),
      nobody: () => ledger.append([say("by nobody")]),
    };
    for (const [way, act] of Object.entries(ways)) {
      const lost = await lose(`lost at ${way}`);
      await act();
      for (const durability of ["now", "deferred"] as const)
        await expect(ledger.append([say("more")], { lease: lost, durability })).rejects.toMatchObject({
          code: "fenced",
        });
      await expect(ledger.append([], { lease: lost })).rejects.toMatchObject({ code: "fenced" });
    }
    await ledger.append([say("a again")], { lease: a });
    const words = ["before", "by b", "soon by b", "by nobody", "a again"];
    expect(ledger.state).toEqual({ seq: words.length, slices: { words, extensions: {} } });
    expect(await stored()).toEqual(words.map((word, i) => `${i + 1} v2 ${word}`));
    expect(seen).toEqual(words.map((word, i) => `${i + 1} ${word}`));
  });

  it("reads older versions through their upcast, and opens read-only after a newer one", async () => {
    await store.append([{ ledger: "l", events: [{ type: "word.said", v: 1, actor: "a", data: { w: "old" } }] }]);
    expect((await open()).state.slices.words).toEqual(["old"]);
    await store.append([{ ledger: "l", events: [{ type: "word.said", v: 3, actor: "a", data: { words: [] } }] }]);
    const ledger = await open();
    expect([ledger.state.slices.words, ledger.problems]).toEqual([
      ["old"],
      [{ seq: 2, kind: "newer", reason: "word.said version 3 (known: 2)" }],
    ]);
    await expect(ledger.append([say("x")])).rejects.toMatchObject({ code: "upgrade" });
  });

  it("upcasts step by step, and refuses a version that has no step from an older one, or a step from none", () => {
    const said = (v: number, upcast: NonNullable<EventDefs[string]["upcast"]>) =>
      createCodec([{ events: { "word.said": { v, schema: () => z.object({ words: z.array(z.string()) }), upcast } } }]);
    const word = (data: unknown) => ({ word: (data as { w: string }).w });
    const list = (data: unknown) => ({ words: [(data as { word: string }).word] });
    const stored = { id: "e", seq: 1, at: 1, actor: "a", touches: [], type: "word.said" };
    const { decode } = said(3, { 1: word, 2: list });
    expect([
      decode({ ...stored, v: 1, data: { w: "old" } }),
      decode({ ...stored, v: 2, data: { word: "old" } }),
    ]).toEqual([1, 2].map(() => ({ ok: true, event: { ...stored, v: 3, data: { words: ["old"] } } })));
    expect(() => said(3, { 1: word })).toThrow(
      "event type word.said has version 3 and no upcast from version 2: add it",
    );
    expect(() => said(1, { 1: word })).toThrow("event type word.said has an upcast from version 1, and is version 1");
  });

  it("keeps data that fails its schema raw, reports it, and goes on", async () => {
    await store.append([{ ledger: "l", events: [{ type: "word.said", v: 2, actor: "a", data: { word: 7 } }] }]);
    const ledger = await open();
    await ledger.append([say("next")]);
    expect([ledger.problems.map((p) => [p.seq, p.kind]), ledger.state.slices.words]).toEqual([
      [[1, "invalid"]],
      ["next"],
    ]);
  });
});
