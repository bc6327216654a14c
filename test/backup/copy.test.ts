// A whole store copied into another: exactly, once, and only where the target has no other past.
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { copyAllLedgers } from "../../src/backup/copy-store.ts";
import { openContexts } from "../../src/contexts/open.ts";
import type { Store, StoredEvent } from "../../src/ledger/store.ts";
import { contentsOf, fill, openStoreOf, STORES, stopServers } from "./world.ts";

afterAll(stopServers);

const KINDS = Object.keys(STORES);
const pairs = KINDS.flatMap((from) => KINDS.map((to) => [from, to] as const));

/** Everything but the store's own checksums. */
async function everything(store: Store): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const { summary, ...entry } of store.list()) {
    const events: Partial<StoredEvent>[] = [];
    for await (const { sum: _, ...event } of store.read(entry.ledger)) events.push(event);
    const { importing: _, ...rest } = (summary ?? {}) as Record<string, unknown>;
    found.push([entry, rest, events, await store.version(entry.ledger, "task:1")]);
  }
  return [...found, await store.due(Number.MAX_SAFE_INTEGER)];
}

describe.each(pairs)("a copy from %s to %s", (from, to) => {
  const both = async () => [await openStoreOf(from, onTestFinished), await openStoreOf(to, onTestFinished)] as const;

  it("has the same events, ids, times, versions, listings, wakes and values", async () => {
    const [source, target] = await both();
    const [id] = await fill(source, { contexts: 3, events: 6 });
    const wake = [
      { context: id!, agent: "lead", by: "cron", dueAt: 5_000 },
      { context: id!, agent: null, by: "jobs", dueAt: 6_000 },
    ];
    await source.append([{ ledger: id!, events: [], summary: { title: "renamed" } }], { wake });
    const wanted = await everything(source);
    const report = await copyAllLedgers({ from: source, to: target });
    expect(await everything(target)).toEqual(wanted);
    expect(report).toMatchObject({ contexts: 3, ledgers: 4, already: 0, wakes: 2 });
    expect(await (await (await openContexts({ store: target })).get(id!)).read("long")).toHaveLength(20_000);
    expect(await everything(source)).toEqual(wanted); // only read
  });

  it("made again brings only what is new: events, listings, wakes that went", async () => {
    const [source, target] = await both();
    const [id] = await fill(source, { contexts: 2, events: 6 });
    const wake = { context: id!, agent: "lead", by: "cron" };
    await source.append([{ ledger: id!, events: [] }], { wake: [{ ...wake, dueAt: 5_000 }] });
    const first = await copyAllLedgers({ from: source, to: target });
    await (await (await openContexts({ store: source })).get(id!)).share("more", 1);
    await source.append([{ ledger: id!, events: [] }], { wake: [{ ...wake, dueAt: null }] });
    const second = await copyAllLedgers({ from: source, to: target });
    expect([second.already, second.events]).toEqual([first.events, first.events + 1]);
    expect(await everything(target)).toEqual(await everything(source));
  });

  it("is refused where the target has another past, and nothing is copied", async () => {
    const [source, target] = await both();
    await fill(source, { contexts: 1, events: 6 });
    const other = { type: "task.created", actor: "somebody", data: { n: 2 } };
    await target.append([{ ledger: "board", events: [other] }]);
    const before = await contentsOf(target);
    await expect(copyAllLedgers({ from: source, to: target })).rejects.toMatchObject({
      code: "refused",
      message: expect.stringContaining("another past of board"),
    });
    expect(await contentsOf(target)).toEqual(before);
  });
});

describe("a copy", () => {
  it("is refused while somebody works in the source, and to itself", async () => {
    const source = await openStoreOf("sqlite", onTestFinished);
    const target = await openStoreOf("sqlite", onTestFinished);
    const [id] = await fill(source, { contexts: 1, events: 4 });
    const lease = await source.leases.acquire(`agent:${id}/lead`);
    await expect(copyAllLedgers({ from: source, to: target })).rejects.toMatchObject({ code: "held" });
    if (!("held" in lease)) await lease.release();
    await expect(copyAllLedgers({ from: source, to: source })).rejects.toMatchObject({ code: "invalid" });
    expect((await copyAllLedgers({ from: source, to: target })).contexts).toEqual(1);
  });
});
