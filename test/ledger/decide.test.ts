// Deciding on a ledger: anew when someone was faster, once for one id, on what is durable; slices that read only their own types.
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { HoldfastError } from "../../src/ledger/error.ts";
import { createCodec, type EventDefs, type EventGroup } from "../../src/ledger/events.ts";
import { createFold, type Slice, type Slices, type State } from "../../src/ledger/fold.ts";
import { openLedger } from "../../src/ledger/ledger.ts";
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

const counted: EventDefs = { "count.raised": { v: 1, schema: () => z.object({ to: z.number() }) } };
const talk: EventDefs = { "word.said": { v: 1, schema: () => z.object({ word: z.string() }) } };
const count: Slice<{ n: number }> = {
  version: 1,
  types: ["count.raised"],
  initial: () => ({ n: 0 }),
  apply: (_, event) => ({ n: (event.data as { to: number }).to }),
};
const words: Slice<string[]> = {
  version: 1,
  types: ["word.said"],
  initial: () => [],
  apply: (state, event) => [...state, (event.data as { word: string }).word],
};
const codec = createCodec([{ events: counted }, { events: talk }]);
const open = (slices: Slices, more: { store?: Store; groups?: EventGroup[]; fromSnapshot?: boolean } = {}) =>
  openLedger({
    store: more.store ?? store,
    name: "l",
    codec: more.groups ? createCodec(more.groups) : codec,
    fold: createFold(slices),
    ...(more.fromSnapshot !== undefined && { fromSnapshot: more.fromSnapshot }),
  });
const both: Slices = { count, words };
const only = (slice: Slices[string], name: string): Slices => ({ [name]: slice });
const n = (state: State) => (state.slices.count as { n: number }).n;
const raise = (state: State) => ({
  events: [{ type: "count.raised", actor: "a", touches: ["count"], data: { to: n(state) + 1 } }],
  reads: ["count"],
});
const say = (word: string) => ({ type: "word.said", actor: "a", data: { word } });

/** The same store, with every call to it counted. */
function counting(): { store: Store; calls: Record<string, number>; read: string[] } {
  const calls: Record<string, number> = {};
  const read: string[] = [];
  const proxy = new Proxy(store, {
    get(target, name: keyof Store) {
      const value = target[name];
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        calls[name] = (calls[name] ?? 0) + 1;
        const result = (value as (...all: unknown[]) => unknown).apply(target, args);
        if (name !== "read") return result;
        return (async function* () {
          for await (const event of result as AsyncIterable<{ type: string }>) {
            read.push(event.type);
            yield event;
          }
        })();
      };
    },
  });
  return { store: proxy, calls, read };
}

describe("a decision", () => {
  it("is made anew on what another writer left, and nothing is lost", async () => {
    const ledgers = await Promise.all(Array.from({ length: 4 }, () => open(both)));
    await Promise.all(ledgers.flatMap((ledger) => Array.from({ length: 25 }, () => ledger.decide(raise))));
    await Promise.all(ledgers.map((ledger) => ledger.catchUp()));
    expect(ledgers.map((ledger) => [n(ledger.state), ledger.state.seq])).toEqual(Array(4).fill([100, 100]));
  });

  it("that refuses on an old state is asked again on the newest, and only then counts", async () => {
    const [one, two] = [await open(both), await open(both)];
    await two.decide(raise);
    const seen: number[] = [];
    const decide = (state: State) => {
      seen.push(n(state));
      if (n(state) === 0) throw new HoldfastError("refused", "not yet");
      return raise(state);
    };
    await one.decide(decide);
    expect([seen, n(one.state)]).toEqual([[0, 1], 2]);
    await expect(
      one.decide(() => {
        throw new HoldfastError("refused", "never");
      }),
    ).rejects.toMatchObject({ code: "refused" });
  });

  it("that has nothing to record looks at the newest state before it says so", async () => {
    const [one, two] = [await open(both), await open(both)];
    await two.decide(raise);
    expect(await one.decide((state) => (n(state) === 0 ? { events: [] } : raise(state)))).toHaveLength(1);
    expect(await one.decide(() => ({ events: [] }))).toEqual([]);
  });

  it("with an id is made once: the second time it comes back as it was recorded, whatever the state is by then", async () => {
    const ledger = await open(both);
    const first = await ledger.decide(raise, { id: "ctx/lead/c1" });
    await ledger.decide(raise);
    const again = await (await open(both)).decide(raise, { id: "ctx/lead/c1" });
    const refused = await ledger.decide(
      () => {
        throw new HoldfastError("refused", "it is done");
      },
      { id: "ctx/lead/c1" },
    );
    expect([again, refused, n(ledger.state)]).toEqual([first, first, 2]);
  });

  it("rests on nothing that is not durable: what was appended soon is recorded before it looks", async () => {
    const ledger = await open(both);
    await ledger.append([say("reply")], { durability: "deferred" });
    const stored: string[] = [];
    await ledger.decide((state) => {
      stored.push(`${state.seq} ${(state.slices.words as string[]).join()}`);
      return raise(state);
    });
    const types: string[] = [];
    for await (const event of store.read("l")) types.push(event.type);
    expect([stored, types]).toEqual([["1 reply"], ["word.said", "count.raised"]]);
  });

  it("costs one append and no other call when nobody is in its way", async () => {
    const counter = counting();
    const ledger = await open(both, counter);
    await ledger.decide(raise);
    const before = { ...counter.calls };
    await ledger.decide(raise, { id: "x" });
    expect({ ...counter.calls, append: counter.calls.append! - before.append! }).toEqual({ ...before, append: 1 });
  });
});

describe("a slice", () => {
  it("names its types: a reader of it reads no others, and still knows where the ledger ends", async () => {
    const writer = await open(both);
    for (let i = 0; i < 50; i++) await writer.append([say(`w${i}`)]);
    await writer.decide(raise);
    const counter = counting();
    const ledger = await open(only(count, "count"), counter);
    expect([counter.read, ledger.state.seq, n(ledger.state)]).toEqual([["count.raised"], 51, 1]);
    await writer.append([say("more")]);
    await ledger.decide(raise);
    expect([counter.read, n(ledger.state)]).toEqual([["count.raised"], 2]);
  });

  it("has a snapshot of its own, which programs with other slices beside it use too", async () => {
    const writer = await open(both);
    for (let i = 0; i < 320; i++) await writer.append([say(`w${i}`)]);
    await writer.decide(raise);
    await writer.saveSnapshot();
    await writer.append([say("after")]);
    const counter = counting();
    const counted = await open(only(count, "count"), counter);
    await counted.decide(raise);
    expect([counter.read, n(counted.state)]).toEqual([[], 2]); // its version came with the snapshot
    const third: Slice<number> = { version: 1, types: ["word.said"], initial: () => 0, apply: (state) => state + 1 };
    const more = await open({ ...both, third });
    const fresh = await open({ ...both, third }, { fromSnapshot: false });
    expect(more.state).toEqual(fresh.state);
    expect(more.state.slices.third).toBe(321);
  });
});

describe("events of a mechanism that a reader does not have", () => {
  const shop: EventDefs = { "shop.charged": { v: 1, schema: () => z.object({ cents: z.number() }) } };
  const charge = { type: "shop.charged", actor: "a", data: { cents: 5 } };
  const withShop = (required: boolean): EventGroup[] => [
    { events: counted },
    { events: talk },
    { events: shop, extension: { mechanism: "shop", required } },
  ];
  const every = only({ version: 1, initial: () => 0, apply: (state: number) => state + 1 }, "every");

  it("are passed over, unless the mechanism says that nobody may go on without it; the advice names it", async () => {
    await (await open(every, { groups: withShop(false) })).append([charge, charge]);
    const without = await open(every);
    await without.append([say("goes on")]);
    expect([without.readOnly, without.problems, without.state.seq]).toEqual([undefined, [], 4]);
    await store.remove("l");
    await (await open(every, { groups: withShop(true) })).append([say("x"), charge]);
    const closed = await open(every);
    expect(closed.readOnly).toEqual({
      code: "mechanism",
      message: "its mechanism shop is missing here (event 3, shop.charged): open it with a program that has it",
    });
    await expect(closed.append([say("no")])).rejects.toMatchObject({ code: "mechanism" });
    await (await open(every, { groups: withShop(true) })).append([charge]);
  });

  it("are declared once, and known from a snapshot too", async () => {
    const ledger = await open(every, { groups: withShop(false) });
    for (let i = 0; i < 310; i++) await ledger.append([charge]);
    await ledger.saveSnapshot();
    await ledger.append([charge]);
    const types: string[] = [];
    for await (const event of store.read("l")) types.push(event.type);
    expect(types.filter((type) => type === "ledger.extended")).toHaveLength(1);
    expect((await open(every)).readOnly).toBeUndefined();
  });

  it("that nobody declared are a newer Holdfast's: the ledger is read-only", async () => {
    await store.append([{ ledger: "l", events: [charge] }]);
    expect((await open(every)).readOnly).toMatchObject({ code: "upgrade" });
  });
});
