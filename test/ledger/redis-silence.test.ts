// A server that is not there, and one that falls silent: how soon that is said, who waits for it, and since when nobody answered.
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { isHoldfastError } from "../../src/ledger/error.ts";
import { openRedisStore } from "../../src/ledger/redis/index.ts";
import { hasRedis, startRedis } from "./redis-server.ts";

/** A server that was there: its port is free, and nobody else listens on it. */
async function goneServer() {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  await server.kill();
  return server;
}

const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "ok",
    (error) => (isHoldfastError(error) ? error.code : String(error)),
  );

describe.runIf(hasRedis())("a Redis store whose server is not there", () => {
  it("is given up soon by who does not stay; who stays waits for it", async () => {
    const server = await goneServer();
    const url = server.url("p");
    const patient = openRedisStore(url, { patient: true });
    const begun = performance.now();
    const hasty = await codeOf(openRedisStore(url));
    const tookMs = Math.round(performance.now() - begun);
    console.log(`given up after ${tookMs} ms`);
    await server.start(); // behind the hasty one: had that waited as long, it would have found it
    const store = await patient;
    onTestFinished(() => store.close());
    expect([hasty, await store.head("x")]).toEqual(["unreachable", 0]);
  });

  it("is given up soon behind Sentinels that are not there either, and where its name is not known", async () => {
    const server = await goneServer();
    const late = sleep(3_000, "late", { ref: false });
    const soon = (url: string) => Promise.race([codeOf(openRedisStore(url)), late]);
    expect(
      await Promise.all([
        soon(`redis+sentinel://127.0.0.1:${server.port}/main?project=p`),
        soon("redis://nobody.invalid:6379/0?project=p"),
      ]),
    ).toEqual(["unreachable", expect.stringMatching(/unreachable|late/)]); // a resolver may say "try again"
  });

  it("is waited for where it was there before", async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    const store = await openRedisStore(server.url("p"));
    onTestFinished(() => store.close());
    await server.kill();
    const asked = codeOf(store.head("x"));
    await sleep(1_500);
    await server.start();
    expect(await asked).toBe("ok");
  });
});

it.runIf(hasRedis())("a store says since when its server has not answered, until it does", async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const store = await openRedisStore(server.url("p"));
  onTestFinished(() => store.close());
  await store.head("x");
  const before = store.silentSince?.();
  server.freeze();
  const from = Date.now();
  const asked = [store.head("x"), store.head("y")];
  await sleep(300);
  const during = store.silentSince?.() ?? 0;
  server.thaw();
  await Promise.all(asked);
  expect([before, during >= from && during <= Date.now() - 300, store.silentSince?.()]).toEqual([
    undefined,
    true,
    undefined,
  ]);
});
