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

  it("passes over rows that cannot be read, says so once, and verification names them", async () => {
    const said: string[] = [];
    const other = await openRedisStore(server.url(`p${project}`), {
      leaseMs: 60,
      onProblem: (text) => said.push(text),
    });
    onTestFinished(() => other.close());
    const wake = { context: "ctx_a", agent: null, by: "team", dueAt: 5 };
    await other.append([], { wake: [wake] });
    for (const member of ["nonsense", "{}", '["ctx_x/../..",null,"team"]', '["ctx_a",7,"team"]'])
      server.cli("ZADD", key("wakes"), "1", member);
    server.cli("ZADD", key("wakes"), "-inf", '["ctx_b",null,"team"]');
    const lease = await store.leases.acquire("agent:l/lead");
    if ("held" in lease) throw new Error("held");
    server.cli("HSET", key("lease:agent:l/lead"), "holder", "{");
    server.cli("HSET", key("lease:agent:l/other"), "term", "x", "holder", '{"pid":-1}');
    server.cli("ZADD", key("leases"), "0", "agent:l/other");
    server.cli("HSET", key("summary:l"), ".title", "{");

    expect([await other.due(10), await other.due(10)]).toEqual([[wake], [wake]]);
    const ledgers = [];
    for await (const { ledger } of other.list()) ledgers.push(ledger);
    expect(ledgers).toEqual(["l"]);
    expect(await found()).toEqual(
      [
        ...['["ctx_b",null,"team"]', '["ctx_a",7,"team"]', '["ctx_x/../..",null,"team"]', "nonsense", "{}"].map(
          (row) => `a row that says who is due cannot be read: ${JSON.stringify(row)}`,
        ),
        'the lease "agent:l/lead" cannot be read',
        'the lease "agent:l/other" cannot be read',
      ].map((what) => [undefined, undefined, what]),
    );
    // Whoever it was keeps it for as long as it lasts, seen by our clock; then it is free.
    for (const name of ["agent:l/lead", "agent:l/other"])
      expect((await other.leases.inspect(name))?.holder.machine).toEqual("unknown");
    const signal = AbortSignal.timeout(20_000);
    const taken = await other.leases.acquire("agent:l/other", { wait: signal });
    expect("held" in taken).toEqual(false);
    expect(said).toHaveLength(3);
  });
});
