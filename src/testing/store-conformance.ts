// Owns the suite that every store must pass: what it says here is what the port means.
import { setTimeout as sleep } from "node:timers/promises";
import { blobHash } from "../ledger/checksum.ts";
import { isHoldfastError } from "../ledger/error.ts";
import type { EventInput, Lease, Store, StoredEvent } from "../ledger/store.ts";
import { leaseConformance } from "./lease-conformance.ts";

export interface StoreUnderTest {
  name: string;
  /** A fresh, empty store for each test; `open` again opens the same one, as another process would. */
  create(): Promise<{
    open(opts?: { leaseMs?: number; interactive?: boolean }): Promise<Store>;
    dispose(): Promise<void>;
  }>;
}

/** The part of a test framework that the suite needs; vitest's own functions fit. */
export interface Framework {
  describe(name: string, body: () => void): void;
  it(name: string, body: () => Promise<void>): void;
  expect(actual: unknown): { toEqual(expected: unknown): void };
}

export type Run = (
  body: (store: Store, open: (opts?: { leaseMs?: number; interactive?: boolean }) => Promise<Store>) => Promise<void>,
) => () => Promise<void>;

export function storeConformance(under: StoreUnderTest, { describe, it, expect }: Framework): void {
  const run: Run = (body) => async () => {
    const { open, dispose } = await under.create();
    const opened: Store[] = [];
    const tracked = async (opts?: { leaseMs?: number; interactive?: boolean }) => {
      const store = await open(opts);
      opened.push(store);
      return store;
    };
    try {
      await body(await tracked(), tracked);
    } finally {
      for (const store of opened.reverse()) await store.close();
      await dispose();
    }
  };

  describe(`${under.name}: append and read`, () => {
    it(
      "gives back what was appended, in order, with everything the store fills in",
      run(async (store) => {
        const before = Date.now();
        const [a, b] = await store.append([
          { ledger: "l", events: [event(1, { id: "one", touches: ["x"] }), event(2)] },
        ]);
        expect({ ...a, at: 0 }).toEqual({
          seq: 1,
          id: "one",
          at: 0,
          type: "t.happened",
          v: 1,
          actor: "me",
          touches: ["x"],
          data: { n: 1 },
        });
        expect([b!.seq, typeof b!.id, b!.touches, a!.at >= before]).toEqual([2, "string", [], true]);
        expect(await all(store, "l")).toEqual([a, b]);
        expect(await store.head("l")).toEqual(2);
      }),
    );
    it(
      "reads a range, one actor, some types",
      run(async (store) => {
        for (let i = 1; i <= 6; i++)
          await store.append([
            { ledger: "l", events: [event(i, { actor: i % 2 ? "odd" : "even", type: i > 4 ? "t.late" : "t.early" })] },
          ]);
        expect(seqs(await all(store, "l", { after: 2, upTo: 5 }))).toEqual([3, 4, 5]);
        expect(seqs(await all(store, "l", { actor: "odd" }))).toEqual([1, 3, 5]);
        expect(seqs(await all(store, "l", { types: ["t.late"] }))).toEqual([5, 6]);
        expect([await all(store, "l", { after: 6 }), await all(store, "nothing"), await store.head("nothing")]).toEqual(
          [[], [], 0],
        );
      }),
    );
    it(
      "keeps any JSON and any text",
      run(async (store) => {
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
      }),
    );
    it(
      "shows another process what was committed, after it is opened again too",
      run(async (store, open) => {
        const other = await open();
        const events = await store.append([{ ledger: "l", events: [event(1)] }]);
        expect(await all(other, "l")).toEqual(events);
        await store.append([{ ledger: "l", events: [event(2)] }]);
        expect([await other.head("l"), (await all(await open(), "l")).length]).toEqual([2, 2]);
      }),
    );
    it(
      "reads more events than one page of them",
      run(async (store) => {
        for (let i = 0; i < 13; i++)
          await store.append([{ ledger: "l", events: Array.from({ length: 100 }, (_, k) => event(i * 100 + k)) }]);
        expect((await all(store, "l")).map((one) => (one.data as { n: number }).n)).toEqual(
          Array.from({ length: 1300 }, (_, i) => i),
        );
      }),
    );
  });

  describe(`${under.name}: ids`, () => {
    it(
      "an append that comes twice is recorded once and answered the same",
      run(async (store) => {
        const writes = [{ ledger: "l", events: [event(1, { id: "a" }), event(2, { id: "b" })] }];
        const first = await store.append(writes);
        expect(await store.append(writes)).toEqual(first);
        expect(await all(store, "l")).toEqual(first);
      }),
    );
    it(
      "knows an old batch before it checks its guards",
      run(async (store) => {
        const write = { ledger: "l", events: [event(1, { id: "a", touches: ["x"] })], expect: { x: 0 } };
        const first = await store.append([write]);
        expect(await store.append([write], { lease: { name: "never", epoch: 9 } })).toEqual(first);
      }),
    );
    it(
      "refuses an id with other data, a batch that is half old, and an id twice in one batch",
      run(async (store) => {
        await store.append([{ ledger: "l", events: [event(1, { id: "a" })] }]);
        expect(await code(store.append([{ ledger: "l", events: [event(2, { id: "a" })] }]))).toEqual("id_reused");
        expect(
          await code(store.append([{ ledger: "l", events: [event(1, { id: "a" }), event(2, { id: "b" })] }])),
        ).toEqual("id_reused");
        expect(
          await code(store.append([{ ledger: "l", events: [event(1, { id: "c" }), event(1, { id: "c" })] }])),
        ).toEqual("id_reused");
        expect(await store.head("l")).toEqual(1);
      }),
    );
    it(
      "takes the same id in another ledger",
      run(async (store) => {
        await store.append([{ ledger: "l", events: [event(1, { id: "a" })] }]);
        await store.append([{ ledger: "m", events: [event(2, { id: "a" })] }]);
        expect([await store.head("l"), await store.head("m")]).toEqual([1, 1]);
      }),
    );
  });

  describe(`${under.name}: guards`, () => {
    it(
      "refuses a decision whose entity has changed, and says which",
      run(async (store) => {
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
      }),
    );
    it(
      "writes to several ledgers all or nothing",
      run(async (store) => {
        await store.append([{ ledger: "a", events: [event(1, { touches: ["x"] })] }]);
        const writes = [
          { ledger: "b", events: [event(2)], summary: "b" },
          { ledger: "a", events: [event(3)], expect: { x: 0 } },
        ];
        const bytes = Buffer.from("not kept");
        expect(await code(store.append(writes, { blobs: [bytes], wake: [{ agent: "w", dueAt: 1 }] }))).toEqual(
          "conflict",
        );
        expect([
          await store.head("a"),
          await store.head("b"),
          await store.blob(blobHash(bytes)),
          await store.due(9),
        ]).toEqual([1, 0, undefined, []]);
        const done = await store.append([writes[0]!, { ...writes[1]!, expect: { x: 1 } }]);
        expect(seqs(done)).toEqual([1, 2]);
      }),
    );
    it(
      "lets one of two racing decisions win",
      run(async (store, open) => {
        const other = await open();
        const decide = (one: Store) =>
          code(one.append([{ ledger: "l", events: [event(1, { touches: ["x"] })], expect: { x: 0 } }]));
        expect((await Promise.all([decide(store), decide(other)])).sort()).toEqual(["conflict", "ok"]);
      }),
    );
  });

  describe(`${under.name}: blobs, wakes, snapshots, lists`, () => {
    it(
      "keeps blobs of any size by their hash",
      run(async (store) => {
        const noise = Buffer.from(Array.from({ length: 1_500_000 }, (_, i) => (i * 7919 + (i >> 3) * 104729) & 255));
        const blobs = [Buffer.alloc(0), Buffer.from("small"), Buffer.alloc(3_000_000, "abc"), noise];
        await store.append([{ ledger: "l", events: [event(1)] }], { blobs });
        await store.append([{ ledger: "l", events: [event(2)] }], { blobs });
        for (const bytes of blobs) expect(blobHash((await store.blob(blobHash(bytes)))!)).toEqual(blobHash(bytes));
        expect([await store.blob(blobHash(Buffer.from("never"))), await store.blob("nonsense")]).toEqual([
          undefined,
          undefined,
        ]);
      }),
    );
    it(
      "keeps one wake for each agent, in order of time, until it is cleared",
      run(async (store) => {
        await store.append([{ ledger: "l", events: [event(1)] }], {
          wake: [
            { agent: "b", dueAt: 20 },
            { agent: "a", dueAt: 10 },
            { agent: "c", dueAt: 30 },
          ],
        });
        expect(await store.due(20)).toEqual([
          { agent: "a", dueAt: 10 },
          { agent: "b", dueAt: 20 },
        ]);
        await store.append([{ ledger: "l", events: [event(2)] }], {
          wake: [
            { agent: "a", dueAt: null },
            { agent: "b", dueAt: 50 },
          ],
        });
        expect([await store.due(40), await store.due(9)]).toEqual([[{ agent: "c", dueAt: 30 }], []]);
      }),
    );
    it(
      "loads a snapshot for its own fold only",
      run(async (store) => {
        await store.append([{ ledger: "l", events: [event(1), event(2)] }]);
        await store.snapshot("l", "f@1").save(2, { list: ["ü"] });
        expect(await store.snapshot("l", "f@1").load()).toEqual({ seq: 2, state: { list: ["ü"] } });
        expect([await store.snapshot("l", "f@2").load(), await store.snapshot("m", "f@1").load()]).toEqual([
          undefined,
          undefined,
        ]);
      }),
    );
    it(
      "lists ledgers with their summaries, and forgets a removed one",
      run(async (store) => {
        const before = Date.now();
        await store.append([{ ledger: "ctx/a", events: [event(1)], summary: { title: "A" } }]);
        await store.append([{ ledger: "ctx/b", events: [event(1), event(2)] }]);
        await store.append([{ ledger: "board", events: [event(1)] }]);
        await store.append([{ ledger: "ctx/a", events: [event(2)] }]);
        const listed = (await collect(store.list({ prefix: "ctx/" }))).sort((a, b) => a.ledger.localeCompare(b.ledger));
        expect(listed.map(({ ledger, head, summary }) => ({ ledger, head, summary }))).toEqual([
          { ledger: "ctx/a", head: 2, summary: { title: "A" } },
          { ledger: "ctx/b", head: 2, summary: null },
        ]);
        expect(listed.every((one) => one.createdAt >= before && one.updatedAt >= one.createdAt)).toEqual(true);
        await store.remove("ctx/a");
        await store.remove("never was");
        expect([await store.head("ctx/a"), await all(store, "ctx/a"), (await collect(store.list())).length]).toEqual([
          0,
          [],
          2,
        ]);
        expect(
          seqs(
            await store.append([
              { ledger: "ctx/a", events: [event(9, { id: "again", touches: ["x"] })], expect: { x: 0 } },
            ]),
          ),
        ).toEqual([1]);
      }),
    );
    it(
      "verifies clean, and changes nothing by it",
      run(async (store) => {
        await store.append([{ ledger: "a", events: [event(1, { touches: ["x"] })] }], {
          blobs: [Buffer.from("b")],
          wake: [{ agent: "w", dueAt: 1 }],
        });
        await store.append([{ ledger: "b", events: [event(1), event(2)] }]);
        await store.append([{ ledger: "c", events: [event(1)] }]);
        await store.remove("c");
        let last: [number, number] = [0, 0];
        const progress = (done: number, total: number) => {
          last = [done, total];
        };
        expect(await store.verify({ progress })).toEqual({ ledgers: 2, events: 3, blobs: 1, damage: [] });
        expect(last).toEqual([3, 3]);
        expect((await store.verify({ ledger: "b" })).events).toEqual(2);
      }),
    );
  });

  describe(`${under.name}: watching`, () => {
    it(
      "reports every head, its own commits and others', and ends with its signal",
      run(async (store, open) => {
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
      }),
    );
    it(
      "ends when the store is closed",
      run(async (_, open) => {
        const store = await open();
        const watching = collect(store.watchAll(new AbortController().signal));
        await store.append([{ ledger: "l", events: [event(1)] }]);
        await sleep(20);
        await store.close();
        store.close = async () => {};
        expect(await watching).toEqual([{ ledger: "l", seq: 1 }]);
      }),
    );
  });

  leaseConformance(under.name, run, { describe, it, expect });
}

export function event(n: number, more: Partial<EventInput> = {}): EventInput {
  return { type: "t.happened", actor: "me", data: { n }, ...more };
}

export async function all(store: Store, ledger: string, opts?: Parameters<Store["read"]>[1]): Promise<StoredEvent[]> {
  return collect(store.read(ledger, opts));
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const one of items) list.push(one);
  return list;
}

export function seqs(events: StoredEvent[]): number[] {
  return events.map((one) => one.seq);
}

export async function failure(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return undefined;
}

/** "ok", or the code of the error. */
export async function code(promise: Promise<unknown>): Promise<string> {
  const error = await failure(promise);
  if (error === undefined) return "ok";
  if (!isHoldfastError(error)) throw error;
  return error.code;
}

export function isLease(answer: Lease | { held: unknown }): answer is Lease {
  return "epoch" in answer;
}
