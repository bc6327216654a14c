// What a network does to a store: lost answers, hanging, cut and reset connections. The server is real, a proxy stands before it.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { blobHash } from "../../src/ledger/checksum.ts";
import { isHoldfastError } from "../../src/ledger/error.ts";
import { openRedisStore } from "../../src/ledger/redis/index.ts";
import type { Lease, Store } from "../../src/ledger/store.ts";
import { hasRedis, type RedisServer, startRedis } from "./redis-server.ts";
import { startProxy, type TcpProxy } from "./tcp-proxy.ts";

const event = (n: number, more: object = {}) => ({ type: "t.happened", actor: "me", data: { n }, ...more });

const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "ok",
    (error) => (isHoldfastError(error) ? error.code : String(error)),
  );

async function take(store: Store, name = "agent:x"): Promise<Lease> {
  const answer = await store.leases.acquire(name);
  if ("held" in answer) throw new Error(`${name} is held`);
  return answer;
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const one of items) list.push(one);
  return list;
}

describe.runIf(hasRedis())("a Redis store behind a network that fails", () => {
  let server: RedisServer;
  let proxy: TcpProxy;
  let project = 0;
  const opened: Store[] = [];

  /** Through the proxy. */
  const open = async (opts: { leaseMs?: number } = {}) => {
    const store = await openRedisStore(`redis://127.0.0.1:${proxy.port}/0?project=n${project}`, opts);
    opened.push(store);
    return store;
  };
  /** As another machine, whose network is sound. */
  const openElsewhere = async (opts: { leaseMs?: number } = {}) => {
    const store = await openRedisStore(server.url(`n${project}`), opts);
    opened.push(store);
    return store;
  };

  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    project++;
    proxy = await startProxy(server.port);
  });
  afterEach(async () => {
    proxy.heal();
    for (const store of opened.splice(0)) await store.close();
    await proxy.close();
  });

  it("records a batch once when the answer was lost after the commit, and gives it back", async () => {
    const store = await open();
    await store.append([{ ledger: "l", events: [event(1)] }]);
    const dropped = proxy.dropNextAnswer();
    const events = await store.append([{ ledger: "l", events: [event(2), event(3)] }]);
    await dropped;
    expect(events.map(({ seq, data }) => [seq, data])).toEqual([
      [2, { n: 2 }],
      [3, { n: 3 }],
    ]);
    expect((await all(store.read("l"))).slice(1)).toEqual(events);
  });

  it("records once under a guard that would refuse the second time", async () => {
    const store = await open();
    const dropped = proxy.dropNextAnswer();
    const write = { ledger: "l", events: [event(1, { touches: ["x"] })], expect: { x: 0 } };
    expect(await codeOf(store.append([write]))).toEqual("ok");
    await dropped;
    expect([await store.head("l"), await store.version("l", "x")]).toEqual([1, 1]);
  });

  it("does what has no events once too: what others wrote meanwhile stays", async () => {
    const store = await open();
    const other = await openElsewhere();
    await store.append([{ ledger: "l", events: [event(1)] }]);
    const dropped = proxy.dropNextAnswer();
    const setting = store.append([{ ledger: "l", events: [], summary: { title: "A" } }]);
    await dropped;
    await other.append([{ ledger: "l", events: [], summary: { title: "B" } }]);
    await setting;
    expect((await all(other.list())).map(({ summary }) => summary)).toEqual([{ title: "B" }]);
  });

  it("takes, renews and gives back a lease once, though each answer is lost", async () => {
    const store = await open();
    let dropped = proxy.dropNextAnswer();
    await store.head("l");
    await dropped;
    const taking = take(store);
    const lease = await taking;
    const other = await openElsewhere();
    for (const step of [lease.renew, lease.renew]) {
      dropped = proxy.dropNextAnswer();
      expect(await step()).toEqual(true);
      await dropped;
    }
    expect((await other.leases.inspect("agent:x"))?.term).toEqual(1);
    dropped = proxy.dropNextAnswer();
    await lease.release();
    await dropped;
    expect(await other.leases.inspect("agent:x")).toEqual(undefined);
    expect((await take(other)).term).toEqual(2);
  });

  it("says unreachable of an append under a lease before the lease is over, and goes on when the network does", async () => {
    const store = await open({ leaseMs: 1_500 });
    const other = await openElsewhere({ leaseMs: 1_500 });
    const lease = await take(store);
    const { name, term, token } = lease;
    proxy.hang();
    const write = [{ ledger: "l", events: [event(1, { id: "a" })] }];
    expect(await codeOf(store.append(write, { lease: { name, term, token } }))).toEqual("unreachable");
    expect((await other.leases.inspect("agent:x"))?.expiresInMs).toBeGreaterThan(0);
    proxy.heal();
    expect(await lease.renew()).toEqual(true);
    expect(await codeOf(store.append(write, { lease: { name, term, token } }))).toEqual("ok");
    expect(await other.head("l")).toEqual(1);
  });

  it("tells a holder that it has lost its lease before another may take it, though nobody answers", async () => {
    const store = await open({ leaseMs: 1_200 });
    const other = await openElsewhere({ leaseMs: 1_200 });
    const lease = await take(store);
    let losses = 0;
    const lost = new Promise<number | undefined>((resolve) => {
      lease.keep(() => {
        losses++;
        void other.leases.inspect("agent:x").then((held) => resolve(held?.expiresInMs));
      });
    });
    await sleep(800); // renewed at least once
    proxy.hang();
    expect(await lost).toBeGreaterThan(0);
    proxy.heal();
    await sleep(600);
    expect(losses).toEqual(1);
  });

  it("keeps a lease through a short break", async () => {
    const store = await open({ leaseMs: 1_500 });
    const lease = await take(store);
    let losses = 0;
    const stop = lease.keep(() => losses++);
    for (let i = 0; i < 4; i++) {
      proxy.cut();
      await sleep(150);
      proxy.heal();
      await sleep(400);
    }
    stop();
    expect([losses, await lease.renew()]).toEqual([0, true]);
  });

  it("puts a blob whole though the connection is reset inside it", async () => {
    const store = await open();
    const bytes = randomBytes(3_000_000);
    proxy.resetAfter(1_500_000);
    await store.append([{ ledger: "l", events: [event(1, { data: blobHash(bytes) })] }], { blobs: [bytes] });
    const kept = await store.blob(blobHash(bytes));
    expect([kept && blobHash(kept), proxy.made > 1]).toEqual([blobHash(bytes), true]);
    expect((await store.verify()).damage).toEqual([]);
  });

  it("misses no last commit over a reconnection", async () => {
    const store = await open();
    const other = await openElsewhere();
    const stop = new AbortController();
    const seen = new Map<string, number>();
    const watching = (async () => {
      for await (const { ledger, seq } of store.watchAll(stop.signal)) seen.set(ledger, seq);
    })();
    await other.append([{ ledger: "a", events: [event(1)] }]);
    const until = async (done: () => boolean) => {
      for (let i = 0; i < 500 && !done(); i++) await sleep(10);
    };
    await until(() => seen.get("a") === 1);
    for (let i = 0; i < 3; i++) {
      proxy.cut();
      await other.append([{ ledger: "a", events: [event(2)] }]);
      await other.append([{ ledger: `b${i}`, events: [event(1)] }]);
      proxy.heal();
      await until(() => seen.get(`b${i}`) === 1 && seen.get("a") === i + 2);
    }
    stop.abort();
    await watching;
    expect(Object.fromEntries(seen)).toEqual({ a: 4, b0: 1, b1: 1, b2: 1 });
  });

  it("finds out by itself that the connection that watches has died without a word", async () => {
    const store = await open({ leaseMs: 1_500 });
    const other = await openElsewhere();
    const stop = new AbortController();
    const watching = store.watchAll(stop.signal)[Symbol.asyncIterator]();
    await other.append([{ ledger: "a", events: [event(1)] }]);
    expect(await watching.next()).toEqual({ done: false, value: { ledger: "a", seq: 1 } });
    proxy.hang();
    await other.append([{ ledger: "a", events: [event(2)] }]);
    const next = watching.next();
    await sleep(100); // what was told meanwhile is lost
    proxy.heal();
    expect(await next).toEqual({ done: false, value: { ledger: "a", seq: 2 } });
    stop.abort();
  });

  it("takes no large blob from under an append, which puts it before, however often it is collected meanwhile", async () => {
    const store = await open();
    const other = await openElsewhere();
    const blobs = Array.from({ length: 12 }, () => randomBytes(600_000));
    let appending = true;
    const collecting = (async () => {
      for (let n = 0; appending; n++) await other.collect({ remove: [{ ledger: `gone${n % 12}`, head: 1 }] });
    })();
    for (const [i, bytes] of blobs.entries()) {
      const events = [event(i, { data: { at: blobHash(bytes) } })];
      await store.append([{ ledger: `gone${i}`, events }], { blobs: [bytes] });
      await store.append([{ ledger: "l", events }], { blobs: [bytes] });
    }
    appending = false;
    await collecting;
    const kept = await Promise.all(blobs.map((bytes) => store.blob(blobHash(bytes))));
    expect(kept.map((bytes) => bytes && blobHash(bytes))).toEqual(blobs.map(blobHash));
    expect((await store.verify()).damage).toEqual([]);
  });

  it("reads on through cut connections", async () => {
    const store = await open();
    const other = await openElsewhere();
    await other.append([{ ledger: "l", events: Array.from({ length: 900 }, (_, n) => event(n)) }]);
    const seqs: number[] = [];
    for await (const { seq } of store.read("l")) {
      seqs.push(seq);
      if (seq % 200 === 0) {
        proxy.cut();
        proxy.heal();
      }
    }
    expect(seqs).toEqual(Array.from({ length: 900 }, (_, i) => i + 1));
  });

  it("goes on after the server was killed and started again, with all that was acknowledged", async () => {
    const store = await open();
    let acknowledged = 0;
    let going = true;
    const writing = (async () => {
      while (going) {
        const [one] = await store.append([{ ledger: "l", events: [event(acknowledged)] }]);
        acknowledged = one?.seq ?? 0;
      }
    })();
    for (let i = 0; i < 2; i++) {
      await sleep(200);
      await server.kill();
      await server.start();
    }
    await sleep(200);
    going = false;
    await writing;
    expect([await store.head("l"), (await store.verify()).damage]).toEqual([acknowledged, []]);
    expect((await all(store.read("l"))).map(({ data }) => data)).toEqual(
      Array.from({ length: acknowledged }, (_, n) => ({ n })),
    );
  });
});
