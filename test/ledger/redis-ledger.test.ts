// An open ledger over a server that is away for a while: nothing is folded that is not recorded, and nothing twice.
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import * as z from "zod";
import { createCodec } from "../../src/ledger/events.ts";
import { createFold } from "../../src/ledger/fold.ts";
import { openLedger } from "../../src/ledger/ledger.ts";
import { openRedisStore } from "../../src/ledger/redis/index.ts";
import type { Store } from "../../src/ledger/store.ts";
import { all, code, event } from "../../src/testing/store-conformance-steps.ts";
import { hasRedis, type RedisServer, startRedis } from "./redis-server.ts";
import { startProxy, type TcpProxy } from "./tcp-proxy.ts";

const events = { "t.happened": { v: 1, schema: () => z.strictObject({ n: z.number() }) } };
const seen = {
  version: 1,
  initial: () => [] as number[],
  apply: (list: number[], one: { data: unknown }) => [...list, (one.data as { n: number }).n],
};

describe.runIf(hasRedis())("an open ledger whose server hangs", () => {
  let server: RedisServer;
  let proxy: TcpProxy;
  let store: Store;
  let project = 0;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    proxy = await startProxy(server.port);
    store = await openRedisStore(`redis://127.0.0.1:${proxy.port}/0?project=p${++project}`, { leaseMs: 1_200 });
    onTestFinished(async () => {
      await store.close();
      await proxy.close();
    });
  });

  const open = () => openLedger({ store, name: "l", codec: createCodec([{ events }]), fold: createFold({ seen }) });
  const take = async () => {
    const lease = await store.leases.acquire("agent:x");
    if ("held" in lease) throw new Error("held");
    return { name: lease.name, term: lease.term, token: lease.token };
  };
  const recorded = async () => (await all(store, "l")).map(({ data }) => (data as { n: number }).n);

  it("drops what it could not make durable, stops its holder, and goes on from what is recorded", async () => {
    const ledger = await open();
    const lease = await take();
    await ledger.append([event(1)], { lease });
    await ledger.append([event(2)], { lease, durability: "deferred" });
    expect(ledger.state.slices.seen).toEqual([1, 2]);
    proxy.hang();
    expect(await code(ledger.durable(lease))).toEqual("unreachable");
    proxy.heal();
    await ledger.catchUp();
    expect([ledger.state.slices.seen, await recorded()]).toEqual([[1], [1]]);
    expect(await code(ledger.append([event(3)], { lease }))).toEqual("unreachable"); // its holder may not go on
    await ledger.append([event(4)]);
    expect([ledger.state.slices.seen, await recorded()]).toEqual([
      [1, 4],
      [1, 4],
    ]);
  });

  it("folds what was recorded though nobody said so, once", async () => {
    const ledger = await open();
    const lease = await take();
    await ledger.append([event(1)], { lease, durability: "deferred" });
    const dropped = proxy.dropNextAnswer();
    void dropped.then(() => proxy.hang());
    expect(await code(ledger.append([event(2)], { lease }))).toEqual("unreachable");
    proxy.heal();
    await ledger.catchUp();
    expect([ledger.state.slices.seen, await recorded()]).toEqual([
      [1, 2],
      [1, 2],
    ]);
  });
});
