// The suite that every store must pass: what it says here is what the port means.
import { setTimeout as sleep } from "node:timers/promises";
import { blobHash } from "../ledger/checksum.ts";
import { isHoldfastError } from "../ledger/error.ts";
import type { Store, Write } from "../ledger/store.ts";
import { DATA_TESTS } from "./store-conformance-data.ts";
import { LEASE_TESTS } from "./store-conformance-leases.ts";
import {
  all,
  type ConformanceOptions,
  type ConformanceTests,
  code,
  collect,
  event,
  type Framework,
  failure,
  first,
  seqs,
  sumOf,
} from "./store-conformance-steps.ts";

export interface StoreUnderTest {
  name: string;
  /** A fresh, empty store for each test; `open` again opens the same one, as another process would. */
  create(): Promise<{
    open(opts?: ConformanceOptions): Promise<Store>;
    dispose(): Promise<void>;
  }>;
}

export function storeConformance(under: StoreUnderTest, framework: Framework): void {
  const groups: Record<string, ConformanceTests> = {
    "append and read": APPEND_AND_READ,
    ids: IDS,
    guards: GUARDS,
    "the past that a writer has read": PAST,
    watching: WATCHING,
    ...DATA_TESTS,
    ...LEASE_TESTS,
  };
  for (const [subject, tests] of Object.entries(groups))
    framework.describe(`${under.name}: ${subject}`, () => {
      for (const [what, test] of Object.entries(tests)) framework.it(what, () => inFreshStore(under, framework, test));
    });
}

type ConformanceTest = ConformanceTests[string];

async function inFreshStore(under: StoreUnderTest, { expect }: Framework, test: ConformanceTest): Promise<void> {
  const { open, dispose } = await under.create();
  const opened: Store[] = [];
  const tracked = async (opts?: ConformanceOptions) => {
    const store = await open(opts);
    opened.push(store);
    return store;
  };
  try {
    await test({ store: await tracked(), open: tracked, expect });
  } finally {
    for (const store of opened.reverse()) await store.close();
    await dispose();
  }
}

const APPEND_AND_READ: ConformanceTests = {
  "gives back what was appended, in order, with everything the store fills in": async ({ store, expect }) => {
    const { at: before } = first(await store.append([{ ledger: "clock", events: [event(0)] }]));
    const [a, b] = await store.append([{ ledger: "l", events: [event(1, { id: "one", touches: ["x"] }), event(2)] }]);
    expect({ ...a, at: 0, sum: typeof a?.sum }).toEqual({
      seq: 1,
      id: "one",
      at: 0,
      type: "t.happened",
      v: 1,
      actor: "me",
      touches: ["x"],
      data: { n: 1 },
      sum: "string",
    });
    // By the store's own clock, which need not be ours.
    expect([b?.seq, typeof b?.id, b?.touches, Number(a?.at) >= before]).toEqual([2, "string", [], true]);
    expect(await all(store, "l")).toEqual([a, b]);
    expect(await store.head("l")).toEqual(2);
  },
  "reads a range, one actor, some types": async ({ store, expect }) => {
    for (let i = 1; i <= 6; i++)
      await store.append([
        { ledger: "l", events: [event(i, { actor: i % 2 ? "odd" : "even", type: i > 4 ? "t.late" : "t.early" })] },
      ]);
    expect(seqs(await all(store, "l", { after: 2, upTo: 5 }))).toEqual([3, 4, 5]);
    expect(seqs(await all(store, "l", { actor: "odd" }))).toEqual([1, 3, 5]);
    expect(seqs(await all(store, "l", { types: ["t.late"] }))).toEqual([5, 6]);
    expect([await all(store, "l", { after: 6 }), await all(store, "nothing"), await store.head("nothing")]).toEqual([
      [],
      [],
      0,
    ]);
  },
  "keeps any JSON and any text": async ({ store, expect }) => {
    const data = {
      text: 'ü 漢 🦀 "\\ \u0000 \n',
      nested: [null, true, 1.5, -0.25, { "": [] }],
      long: "x".repeat(20_000),
    };
    await store.append([
      {
        ledger: "l/ü:1",
        events: [
          { type: "t", actor: "", data },
          { type: "t", actor: "a", data: null },
        ],
      },
    ]);
    expect((await all(store, "l/ü:1")).map((one) => one.data)).toEqual([data, null]);
  },
  "shows another process what was committed, after it is opened again too": async ({ store, open, expect }) => {
    const other = await open();
    const events = await store.append([{ ledger: "l", events: [event(1)] }]);
    expect(await all(other, "l")).toEqual(events);
    await store.append([{ ledger: "l", events: [event(2)] }]);
    expect([await other.head("l"), (await all(await open(), "l")).length]).toEqual([2, 2]);
  },
  "reads more events than one page of them": async ({ store, expect }) => {
    for (let i = 0; i < 13; i++)
      await store.append([{ ledger: "l", events: Array.from({ length: 100 }, (_, k) => event(i * 100 + k)) }]);
    expect((await all(store, "l")).map((one) => one.data)).toEqual(Array.from({ length: 1300 }, (_, n) => ({ n })));
  },
};

const IDS: ConformanceTests = {
  "an append that comes twice is recorded once and answered the same": async ({ store, expect }) => {
    const writes = [{ ledger: "l", events: [event(1, { id: "a" }), event(2, { id: "b" })] }];
    const first = await store.append(writes);
    expect(await store.append(writes)).toEqual(first);
    expect(await all(store, "l")).toEqual(first);
  },
  "knows an old batch before it checks its guards": async ({ store, expect }) => {
    const write = { ledger: "l", events: [event(1, { id: "a", touches: ["x"] })], expect: { x: 0 } };
    const first = await store.append([write]);
    expect(await store.append([write], { lease: { name: "never", term: 9, token: "none" } })).toEqual(first);
  },
  "refuses an id with other data, a batch that is half old, and an id twice in one batch": async ({
    store,
    expect,
  }) => {
    await store.append([{ ledger: "l", events: [event(1, { id: "a" })] }]);
    expect(await code(store.append([{ ledger: "l", events: [event(2, { id: "a" })] }]))).toEqual("id_reused");
    expect(await code(store.append([{ ledger: "l", events: [event(1, { id: "a" }), event(2, { id: "b" })] }]))).toEqual(
      "id_reused",
    );
    expect(await code(store.append([{ ledger: "l", events: [event(1, { id: "c" }), event(1, { id: "c" })] }]))).toEqual(
      "id_reused",
    );
    expect(await store.head("l")).toEqual(1);
  },
  "takes the same id in another ledger": async ({ store, expect }) => {
    await store.append([{ ledger: "l", events: [event(1, { id: "a" })] }]);
    await store.append([{ ledger: "m", events: [event(2, { id: "a" })] }]);
    expect([await store.head("l"), await store.head("m")]).toEqual([1, 1]);
  },
};

const GUARDS: ConformanceTests = {
  "refuses a decision whose entity has changed, and says which": async ({ store, expect }) => {
    await store.append([{ ledger: "l", events: [event(1, { touches: ["x", "y"] })], expect: { x: 0, y: 0 } }]);
    await store.append([{ ledger: "l", events: [event(2, { touches: ["y"] })], expect: { x: 1, y: 1 } }]);
    const error = await failure(store.append([{ ledger: "l", events: [event(3)], expect: { x: 1, y: 1 } }]));
    expect(isHoldfastError(error, "conflict") && error.detail).toEqual({ entity: "y", expected: 1, actual: 2 });
    expect([
      await store.version("l", "x"),
      await store.version("l", "y"),
      await store.version("l", "z"),
      await store.head("l"),
    ]).toEqual([1, 2, 0, 2]);
  },
  "writes to several ledgers all or nothing": async ({ store, expect }) => {
    await store.append([{ ledger: "a", events: [event(1, { touches: ["x"] })] }]);
    const fine = { ledger: "b", events: [event(2)], summary: "b" };
    const guarded = { ledger: "a", events: [event(3)], expect: { x: 0 } };
    const writes = [fine, guarded];
    const bytes = Buffer.from("not kept");
    expect(
      await code(store.append(writes, { blobs: [bytes], wake: [{ context: "a", agent: "w", by: "t", dueAt: 1 }] })),
    ).toEqual("conflict");
    expect([
      await store.head("a"),
      await store.head("b"),
      await store.blob(blobHash(bytes)),
      await store.due(9),
    ]).toEqual([1, 0, undefined, []]);
    const done = await store.append([fine, { ...guarded, expect: { x: 1 } }]);
    expect(seqs(done)).toEqual([1, 2]);
  },
  "takes a write that only guards, and leaves no trace of it": async ({ store, expect }) => {
    await store.append([{ ledger: "a", events: [event(1, { touches: ["x"] })] }]);
    const guard = (x: number): Write[] => [
      { ledger: "a", events: [], expect: { x } },
      { ledger: "never", events: [], expect: { y: 0 } },
      { ledger: "b", events: [event(1)] },
    ];
    expect([await code(store.append(guard(0))), await code(store.append(guard(1)))]).toEqual(["conflict", "ok"]);
    expect((await collect(store.list())).map(({ ledger, head }) => [ledger, head]).sort()).toEqual([
      ["a", 1],
      ["b", 1],
    ]);
  },
  "lets one of two racing decisions win": async ({ store, open, expect }) => {
    const other = await open();
    const decide = (one: Store) =>
      code(one.append([{ ledger: "l", events: [event(1, { touches: ["x"] })], expect: { x: 0 } }]));
    expect((await Promise.all([decide(store), decide(other)])).sort()).toEqual(["conflict", "ok"]);
  },
};

const write = (n: number, base?: Write["base"]): Write[] => [
  { ledger: "l", events: [event(n)], ...(base && { base }) },
];

const PAST: ConformanceTests = {
  "is told by a sum on every event, the same for whoever reads it": async ({ store, open, expect }) => {
    const appended = [...(await store.append(write(1))), ...(await store.append(write(1)))];
    expect(new Set(appended.map((one) => one.sum)).size).toEqual(2);
    const sums = async (from: Store) => (await all(from, "l")).map((one) => one.sum);
    expect([await sums(store), await sums(await open())]).toEqual([
      appended.map((one) => one.sum),
      appended.map((one) => one.sum),
    ]);
    expect((await all(store, "l", { after: 1 })).map((one) => one.sum)).toEqual([appended[1]?.sum]);
  },
  "may be the last event or an older one; any other is refused, and nothing is recorded": async ({ store, expect }) => {
    const one = sumOf(await store.append(write(1)));
    const two = sumOf(await store.append(write(2, { seq: 1, sum: one })));
    expect(await code(store.append(write(3, { seq: 1, sum: one })))).toEqual("ok");
    for (const base of [
      { seq: 2, sum: one },
      { seq: 4, sum: two },
      { seq: 3, sum: "" },
    ])
      expect(await code(store.append(write(4, base)))).toEqual("rolled_back");
    expect(await code(store.append([...write(4), ...write(5, { seq: 9, sum: "" })]))).toEqual("rolled_back");
    expect(await store.head("l")).toEqual(3);
  },
  "is another one when the ledger was removed and begun again": async ({ store, expect }) => {
    const base = { seq: 1, sum: sumOf(await store.append(write(1))) };
    await store.remove("l");
    expect(await code(store.append(write(2, base)))).toEqual("rolled_back");
    await store.append(write(1));
    expect([await code(store.append(write(2, base))), await store.head("l")]).toEqual(["rolled_back", 1]);
  },
  "does not matter to what is already recorded": async ({ store, expect }) => {
    const events = [event(1, { id: "a" })];
    const first = await store.append([{ ledger: "l", events }]);
    expect(await store.append([{ ledger: "l", events, base: { seq: 7, sum: "" } }])).toEqual(first);
  },
};

const WATCHING: ConformanceTests = {
  "reports every head, its own commits and others', and ends with its signal": async ({ store, open, expect }) => {
    const other = await open();
    const stop = new AbortController();
    const seen = new Map<string, number>();
    const watching = (async () => {
      for await (const { ledger, seq } of store.watchAll(stop.signal)) seen.set(ledger, seq);
    })();
    for (let i = 0; i < 5; i++) {
      await store.append([{ ledger: "own", events: [event(i)] }]);
      await other.append([{ ledger: "other", events: [event(i)] }]);
    }
    for (let i = 0; i < 300 && (seen.get("own") !== 5 || seen.get("other") !== 5); i++) await sleep(10);
    stop.abort();
    await watching;
    expect(Object.fromEntries(seen)).toEqual({ own: 5, other: 5 });
  },
  "ends when the store is closed": async ({ open, expect }) => {
    const store = await open();
    const watching = collect(store.watchAll(new AbortController().signal));
    await store.append([{ ledger: "l", events: [event(1)] }]);
    await sleep(20);
    await store.close();
    store.close = async () => {};
    expect(await watching).toEqual([{ ledger: "l", seq: 1 }]);
  },
};
