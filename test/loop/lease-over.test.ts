// A lease that runs out by its holder's own clock, with the store back at that very moment: nothing is said or begun under it any more.
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openRedisStore } from "../../src/ledger/redis/index.ts";
import type { Store, StoredEvent } from "../../src/ledger/store.ts";
import { defineMechanism, type Mechanism } from "../../src/loop/seams.ts";
import { openHouse } from "../house.ts";
import { hasRedis, startRedis } from "../ledger/redis-server.ts";
import { startProxy } from "../ledger/tcp-proxy.ts";

const LEASE_MS = 3_000;

/** A house on a store behind a proxy. The network is healed when the lease is lost: before anybody else can have it. */
async function houseThatLosesItsLease(
  command: string,
  more: (cut: () => void, store: Store) => Partial<Mechanism> = () => ({}),
) {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const proxy = await startProxy(server.port);
  onTestFinished(() => proxy.close());
  const url = (port: number) => `redis://127.0.0.1:${port}/0?project=lost`;
  const store = await openRedisStore(url(proxy.port), { leaseMs: LEASE_MS });
  const sound = await openRedisStore(url(server.port), { leaseMs: LEASE_MS });
  onTestFinished(() => sound.close());
  onTestFinished(() => store.close());
  const lost = Promise.withResolvers<void>();
  const watching = defineMechanism({
    ...more(() => proxy.cut(), store),
    name: "watching",
    leaseLost() {
      proxy.heal();
      lost.resolve();
    },
  });
  const house = await openHouse(
    ({ body }) =>
      JSON.stringify(body.messages).includes("tool_call_id")
        ? { text: "looked" }
        : { calls: [{ name: "bash", input: { command } }] },
    { store, mechanisms: [watching] },
  );
  onTestFinished(() => house.close());
  const events = async (context: string) => {
    const all: StoredEvent[] = [];
    for await (const event of sound.read(context)) all.push(event);
    return all;
  };
  const types = async (context: string) => (await events(context)).map(({ type }) => type);
  const outlive = async (context: string) => {
    while (((await sound.leases.inspect(`agent:${context}/lead`))?.expiresInMs ?? 0) > 0) await sleep(20);
  };
  return { house, proxy, sound, lost: lost.promise, events, types, outlive };
}

const codeOf = (result: Promise<unknown>): Promise<unknown> =>
  result.then(
    () => "ok",
    ({ code }) => code,
  );

test.runIf(hasRedis())(
  "nobody is told that the user interrupted a command: it runs on, its turn stays open, and the next holder adopts it",
  async () => {
    const it = await houseThatLosesItsLease("touch begun; until [ -e go ]; do sleep 0.1; done; echo it is done");
    const run = await it.house.harness.run("go");
    while (!fs.existsSync(path.join(it.house.root, "begun"))) await sleep(20);
    it.proxy.cut();
    expect(await codeOf(run.result)).toBe("fenced");
    await run.taken.release();
    const types = await it.types(run.context);
    expect(types.filter((type) => type === "tool.finished" || type === "turn.ended")).toEqual([]);
    fs.writeFileSync(path.join(it.house.root, "go"), "");
    await it.outlive(run.context);
    const next = await it.house.again({ store: it.sound });
    const again = await next.run(undefined, { context: run.context });
    await again.result;
    await again.taken.release();
    const { data } = (await it.events(run.context)).find(({ type }) => type === "tool.finished")!;
    expect(data).toMatchObject({ resumed: "adopted", isError: false, ran: { status: "completed", exitCode: 0 } });
    await next.close();
  },
);

test.runIf(hasRedis())(
  "what was not begun before is not begun after, though the store would still take it",
  async () => {
    const lost = Promise.withResolvers<void>();
    const effect = path.join("made", "here");
    const it = await houseThatLosesItsLease(`mkdir made; echo once >> ${effect}`, (cut, store) => ({
      async beforeEffect() {
        cut();
        await lost.promise;
        await store.head("any"); // it answers again
      },
    }));
    it.lost.then(lost.resolve);
    const run = await it.house.harness.run("go");
    expect(await codeOf(run.result)).toBe("fenced");
    await run.taken.release();
    expect(await it.types(run.context)).not.toContain("tool.started");
    expect(fs.existsSync(path.join(it.house.root, effect))).toBe(false);
  },
);
