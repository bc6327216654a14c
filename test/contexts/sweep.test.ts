// Contexts whose time has passed go with whoever has the store open: a few at a time, by one process at a time, and never what is in use.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openContexts, sweepExpired } from "../../src/contexts/index.ts";
import type { Store } from "../../src/ledger/store.ts";
import { big, openWorld, refusal, type World } from "./world.ts";

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.dispose());

const titles = async () => (await world.contexts.list()).map((one) => one.title).sort();

/** Blobs, wakes and leases that are there: what a removed context must not leave. */
async function left(store: Store) {
  const { ledgers, blobs, damage } = await store.verify();
  return { ledgers, blobs, damage, wakes: (await store.due(Number.MAX_SAFE_INTEGER)).length };
}

it("whoever closes the store takes what is past its time, and leaves what runs, is scheduled, forked, in use or has no time", async () => {
  const { contexts } = world;
  const made = (task: string, ttlMs?: number) => contexts.create({ task, ...(ttlMs === undefined ? {} : { ttlMs }) });
  const old = await made("old", 0);
  await old.share("value", big(5000));
  await old.checkpoint("c");
  const fork = await old.fork("c", { title: "fork" });
  await fork.configure({ ttlMs: null });
  await (await made("running", 0)).begin({ agent: "worker" });
  const later = await made("scheduled", 0);
  const wake = { context: later.id, agent: "lead", by: "cron", dueAt: Date.now() + 60_000 };
  await contexts.store.append([], { wake: [wake, { ...wake, context: old.id, dueAt: 5 }] });
  await made("young", 60_000);
  await made("no time");
  const [, used] = [await made("long ago", 0), await made("in use", 0)];

  const other = await world.again();
  await other.get(used.id);
  await other.close();
  expect(await titles()).toEqual(["fork", "in use", "no time", "running", "scheduled", "young"]);
  expect(await fork.read("value")).toEqual(big(5000));
  expect(await left(contexts.store)).toEqual({ ledgers: 6, blobs: 1, damage: [], wakes: 1 });

  // What the program says about those that say nothing.
  await (await openContexts({ file: world.file, ttlMs: 0 })).close();
  expect(await titles()).toEqual(["fork", "running", "scheduled", "young"]);
  expect((await refusal(openContexts({ store: contexts.store, ttlMs: 5 } as never))).message).toMatch(/ttlMs/);
});

it("one process sweeps at a time, and what it finds is bounded", async () => {
  const { contexts } = world;
  for (let i = 0; i < 120; i++) await contexts.create({ task: `t${i}`, ttlMs: 0 });
  const lease = await contexts.store.leases.acquire("sweep:contexts");
  if ("held" in lease) throw new Error("nobody else is here");
  expect(await sweepExpired(contexts.store)).toEqual([]);
  await lease.release();
  expect([(await sweepExpired(contexts.store)).length, (await titles()).length]).toEqual([50, 70]);
  expect([(await sweepExpired(contexts.store, { whole: true })).length, await titles()]).toEqual([70, []]);
});

it("in a store with many contexts all come to be looked at", async () => {
  const { contexts } = world;
  const { store } = contexts;
  const create = (i: number, ttlMs: number | null) => ({
    ledger: `ctx_${String(i).padStart(9, "0")}aa`,
    events: [{ type: "context.created", actor: "user", data: { root: "", title: "t", version: "t" } }],
    summary: { title: "t", ttlMs },
  });
  await store.append(Array.from({ length: 250 }, (_, i) => create(i, null)));
  await contexts.create({ task: "the last one", ttlMs: 0 });
  for (let i = 0; (await store.head("ctx_000000249aa")) > 0 && (await titles()).includes("the last one"); i++) {
    expect(i).toBeLessThan(200);
    await sweepExpired(store);
  }
  expect((await titles()).length).toEqual(250);
});

it.each(["collect.committed:2", "gc.batch:1", "gc.batch:2"])(
  "killed at %s, the next one ends the same",
  async (point) => {
    const { contexts } = world;
    for (let i = 0; i < 70; i++) {
      const context = await contexts.create({ task: `t${i}`, ttlMs: i < 66 ? 0 : 60_000 });
      if (i % 22 === 0) await context.share("value", big(5000, String(i)));
      const wake = { context: context.id, agent: null, by: "test", dueAt: 5 };
      await contexts.store.append([], { wake: [wake] });
    }
    const run = (how: string, env = {}) =>
      spawnSync(process.execPath, [join(import.meta.dirname, "children/sweeper.ts"), world.file, how], {
        env: { ...process.env, ...env },
        encoding: "utf8",
      });
    const killed = run("gc", { HOLDFAST_CRASH_AT: point });
    expect([killed.signal, killed.stdout]).toEqual(["SIGKILL", ""]);
    expect((await contexts.store.verify()).damage).toEqual([]);
    expect(run("gc").status).toEqual(0);
    expect([await titles(), await left(contexts.store)]).toEqual([
      ["t66", "t67", "t68", "t69"],
      { ledgers: 4, blobs: 1, damage: [], wakes: 4 },
    ]);
  },
);
