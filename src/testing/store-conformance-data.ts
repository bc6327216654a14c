// The part of the suite about what stands beside events: blobs, wakes, snapshots, lists, verification.
import { blobHash } from "../ledger/checksum.ts";
import type { Store, Wake } from "../ledger/store.ts";
import { all, type ConformanceTests, code, collect, event, first, seqs } from "./store-conformance-steps.ts";

const tests: ConformanceTests = {
  "keeps blobs of any size by their hash": async ({ store, expect }) => {
    const noise = Buffer.from(Array.from({ length: 1_500_000 }, (_, i) => (i * 7919 + (i >> 3) * 104729) & 255));
    const blobs = [Buffer.alloc(0), Buffer.from("small"), Buffer.alloc(3_000_000, "abc"), noise];
    await store.append([{ ledger: "l", events: [event(1)] }], { blobs });
    await store.append([{ ledger: "l", events: [event(2)] }], { blobs });
    for (const bytes of blobs) {
      const kept = await store.blob(blobHash(bytes));
      expect(kept && blobHash(kept)).toEqual(blobHash(bytes));
    }
    expect([await store.blob(blobHash(Buffer.from("never"))), await store.blob("nonsense")]).toEqual([
      undefined,
      undefined,
    ]);
  },
  "keeps one wake for each context, agent and mechanism, in order of time, until it is cleared": async ({
    store,
    expect,
  }) => {
    const wake = (agent: string | null, dueAt: number, more: Partial<Wake> = {}): Wake => ({
      ...{ context: "ctx", agent, by: "t", dueAt },
      ...more,
    });
    const team = wake(null, 12);
    const elsewhere = wake("a/b:c", 15, { context: "other:ü" });
    const late = wake("c", 30);
    const [soon, own, others] = [wake("b", 20), wake("a", 10), wake("a", 11, { by: "other" })];
    const set = [soon, own, others, late, team, elsewhere];
    await store.append([{ ledger: "l", events: [event(1)] }], { wake: set });
    expect(await store.due(20)).toEqual([own, others, team, elsewhere, soon]);
    await store.append([{ ledger: "l", events: [event(2)] }], {
      wake: [{ ...own, dueAt: null }, wake("b", 50), { ...team, dueAt: null }, { ...elsewhere, dueAt: null }],
    });
    expect([await store.due(40), await store.due(9)]).toEqual([[others, late], []]);
    for (const wrong of [wake("", 1), wake("a", 1, { by: "" }), wake("a", 1, { context: "" }), wake("a", 0.5)])
      expect(await code(store.append([{ ledger: "l", events: [event(3)] }], { wake: [wrong] }))).toEqual("invalid");
    expect(await store.head("l")).toEqual(2);
  },
  "loads the snapshots that are asked for, and no others": async ({ store, expect }) => {
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
  },
  "keeps no snapshot of a past that is gone": async ({ store, expect }) => {
    const events = await store.append([{ ledger: "l", events: [event(1), event(2)] }]);
    const load = async () => [...(await store.snapshots("l").load(["f@1"])).values()];
    await store.snapshots("l").save(2, new Map([["f@1", "of another"]]), first(events).sum);
    expect(await load()).toEqual([]);
    await store.snapshots("l").save(2, new Map([["f@1", "its own"]]), events[1]?.sum);
    expect(await load()).toEqual([{ seq: 2, state: "its own" }]);
  },
  "lists ledgers with their summaries, and forgets a removed one": async ({ store, expect }) => {
    const { at: before } = first(await store.append([{ ledger: "clock", events: [event(0)] }]));
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
    const names = ["1", "2", "3", "4", "5", "6"].map((n) => `order/${n}`);
    for (const ledger of names) await store.append([{ ledger, events: [event(1)], summary: {} }]);
    const ordered = (await collect(store.list({ prefix: "order/" }))).sort((a, b) => a.updatedAt - b.updatedAt);
    expect(ordered.map(({ ledger }) => ledger)).toEqual(names);
    expect(new Set(ordered.map(({ updatedAt }) => updatedAt)).size).toEqual(names.length); // also within a millisecond
    for (const ledger of names) await store.remove(ledger);
    await store.remove("ctx/a");
    await store.remove("never was");
    expect([await store.head("ctx/a"), await all(store, "ctx/a"), (await collect(store.list())).length]).toEqual([
      0,
      [],
      3,
    ]);
    expect(
      seqs(
        await store.append([
          { ledger: "ctx/a", events: [event(9, { id: "again", touches: ["x"] })], expect: { x: 0 } },
        ]),
      ),
    ).toEqual([1]);
  },
  "lists by name, from where one was left off, so many at a time": async ({ store, expect }) => {
    const names = ["b", "a/2", "a/1", "a/ü", "a/10", "a", "c", "a/🦀", "a/ﬀ"];
    for (const ledger of names) await store.append([{ ledger, events: [event(1)] }]);
    const list = async (opts?: Parameters<Store["list"]>[0]) =>
      (await collect(store.list(opts))).map((one) => one.ledger);
    // The order of UTF-8 bytes, which is not that of JavaScript's strings.
    const inA = ["a/1", "a/10", "a/2", "a/ü", "a/ﬀ", "a/🦀"];
    expect(await list()).toEqual(["a", ...inA, "b", "c"]);
    expect([await list({ limit: 2 }), await list({ after: "a/ﬀ" }), await list({ after: "c" })]).toEqual([
      ["a", "a/1"],
      ["a/🦀", "b", "c"],
      [],
    ]);
    const paged: string[] = [];
    for (let page = await list({ prefix: "a/", limit: 2 }); page.length > 0; ) {
      paged.push(...page);
      page = await list({ prefix: "a/", limit: 2, after: page.at(-1) });
    }
    expect([paged, await list({ prefix: "a/", after: "a/15", limit: 1 }), await list({ limit: 0 })]).toEqual([
      inA,
      ["a/2"],
      [],
    ]);
  },
  "lists more ledgers than one page of them, each once": async ({ store, expect }) => {
    const names = Array.from({ length: 1_203 }, (_, i) => `many/${String(i).padStart(5, "0")}`);
    for (let i = 0; i < names.length; i += 200)
      await store.append(names.slice(i, i + 200).map((ledger) => ({ ledger, events: [event(i)] })));
    expect((await collect(store.list({ prefix: "many/" }))).map((one) => one.ledger)).toEqual(names);
  },
  "keeps the keys of a summary that a later one does not name": async ({ store, expect }) => {
    const summaries = async () => (await collect(store.list())).map((one) => one.summary);
    await store.append([{ ledger: "l", events: [event(1)], summary: { title: "A", open: true } }]);
    await store.append([{ ledger: "l", events: [event(2)], summary: { open: false, ttlMs: 5 } }]);
    expect(await summaries()).toEqual([{ title: "A", open: false, ttlMs: 5 }]);
    await store.append([{ ledger: "l", events: [event(3)], summary: "other" }]);
    expect(await summaries()).toEqual(["other"]);
  },
  "lists a copied ledger with the times that it is given": async ({ store, expect }) => {
    const listed = { createdAt: 1234, updatedAt: 5678 };
    await store.append([{ ledger: "copied", events: [event(1)], summary: { importing: true } }]);
    await store.append([{ ledger: "copied", events: [event(2)], summary: { title: "t" }, listed }]);
    const [copied] = await collect(store.list({ prefix: "copied" }));
    expect(copied).toEqual({ ledger: "copied", head: 2, ...listed, summary: { importing: true, title: "t" } });
    await store.append([{ ledger: "copied", events: [event(3)], summary: { title: "u" } }]);
    const [later] = await collect(store.list({ prefix: "copied" }));
    expect([later?.createdAt, (later?.updatedAt ?? 0) > 5678]).toEqual([1234, true]);
  },
  "keeps the time of a copied event": async ({ store, expect }) => {
    const copied = await store.append([{ ledger: "l", events: [event(1, { at: 1234 })] }]);
    expect([...copied, ...(await all(store, "l"))].map(({ at }) => at)).toEqual([1234, 1234]);
  },
  "collects ledgers that stand where they were seen, and blobs that no event names": async ({
    store,
    open,
    expect,
  }) => {
    const bytes = (one: string) => Buffer.from(one.repeat(50));
    const [own, shared, text, loose] = [bytes("own"), bytes("shared"), bytes("text"), bytes("loose")];
    const name = (...blobs: Buffer[]) => ({ data: { hashes: blobs.map(blobHash) } });
    await store.append([{ ledger: "old", events: [event(1, name(own, shared))] }], { blobs: [own, shared] });
    await store.append([{ ledger: "young", events: [event(1, name(shared))] }], { blobs: [shared, loose] });
    await store.append([{ ledger: "young", events: [event(2, { data: `see blob:${blobHash(text)}.` })] }], {
      blobs: [text],
    });
    const there = async (at: Store) =>
      Promise.all([own, shared, text, loose].map(async (one) => (await at.blob(blobHash(one))) !== undefined));
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
      held: [],
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
  },
  "collects no ledger of which somebody holds a lease; wakes and leases go with what goes, blobs wait when told":
    async ({ store, open, expect }) => {
      const other = await open();
      const bytes = Buffer.from("value ".repeat(30));
      for (const ledger of ["busy", "idle", "idler"]) {
        const wake = [{ context: ledger, agent: "a", by: "test", dueAt: 5 }];
        await store.append([{ ledger, events: [event(1, { data: blobHash(bytes) })] }], { blobs: [bytes], wake });
        const lease = await other.leases.acquire(`agent:${ledger}/a`);
        if ("held" in lease) throw new Error("nobody else is here");
        if (ledger !== "busy") await lease.release();
      }
      const remove = ["busy", "idle"].map((ledger) => ({ ledger, head: 1, leases: `agent:${ledger}/` }));
      const would = await store.collect({ remove, blobs: false, dryRun: true });
      const done = await store.collect({ remove, blobs: false });
      for (const one of [would, done])
        expect([one.ledgers.map((gone) => gone.ledger), one.held.map((kept) => kept.ledger), one.blobs]).toEqual([
          ["idle"],
          ["busy"],
          0,
        ]);
      expect([await store.head("idle"), await store.head("busy")]).toEqual([0, 1]);
      expect((await other.due(5)).map((wake) => wake.context).sort()).toEqual(["busy", "idler"]);
      // Held or not, a lease of what is gone begins anew, and one whose name only looks alike is another's.
      const taken = await Promise.all(["idle", "idler"].map((one) => other.leases.acquire(`agent:${one}/a`)));
      expect(taken.map((lease) => "term" in lease && lease.term)).toEqual([1, 2]);
      await store.remove("idler");
      expect((await other.due(5)).map((wake) => wake.context)).toEqual(["busy"]);
      expect([(await store.collect({ remove: [{ ledger: "busy", head: 1 }] })).blobs, await other.due(5)]).toEqual([
        1,
        [],
      ]);
      expect((await store.verify()).damage).toEqual([]);
    },
  "keeps a blob as long as any ledger names it, however it is named": async ({ store, open, expect }) => {
    const blobs = ["a", "b", "c", "d"].map((one) => Buffer.from(one.repeat(60)));
    const [a = "", b = "", c = "", d = ""] = blobs.map(blobHash);
    await store.append([{ ledger: "one", events: [event(1, { data: { a, b, c, d } })] }], { blobs });
    // Only named, by another process: in a key, behind other digits, inside a text that a mechanism wrote.
    const other = await open();
    await other.append([
      { ledger: "two", events: [event(1, { data: { [a]: 1 } }), event(2, { data: `0123abc${b}456` })] },
      { ledger: "three", events: [event(1, { data: ["x", [`see blob:${c}.`]] })] },
    ]);
    const there = async () => Promise.all(blobs.map(async (one) => (await store.blob(blobHash(one))) !== undefined));
    await store.remove("one");
    expect([(await store.collect()).blobs, await there()]).toEqual([1, [true, true, true, false]]);
    await store.remove("two");
    expect([(await other.collect()).blobs, await there()]).toEqual([2, [false, false, true, false]]);
    expect([(await store.collect()).blobs, (await store.verify()).damage]).toEqual([0, []]);
  },
  "names a blob that stands in long rows of digits": async ({ store, expect }) => {
    const bytes = Buffer.from("kept ".repeat(30));
    const digits = `${"0123456789abcdef".repeat(200)}${blobHash(bytes)}${"fedc".repeat(100)}`;
    await store.append([{ ledger: "l", events: [event(1, { data: { digits } })] }], { blobs: [bytes] });
    await store.append([{ ledger: "l", events: [event(2)] }]);
    expect([(await store.collect()).blobs, (await store.collect()).blobs]).toEqual([0, 0]);
    await store.append([{ ledger: "l", events: [event(3)] }]);
    await store.remove("l");
    expect((await store.collect()).blobs).toEqual(1);
  },
  "takes no blob from under an append, however often it is collected meanwhile": async ({ store, open, expect }) => {
    const other = await open();
    const bytes = Array.from({ length: 60 }, (_, i) => Buffer.from(`blob ${i} `.repeat(40)));
    let appending = true;
    const collecting = (async () => {
      let rounds = 0;
      for (; appending; rounds++) await other.collect({ remove: [{ ledger: `gone${rounds}`, head: 1 }] });
      return rounds;
    })();
    for (const [i, one] of bytes.entries()) {
      const data = { at: blobHash(one) };
      // The same bytes come and go with other ledgers.
      await store.append([{ ledger: `gone${i}`, events: [event(i, { data })] }], { blobs: [one] });
      await store.append([{ ledger: "l", events: [event(i, { data })] }], { blobs: [one] });
    }
    appending = false;
    const rounds = await collecting;
    const missing = [];
    for (const one of bytes) if ((await store.blob(blobHash(one))) === undefined) missing.push(blobHash(one));
    expect([rounds > 0, missing, (await store.verify()).damage]).toEqual([true, [], []]);
  },
  "verifies clean, and changes nothing by it": async ({ store, expect }) => {
    await store.append([{ ledger: "a", events: [event(1, { touches: ["x"] })] }], {
      blobs: [Buffer.from("b")],
      wake: [{ context: "a", agent: "w", by: "t", dueAt: 1 }],
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
  },
};

export const DATA_TESTS = { "blobs, wakes, snapshots, lists": tests };
