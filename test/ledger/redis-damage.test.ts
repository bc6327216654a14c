// Data that somebody changed on the server: reading says where it begins, verification finds all of it.
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { blobHash } from "../../src/ledger/checksum.ts";
import { isHoldfastError } from "../../src/ledger/error.ts";
import { openRedisStore } from "../../src/ledger/redis/index.ts";
import type { Store } from "../../src/ledger/store.ts";
import { all, event, failure } from "../../src/testing/store-conformance-steps.ts";
import { hasRedis, type RedisServer, startRedis } from "./redis-server.ts";

describe.runIf(hasRedis())("a Redis store whose data was changed", () => {
  let server: RedisServer;
  let store: Store;
  let project = 0;
  const bytes = Buffer.from("a blob ".repeat(20));
  const key = (kind: string) => `hf:{p${project}}:${kind}`;
  const found = async () => (await store.verify()).damage.map(({ ledger, seq, what }) => [ledger, seq, what]);

  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    store = await openRedisStore(server.url(`p${++project}`));
    onTestFinished(() => store.close());
    const events = [1, 2, 3, 4, 5].map((n) =>
      event(n, { id: `e${n}`, touches: ["x"], data: { n, at: blobHash(bytes) } }),
    );
    await store.append([{ ledger: "l", events }], { blobs: [bytes] });
    await store.snapshots("l").save(5, new Map([["f@1", { n: 5 }]]));
  });

  it("reads up to an event that is gone", async () => {
    server.cli("XDEL", key("events:l"), "3-0");
    const error = await failure(all(store, "l"));
    expect(isHoldfastError(error, "damaged") && error.detail).toEqual({
      ledger: "l",
      seq: 3,
      what: "the event is missing",
    });
    expect((await all(store, "l", { upTo: 2 })).length).toEqual(2);
    expect(await found()).toEqual([["l", 3, "the event is missing"]]);
  });

  it("finds a ledger that is said to end before its last event, or behind it", async () => {
    server.cli("HSET", key("ledger:l"), "head", "4");
    expect(await found()).toEqual([["l", 4, "it is not the event that the ledger ends with"]]);
    server.cli("HSET", key("ledger:l"), "head", "7");
    expect(await found()).toEqual([["l", 6, "the event is missing"]]);
  });

  it("finds wrong versions, missing ids, snapshots and blobs that changed, and counts that would lose a blob", async () => {
    server.cli("HSET", key("versions:l"), "x", "3");
    server.cli("HDEL", key("ids:l"), "e2");
    server.cli("HSET", key("snapshots:l"), "f@1", "5:00:{}");
    server.cli("HSET", key(`blob:${blobHash(bytes)}`), "0", "other");
    server.cli("DEL", key("refs"));
    expect(await found()).toEqual([
      ["l", 5, "the stored version of x is wrong"],
      ["l", undefined, "the record of its events' ids is wrong"],
      ["l", undefined, "the snapshot f@1 fails its checksum; it will not be used"],
      [undefined, undefined, `blob ${blobHash(bytes)} is incomplete or changed`],
      [undefined, undefined, `the count of ledgers that name blob ${blobHash(bytes)} is too low`],
    ]);
    expect([await store.blob(blobHash(bytes)), await store.snapshots("l").load(["f@1"])]).toEqual([
      undefined,
      new Map(),
    ]);
  });
});
