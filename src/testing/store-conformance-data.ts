// Owns the part of the suite about what stands beside events: blobs, wakes, snapshots, lists, verification.
import { blobHash } from "../ledger/checksum.ts";
import type { Store } from "../ledger/store.ts";
import { all, collect, event, type Framework, type Run, seqs } from "./store-conformance-steps.ts";

export function dataConformance(name: string, run: Run, { describe, it, expect }: Framework): void {
  describe(`${name}: blobs, wakes, snapshots, lists`, () => {
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
      "loads the snapshots that are asked for, and no others",
      run(async (store) => {
        await store.append([{ ledger: "l", events: [event(1), event(2)] }]);
        const saved = new Map<string, unknown>([
          ["f@1", { list: ["ü"] }],
          ["g@1", 3],
        ]);
        await store.snapshots("l").save(2, saved);
        expect(await store.snapshots("l").load(["f@1", "g@1"])).toEqual(
          new Map([...saved].map(([key, state]) => [key, { seq: 2, state }])),
        );
        expect([await store.snapshots("l").load(["f@2"]), await store.snapshots("m").load(["f@1"])]).toEqual([
          new Map(),
          new Map(),
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
      "keeps the keys of a summary that a later one does not name",
      run(async (store) => {
        const summaries = async () => (await collect(store.list())).map((one) => one.summary);
        await store.append([{ ledger: "l", events: [event(1)], summary: { title: "A", open: true } }]);
        await store.append([{ ledger: "l", events: [event(2)], summary: { open: false, ttlMs: 5 } }]);
        expect(await summaries()).toEqual([{ title: "A", open: false, ttlMs: 5 }]);
        await store.append([{ ledger: "l", events: [event(3)], summary: "other" }]);
        expect(await summaries()).toEqual(["other"]);
      }),
    );
    it(
      "keeps the time of a copied event",
      run(async (store) => {
        const [copied] = await store.append([{ ledger: "l", events: [event(1, { at: 1234 })] }]);
        expect([copied!.at, (await all(store, "l"))[0]!.at]).toEqual([1234, 1234]);
      }),
    );
    it(
      "collects ledgers that stand where they were seen, and blobs that no event names",
      run(async (store, open) => {
        const [own, shared, text, loose] = ["own", "shared", "text", "loose"].map((one) => Buffer.from(one.repeat(50)));
        const name = (...blobs: Buffer[]) => ({ data: { hashes: blobs.map(blobHash) } });
        await store.append([{ ledger: "old", events: [event(1, name(own!, shared!))] }], { blobs: [own!, shared!] });
        await store.append([{ ledger: "young", events: [event(1, name(shared!))] }], { blobs: [shared!, loose!] });
        await store.append([{ ledger: "young", events: [event(2, { data: `see blob:${blobHash(text!)}.` })] }], {
          blobs: [text!],
        });
        const there = async (at: Store) =>
          Promise.all([own, shared, text, loose].map(async (one) => (await at.blob(blobHash(one!))) !== undefined));
        const plan = { remove: [{ ledger: "old", head: 1 }] };
        const would = await store.collect({ ...plan, dryRun: true });
        expect([would.ledgers.map((one) => [one.ledger, one.events]), would.blobs]).toEqual([[["old", 1]], 2]);
        expect(await there(store)).toEqual([true, true, true, true]);
        const loosened = await store.collect({ dryRun: true });
        expect(
          await store.collect({
            remove: [
              { ledger: "old", head: 7 },
              { ledger: "never", head: 1 },
            ],
          }),
        ).toEqual({
          ledgers: [],
          blobs: 1,
          bytes: loosened.bytes,
        });
        expect((await store.collect(plan)).ledgers).toEqual(would.ledgers);
        const other = await open();
        expect([await there(other), await other.head("old"), await other.head("young")]).toEqual([
          [false, true, true, false],
          0,
          2,
        ]);
        expect((await other.verify()).damage).toEqual([]);
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
}
