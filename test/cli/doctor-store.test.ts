// What `doctor` says of a state that is on a server: whether it is there, what it promises, which setting may lose something.
import fs from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tempDir } from "../house.ts";
import { hasRedis, type RedisServer, startRedis } from "../ledger/redis-server.ts";
import { runCli } from "./cli.ts";

let cwd: string;
let state: string;
const servers: RedisServer[] = [];

beforeEach(() => {
  cwd = tempDir("project");
  state = tempDir("state");
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  fs.rmSync(cwd, { recursive: true, force: true });
  fs.rmSync(state, { recursive: true, force: true });
});

async function serve(...settings: string[]): Promise<RedisServer> {
  const server = await startRedis(settings);
  servers.push(server);
  return server;
}

const doctor = (place: string, ...more: string[]) => runCli(["doctor", "--state", place, ...more], { cwd, state });

async function stateOf(place: string): Promise<{ code: number | null; found: unknown }> {
  const { code, stdout } = await doctor(place, "--json");
  return { code, found: JSON.parse(stdout).findings.find((one: { what: string }) => one.what === "state") };
}

const TODO = "change that setting; as it is `holdfast worker` takes this store only with --accept-loss";

describe.runIf(hasRedis())("holdfast doctor, for a state on a server", () => {
  it("says where it is, what keeps it, how soon it answers, and that nothing is lost", async () => {
    const place = (await serve("--appendonly", "yes", "--appendfsync", "always")).url("p");
    const says = "each write is on the server's disk before it counts (appendfsync always), and survives a power cut";
    expect(await stateOf(place)).toEqual({
      code: 0,
      found: {
        what: "state",
        ok: true,
        says: expect.stringMatching(
          /^redis:\/\/127\.0\.0\.1:\d+\/0\?project=p: Redis \d[\d.]+, answers in [\d.]+ ms; /,
        ),
        store: {
          url: place,
          server: expect.stringMatching(/^Redis \d/),
          durability: { class: "power-safe", says },
          mayLose: false,
          latencyMs: expect.any(Number),
        },
      },
    });
    expect((await doctor(place)).stdout).toMatch(/^✓ state {6}redis:.*and survives a power cut$/m);
  });

  it.each([
    {
      name: "a disk that is synced every second",
      settings: ["--appendonly", "yes", "--appendfsync", "everysec"],
      class: "up-to-a-second",
      setting: "appendfsync everysec",
    },
    {
      name: "a disk that is synced when the system likes",
      settings: ["--appendonly", "yes", "--appendfsync", "no"],
      class: "failover-may-lose",
      setting: "appendfsync no",
    },
    { name: "no log", settings: ["--appendonly", "no"], class: "failover-may-lose", setting: "appendonly no" },
  ])("names the setting that may lose something: $name", async (one) => {
    const place = (await serve(...one.settings)).url("p");
    const durability = { class: one.class, says: expect.stringContaining(one.setting) };
    expect(await stateOf(place)).toEqual({
      code: 0,
      found: {
        ...{ what: "state", ok: false, warning: true, do: TODO },
        says: expect.stringContaining(one.setting),
        store: expect.objectContaining({ durability, mayLose: true }),
      },
    });
    expect((await doctor(place)).stdout).toMatch(/^! state {6}redis:.*\n {13}→ change that setting/m);
  });

  it("names replicas that confirm nothing, and is content when they do", async () => {
    const master = await serve("--appendonly", "yes", "--appendfsync", "always", "--repl-diskless-sync-delay", "0");
    await serve("--replicaof", "127.0.0.1", String(master.port));
    await expect.poll(() => master.cli("INFO", "replication"), { timeout: 30_000 }).toContain("state=online");
    const without = await stateOf(master.url("p", "&replicas=0"));
    expect(without).toMatchObject({
      code: 0,
      found: { warning: true, says: expect.stringContaining("replicas=0"), store: { mayLose: true } },
    });
    expect(await stateOf(master.url("p"))).toMatchObject({
      code: 0,
      found: { ok: true, store: { durability: { class: "replica-confirmed" }, mayLose: false } },
    });
  });

  it("is not content with a server that takes no writes: it lacks the replicas that are to confirm them, or its memory is full", async () => {
    const server = await serve("--appendonly", "yes", "--appendfsync", "always");
    const lacking = server.url("p", "&replicas=2");
    const without = await stateOf(lacking);
    const run = await runCli(["-p", "hello", "--model", "rehearsal", "--state", lacking], { cwd, state });
    server.cli("SET", "filler", "x".repeat(1_000));
    server.cli("CONFIG", "SET", "maxmemory", "1000");
    expect({ without, run: [run.code, run.stderr], full: await stateOf(server.url("p")) }).toEqual({
      without: {
        code: 1,
        found: {
          ...{ what: "state", ok: false, store: expect.anything() },
          says: expect.stringContaining("2 of its replicas are to confirm each write, and 0 follow it"),
          do: "start the replicas, or give a smaller replicas=N in the address",
        },
      },
      run: [1, expect.stringContaining("lacks replicas (0 of 2 confirmed it)")],
      full: {
        code: 1,
        found: {
          ...{ what: "state", ok: false, store: expect.anything() },
          says: expect.stringContaining("its memory is full, so that nothing more is written"),
          do: "raise the server's maxmemory",
        },
      },
    });
  }, 30_000);

  it("says that a server does not speak TLS", async () => {
    const server = await serve();
    const { code, stdout } = await doctor(server.url("p").replace("redis:", "rediss:"));
    expect([
      code,
      /nobody answers with TLS there: rediss:\/\/ takes a port|is not trusted \(ERR_SSL/.test(stdout),
    ]).toEqual([1, true]);
  }, 30_000);

  it("says in one line that a server is not there, and does not show its password", async () => {
    const server = await serve();
    await server.kill();
    const { code, stdout, stderr } = await runCli(["doctor"], {
      cwd,
      state,
      env: { HOLDFAST_STATE: `redis://someone:t3st-secret@127.0.0.1:${server.port}/0?project=p` },
    });
    expect([code, stderr]).toEqual([1, ""]);
    expect(stdout).toMatch(/^✗ state {6}.*cannot be reached.*\n {13}→ start the server, or correct its address/m);
    expect(stdout).not.toContain("t3st-secret");
  });

  it("warns of a server elsewhere that is asked without a password or without TLS", async () => {
    const server = await serve("--appendonly", "yes", "--appendfsync", "always");
    const far = server.url("p").replace("127.0.0.1", "0.0.0.0"); // this machine, by a name that is not its own alone
    const exposed = ["it is asked without a password", "what is said to it is not encrypted"];
    expect(await stateOf(far)).toMatchObject({
      code: 0,
      found: { ok: false, warning: true, do: expect.stringContaining("rediss://"), store: { mayLose: false, exposed } },
    });
    expect((await doctor(far)).stdout).toMatch(/^! state .*without a password; what is said to it is not encrypted$/m);
  });

  it("changes nothing on the server", async () => {
    const server = await serve();
    await doctor(server.url("p"));
    expect(server.cli("KEYS", "*")).toBe("");
  });
});
