// A real Redis server of a test's own: free port, own folder, ended by its process.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export interface RedisServer {
  port: number;
  folder: string;
  /** The address of a project of this name on it. */
  url(project: string, settings?: string): string;
  /** `kill -9`. */
  kill(): Promise<void>;
  /** On the same port and folder. */
  start(): Promise<void>;
  /** SIGSTOP and SIGCONT. */
  freeze(): void;
  thaw(): void;
  /** One command by redis-cli. */
  cli(...args: string[]): string;
  stop(): Promise<void>;
}

const isThere = (name: string): boolean => spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0;

/** Under CI a missing program fails the test that needs it, elsewhere that test is skipped. */
export const hasRedis = (): boolean => process.env.CI !== undefined || isThere("redis-server");

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address !== "object" || !address) throw new Error("no port");
  return address.port;
}

const DURABLE = ["--appendonly", "yes", "--appendfsync", "always"];

export async function startRedis(settings: string[] = DURABLE): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-redis-"));
  const port = await freePort();
  let child: ChildProcess | undefined;

  const cli = (...args: string[]): string => {
    const run = spawnSync("redis-cli", ["-p", String(port), ...args], { encoding: "utf8" });
    return run.stdout.trim();
  };

  async function start(): Promise<void> {
    const fixed = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--logfile", join(folder, "log")];
    child = spawn("redis-server", [...fixed, "--save", "", ...settings], { stdio: "ignore" });
    const ended = once(child, "exit");
    for (let i = 0; i < 500; i++) {
      if (/PONG|NOAUTH/.test(cli("PING"))) return;
      if (await Promise.race([ended, sleep(20, false)])) break;
    }
    throw new Error(`redis-server did not start: ${readFileSync(join(folder, "log"), "utf8")}`);
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ending = child;
    child = undefined;
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return;
    const exited = once(ending, "exit");
    ending.kill("SIGCONT");
    ending.kill(signal);
    await exited;
  }

  await start();
  return {
    port,
    folder,
    url: (project, more = "") => `redis://127.0.0.1:${port}/0?project=${project}${more}`,
    kill: () => end("SIGKILL"),
    start,
    freeze: () => void child?.kill("SIGSTOP"),
    thaw: () => void child?.kill("SIGCONT"),
    cli,
    async stop() {
      await end("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
