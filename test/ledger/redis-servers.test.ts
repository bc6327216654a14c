// Servers of every kind under a store: replicas, TLS, passwords, settings that lose data, an older copy put back, many writers.
import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { isHoldfastError, messageOf } from "../../src/ledger/error.ts";
import { openRedisStore } from "../../src/ledger/redis/index.ts";
import type { Lease, Store } from "../../src/ledger/store.ts";
import { all, code, collect, event, sumOf } from "../../src/testing/store-conformance-steps.ts";
import { freePort, hasRedis, type RedisServer, startRedis } from "./redis-server.ts";

const LONG = process.env.HOLDFAST_LONG === "1";
const DURABLE = ["--appendonly", "yes", "--appendfsync", "always"];

const servers: RedisServer[] = [];
const stores: Store[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
  for (const server of servers.splice(0)) await server.stop();
});

async function serve(settings?: string[]): Promise<RedisServer> {
  const server = await startRedis(settings);
  servers.push(server);
  return server;
}

async function opened(url: string, opts: { leaseMs?: number; readOnly?: boolean } = {}): Promise<Store> {
  const store = await openRedisStore(url, opts);
  stores.push(store);
  return store;
}

async function take(store: Store): Promise<Lease> {
  const answer = await store.leases.acquire("agent:x");
  if ("held" in answer) throw new Error("held");
  return answer;
}

const said = (promise: Promise<unknown>): Promise<string> => promise.then(() => "ok", messageOf);
const until = async (done: () => boolean) => {
  for (let i = 0; i < 500 && !done(); i++) await new Promise((resolve) => setTimeout(resolve, 20));
};

describe.runIf(hasRedis())("the promise of a store", () => {
  it.each([
    ["power-safe", /appendfsync always/, DURABLE],
    ["up-to-a-second", /appendfsync everysec.*set appendfsync always/, ["--appendonly", "yes"]],
    ["failover-may-lose", /appendfsync no/, ["--appendonly", "yes", "--appendfsync", "no"]],
    ["failover-may-lose", /appendonly no/, []],
    ["failover-may-lose", /CONFIG is forbidden/, [...DURABLE, "--rename-command", "CONFIG", ""]],
  ])("is %s by %s", async (promise, words, settings) => {
    const server = await serve(settings);
    const { durability, reach } = await opened(server.url("p"));
    expect([durability.class, words.test(durability.says), reach]).toEqual([promise, true, "network"]);
  });

  it("is not made over a server that throws data away", async () => {
    const server = await serve([...DURABLE, "--maxmemory", "50mb", "--maxmemory-policy", "allkeys-lru"]);
    expect(await said(openRedisStore(server.url("p")))).toMatch(
      /maxmemory-policy allkeys-lru.*set maxmemory-policy noeviction/,
    );
  });

  it("is kept by a server that is full: it says so, and takes nothing in part", async () => {
    const server = await serve([...DURABLE, "--maxmemory", "6mb"]);
    const store = await opened(server.url("p"));
    let refused = "";
    let done = 0;
    while (refused === "" && done < 200) {
      const data = { n: done, text: "x".repeat(50_000) };
      refused = await code(store.append([{ ledger: "l", events: [event(1, { data, touches: ["x"] })] }])).then((one) =>
        one === "ok" ? "" : one,
      );
      if (refused === "") done++;
    }
    expect([refused, await store.head("l"), (await store.verify()).damage]).toEqual(["disk", done, []]);
    server.cli("CONFIG", "SET", "maxmemory", "1mb"); // not one byte more
    const again = await opened(server.url("p"));
    expect([await again.head("l"), again.server]).toEqual([done, expect.stringMatching(/\d{3} % of its memory used/)]);
  });

  it("whoever watches hears of what comes after the server was emptied", async () => {
    const server = await serve();
    const store = await opened(server.url("p"));
    for (let n = 1; n <= 3; n++) await store.append([{ ledger: "l", events: [event(n)] }]);
    const ends = new AbortController();
    const rings = store.watchAll(ends.signal)[Symbol.asyncIterator]();
    const first = rings.next();
    await sleep(200); // it listens
    server.cli("FLUSHALL");
    const other = await opened(server.url("p"));
    await other.append([{ ledger: "m", events: [event(1)] }]);
    expect((await first).value).toMatchObject({ ledger: "m" });
    ends.abort();
  });

  it("is said by whoever only looks, too, and nothing can be written", async () => {
    const server = await serve();
    const store = await opened(server.url("p"), { readOnly: true });
    expect([store.readOnly?.code, await code(store.append([{ ledger: "l", events: [event(1)] }]))]).toEqual([
      "refused",
      "refused",
    ]);
    expect(server.cli("DBSIZE")).toEqual("0");
  });
});

describe.runIf(hasRedis())("a process whose clock is another than the server's", () => {
  it.each(["-1h", "+1h"])(
    "(%s) is told the server's time; its lease holds, and is free when it is gone",
    async (clock) => {
      const server = await serve();
      const program = join(import.meta.dirname, "children/skewed-clock.ts");
      // A group of its own: faketime stays beside what it starts.
      const child = spawn("faketime", ["-f", clock, process.execPath, program, server.url("p")], {
        stdio: ["ignore", "pipe", "ignore"],
        detached: true,
        env: { ...process.env, FAKETIME_DONT_FAKE_MONOTONIC: "1" },
      });
      const exited = once(child, "close");
      const end = () => process.kill(-child.pid!, "SIGKILL");
      try {
        const [line] = await once(child.stdout, "data");
        const its = JSON.parse(String(line)) as { now: number; at: number; term: number; due: number };
        const minutes = (ms: number) => Math.round(ms / 60_000) + 0; // no minus zero
        const away = clock === "-1h" ? -60 : 60;
        expect([minutes(its.now - Date.now()), minutes(its.at - Date.now())]).toEqual([away, 0]);
        expect([its.term, its.due]).toEqual([1, 1]);
        const store = await opened(server.url("p"), { leaseMs: 60_000 });
        const [next] = await store.append([{ ledger: "l", events: [event(3)] }]);
        expect(next!.at).toBeGreaterThanOrEqual(its.at);
        const held = await store.leases.inspect("agent:x");
        expect(held).toMatchObject({ term: 1, alive: true });
        expect(held!.expiresInMs).toBeGreaterThan(0);
        end();
        await exited;
        expect((await take(store)).term).toEqual(2);
      } finally {
        if (child.exitCode === null && child.signalCode === null) end();
      }
    },
  );
});

describe.runIf(hasRedis())("replicas", () => {
  it("confirm each answer, repeated ones too, and without them nothing is acknowledged", async () => {
    const master = await serve();
    const replica = await serve([
      ...DURABLE,
      "--replicaof",
      "127.0.0.1",
      String(master.port),
      "--repl-diskless-sync-delay",
      "0",
    ]);
    await until(() => replica.cli("INFO", "replication").includes("master_link_status:up"));
    const store = await opened(master.url("p"), { leaseMs: 2_500 });
    expect([store.durability.class, /one replica confirms/.test(store.durability.says)]).toEqual([
      "replica-confirmed",
      true,
    ]);
    const lease = await take(store);
    const under = { lease: { name: lease.name, term: lease.term, token: lease.token } };
    const write = [{ ledger: "l", events: [event(1, { id: "a" })] }];
    const first = await store.append(write, under);
    await replica.kill();
    // It is recorded, and asked for again: still nobody else has it.
    expect(await code(store.append([{ ledger: "l", events: [event(2, { id: "b" })] }], under))).toEqual("unreachable");
    await replica.start();
    await until(() => replica.cli("INFO", "replication").includes("master_link_status:up"));
    expect(await lease.renew()).toEqual(true);
    expect(await store.append(write, under)).toEqual(first);
    expect(await code(store.append([{ ledger: "l", events: [event(2, { id: "b" })] }], under))).toEqual("ok");
    expect(await store.head("l")).toEqual(2);
  });

  it("that do not confirm make a failover lossy, and that is said", async () => {
    const master = await serve();
    const replica = await serve([
      ...DURABLE,
      "--replicaof",
      "127.0.0.1",
      String(master.port),
      "--repl-diskless-sync-delay",
      "0",
    ]);
    await until(() => replica.cli("INFO", "replication").includes("master_link_status:up"));
    const { durability } = await opened(master.url("p", "&replicas=0"));
    expect([durability.class, /replicas=0/.test(durability.says)]).toEqual(["failover-may-lose", true]);
  });
});

describe.runIf(hasRedis())("an older copy of the server's data put back under live hosts", () => {
  it("refuses what rests on the lost past, and gives no term twice with effect", async () => {
    const server = await serve();
    const [one, two] = [
      await opened(server.url("p"), { leaseMs: 400 }),
      await opened(server.url("p"), { leaseMs: 400 }),
    ];
    const before = await one.append([{ ledger: "l", events: [event(1)] }]);
    const copy = mkdtempSync(join(tmpdir(), "holdfast-older-"));
    onTestFinished(() => rmSync(copy, { recursive: true }));
    const aof = join(server.folder, "appendonlydir");
    cpSync(aof, copy, { recursive: true });
    const lease = await take(one);
    const fence = { name: lease.name, term: lease.term, token: lease.token };
    const lost = await one.append([{ ledger: "l", events: [event(2)] }], { lease: fence });
    await server.kill();
    rmSync(aof, { recursive: true });
    cpSync(copy, aof, { recursive: true });
    await server.start();
    const next = await take(two);
    expect([next.term, next.token === lease.token]).toEqual([lease.term, false]);
    const other = await two.append([{ ledger: "l", events: [event(3)] }], {
      lease: { name: next.name, term: next.term, token: next.token },
    });
    const write = (base: { seq: number; sum: string }) => [{ ledger: "l", events: [event(4)], base }];
    expect(await code(one.append(write({ seq: 2, sum: sumOf(lost) })))).toEqual("rolled_back");
    expect(await code(one.append(write({ seq: 1, sum: sumOf(before) }), { lease: fence }))).toEqual("fenced");
    expect([await lease.renew(), await all(one, "l")]).toEqual([false, [...before, ...other]]);
  });
});

describe.runIf(hasRedis())("the address of a store", () => {
  it("may hold a password, which is shown nowhere", async () => {
    const server = await serve([...DURABLE, "--requirepass", "open sesame"]);
    const at = `127.0.0.1:${server.port}/0?project=p`;
    const store = await opened(`redis://default:open%20sesame@${at}`);
    expect([store.url, (await store.append([{ ledger: "l", events: [event(1)] }])).length]).toEqual([
      `redis://${at}`,
      1,
    ]);
    for (const wrong of [`redis://${at}`, `redis://:not%20sesame@${at}`]) {
      const error = await openRedisStore(wrong).catch((thrown: unknown) => thrown);
      expect([isHoldfastError(error, "refused"), /sesame/.test(messageOf(error))]).toEqual([true, false]);
    }
  });

  it("may be one for TLS, with the certificates to trust", async () => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-tls-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [key, certificate] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    const request = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
    execFileSync("openssl", [...request, "-keyout", key, "-out", certificate, ...subject], { stdio: "ignore" });
    const port = await freePort();
    const tls = [
      "--tls-port",
      String(port),
      "--tls-cert-file",
      certificate,
      "--tls-key-file",
      key,
      "--tls-auth-clients",
      "no",
    ];
    await serve([...DURABLE, ...tls, "--tls-ca-cert-file", certificate]);
    const url = `rediss://localhost:${port}/0?project=p`;
    const store = await opened(`${url}&ca=${certificate}`);
    await store.append([{ ledger: "l", events: [event(1)] }]);
    expect([store.url, await store.head("l")]).toEqual([url, 1]);
    expect(await said(openRedisStore(url))).toMatch(/not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\).*ca=FILE/);
  });

  it("is refused in one line when the server does not know the database", async () => {
    const server = await serve();
    const error = await openRedisStore(`redis://127.0.0.1:${server.port}/99?project=p`).catch(
      (thrown: unknown) => thrown,
    );
    expect([isHoldfastError(error, "refused"), /DB index is out of range/.test(messageOf(error))]).toEqual([
      true,
      true,
    ]);
  });

  it("leads to one line when nobody listens there", async () => {
    const port = await freePort();
    expect(await said(openRedisStore(`redis://127.0.0.1:${port}/0?project=p`))).toMatch(
      /cannot be reached \(ECONNREFUSED\)/,
    );
  });

  it.each([
    "redis://127.0.0.1:1/0",
    "redis://127.0.0.1:1/zero?project=p",
    "redis://secret@:x/0?project=p",
    "redis://u:secret@h:1,h:2/0?project=p",
    "redis://u:secret@h:1/0?project=p&nonsense=1",
    "redis://u:secret@h:1/0?project=a{b}",
    "redis+sentinel://u:secret@h:1?project=p",
    "redis:whatever",
  ])("is refused in one line without what was given: %s", async (url) => {
    const error = await openRedisStore(url).catch((thrown: unknown) => thrown);
    expect([isHoldfastError(error, "invalid"), /secret/.test(messageOf(error))]).toEqual([true, false]);
  });
});

describe.runIf(hasRedis())("many writers and many ledgers", () => {
  it("lose no update and starve nobody: eight processes raise one counter", async () => {
    const server = await serve();
    const times = LONG ? 500 : 60;
    const child = join(import.meta.dirname, "children", "counter.ts");
    const run = () =>
      promisify(execFile)(process.execPath, [child, server.url("p"), String(times)], { maxBuffer: 1 << 26 });
    await Promise.all(Array.from({ length: 8 }, run));
    const store = await opened(server.url("p"));
    const raised = (await all(store, "shared")).map(({ data }) => data);
    expect(raised).toEqual(Array.from({ length: 8 * times }, (_, i) => ({ value: i + 1 })));
    expect((await store.verify()).damage).toEqual([]);
  });

  it("are listed by name, ten thousand of them, each once", async () => {
    const server = await serve([]);
    const store = await opened(server.url("p"));
    const names = Array.from({ length: 10_000 }, (_, i) => `ctx/${String(i).padStart(5, "0")}`);
    for (let i = 0; i < names.length; i += 1_000)
      await store.append(
        names.slice(i, i + 1_000).map((ledger) => ({ ledger, events: [event(1)], summary: { n: 1 } })),
      );
    expect((await collect(store.list())).map(({ ledger }) => ledger)).toEqual(names);
    expect((await collect(store.list({ after: "ctx/09997" }))).map(({ ledger }) => ledger)).toEqual(names.slice(9_998));
  });
});
