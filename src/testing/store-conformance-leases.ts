// The part of the suite about leases: fencing, renewal, release, expiry.
import { setTimeout as sleep } from "node:timers/promises";
import type { Fence, Lease, Store } from "../ledger/store.ts";
import { type ConformanceTests, code, event, isLease } from "./store-conformance-steps.ts";

const take = async (store: Store, lease = "agent:x"): Promise<Lease> => {
  const answer = await store.leases.acquire(lease);
  if (!isLease(answer)) throw new Error(`${lease} is held`);
  return answer;
};
const append = (store: Store, lease: Fence) =>
  code(
    store.append([{ ledger: "l", events: [event(1)] }], {
      lease: { name: lease.name, term: lease.term, token: lease.token },
    }),
  );

const tests: ConformanceTests = {
  "one holds it, another is told who, and a release hands it on under the next term": async ({
    store,
    open,
    expect,
  }) => {
    const other = await open();
    const lease = await take(store);
    const answer = await other.leases.acquire("agent:x");
    if (isLease(answer)) throw new Error("taken twice");
    const { expiresInMs, ...held } = answer.held;
    expect(held).toEqual({ holder: lease.holder, term: 1, alive: true, stopped: false });
    expect([expiresInMs > 0, (await other.leases.inspect("agent:x"))?.holder]).toEqual([true, lease.holder]);
    expect([await lease.renew(), await append(store, lease)]).toEqual([true, "ok"]);
    await lease.release();
    expect([await lease.renew(), await append(store, lease), await store.leases.inspect("agent:x")]).toEqual([
      false,
      "fenced",
      undefined,
    ]);
    const next = await take(other);
    expect([next.term, next.takenFrom]).toEqual([2, undefined]);
  },
  "refuses an append under an old term, or under a lease that nobody holds": async ({ store, expect }) => {
    expect(await append(store, { name: "agent:x", term: 1, token: "none" })).toEqual("fenced");
    const first = await take(store);
    await first.release();
    const second = await take(store);
    expect([await append(store, first), await append(store, second), await store.head("l")]).toEqual([
      "fenced",
      "ok",
      1,
    ]);
    await first.release();
    expect([await append(store, second), await second.renew()]).toEqual(["ok", true]);
  },
  "gives each who takes it a token of its own, and refuses the right term with another one": async ({
    store,
    expect,
  }) => {
    const first = await take(store);
    await first.release();
    const second = await take(store);
    const other = await take(store, "agent:y");
    expect(new Set([first.token, second.token, other.token]).size).toEqual(3);
    for (const token of [first.token, other.token, "", "guessed"])
      expect(await append(store, { name: "agent:x", term: second.term, token })).toEqual("fenced");
    expect([await append(store, second), await store.head("l")]).toEqual(["ok", 1]);
  },
  "gives one lease to one of many who ask at once": async ({ store, open, expect }) => {
    const other = await open();
    const answers = await Promise.all([store, other, store, other].map((one) => one.leases.acquire("agent:x")));
    expect(answers.filter(isLease).map((lease) => lease.term)).toEqual([1]);
  },
  "a holder that let its lease expire is replaced, and fenced from then on": async ({ open, expect }) => {
    const slow = await open({ leaseMs: 60 });
    const lease = await take(slow);
    await sleep(120);
    const next = await take(await open({ leaseMs: 60 }));
    expect([next.term, next.takenFrom, await lease.renew(), await append(slow, lease)]).toEqual([
      2,
      lease.holder,
      false,
      "fenced",
    ]);
  },
  "a renewed lease does not expire": async ({ open, expect }) => {
    const store = await open({ leaseMs: 150 });
    const lease = await take(store);
    for (let i = 0; i < 5; i++) {
      await sleep(60);
      await lease.renew();
    }
    expect(isLease(await (await open({ leaseMs: 150 })).leases.acquire("agent:x"))).toEqual(false);
  },
  "a kept lease is renewed in time, and its loss is told once": async ({ open, expect }) => {
    const lease = await take(await open({ leaseMs: 150 }));
    let losses = 0;
    const stop = lease.keep(() => losses++);
    await sleep(300);
    const other = await open({ leaseMs: 150 });
    expect([isLease(await other.leases.acquire("agent:x")), losses]).toEqual([false, 0]);
    await lease.release();
    await take(other);
    await sleep(200);
    stop();
    expect(losses).toEqual(1);
  },
  "never takes a person's terminal over, unless told to": async ({ open, expect }) => {
    const lease = await take(await open({ leaseMs: 30, interactive: true }));
    await sleep(60);
    const store = await open({ leaseMs: 30 });
    expect(isLease(await store.leases.acquire("agent:x"))).toEqual(false);
    const next = await store.leases.acquire("agent:x", { takeOverInteractive: true });
    expect(isLease(next) && [next.term, next.takenFrom]).toEqual([2, lease.holder]);
  },
};

export const LEASE_TESTS = { leases: tests };
