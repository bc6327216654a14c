// `worker` on a store whose settings may lose what it has acknowledged: refused, unless it is told.
import type { ChildProcess } from "node:child_process";
import fs from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tempDir } from "../house.ts";
import { hasRedis, type RedisServer, startRedis } from "../ledger/redis-server.ts";
import { runCli, startCli } from "./cli.ts";

const DURABLE = ["--appendonly", "yes", "--appendfsync", "always"];

let cwd: string;
let state: string;
let server: RedisServer | undefined;
let running: ChildProcess | undefined;

beforeEach(() => {
  cwd = tempDir("project");
  state = tempDir("state");
});
afterEach(async () => {
  running?.kill("SIGKILL");
  await server?.stop();
  fs.rmSync(cwd, { recursive: true, force: true });
  fs.rmSync(state, { recursive: true, force: true });
});

/** Whether it hosts; it is ended as soon as it says so. */
async function hosts(...args: string[]): Promise<boolean> {
  const { child, exited } = startCli(["worker", ...args], { cwd, state });
  running = child;
  let said = "";
  let isTold = false;
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (text) => {
      said += text;
      if (!isTold && said.includes("Hosting")) isTold = child.kill("SIGTERM");
    });
  await exited;
  return said.includes("Hosting");
}

describe.runIf(hasRedis())("holdfast worker", () => {
  it.each([
    { setting: "appendfsync everysec", settings: ["--appendonly", "yes", "--appendfsync", "everysec"] },
    { setting: "appendfsync no", settings: ["--appendonly", "yes", "--appendfsync", "no"] },
    { setting: "appendonly no", settings: ["--appendonly", "no"] },
  ])("refuses $setting in one line that names it, and takes it with --accept-loss", async ({ setting, settings }) => {
    server = await startRedis(settings);
    const place = server.url("p");
    const { code, stdout, stderr } = await runCli(["worker", "--state", place], { cwd, state });
    expect([code, stdout, stderr.trim().split("\n").length]).toEqual([expect.any(Number), "", 1]);
    expect(code).not.toBe(0);
    expect([stderr.includes(setting), stderr.includes("--accept-loss")]).toEqual([true, true]);
    expect(await hosts("--state", place, "--accept-loss")).toBe(true);
  });

  it("refuses replicas that confirm nothing, and takes them when they do", async () => {
    server = await startRedis([...DURABLE, "--repl-diskless-sync-delay", "0"]);
    const replica = await startRedis(["--replicaof", "127.0.0.1", String(server.port)]);
    try {
      await expect.poll(() => server?.cli("INFO", "replication"), { timeout: 30_000 }).toContain("state=online");
      const { code, stderr } = await runCli(["worker", "--state", server.url("p", "&replicas=0")], { cwd, state });
      expect([code === 0, stderr.includes("replicas=0"), stderr.includes("--accept-loss")]).toEqual([
        false,
        true,
        true,
      ]);
      expect(await hosts("--state", server.url("p"))).toBe(true);
    } finally {
      await replica.stop();
    }
  });

  it("takes a store that loses nothing", async () => {
    server = await startRedis(DURABLE);
    expect(await hosts("--state", server.url("p"))).toBe(true);
  });
});
