// Real redis-servers and Sentinels for a test: own port and folder, killed and started again, ended by their pid.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface ServerOptions {
  dir: string;
  /** Of redis.conf. */
  settings?: Record<string, string>;
  /** The words that a command there begins with: a namespace, mounts. */
  inside?: string[];
  address?: string;
  port?: number;
}

export interface RedisServer {
  readonly port: number;
  readonly address: string;
  readonly pid: number;
  /** What it answers, as redis-cli shows it. */
  ask(...command: string[]): string;
  /** Contract: it is gone when this resolves. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** In the same place, after it was killed. */
  startAgain(): Promise<void>;
}

export const canServe = (() => {
  try {
    execFileSync("redis-server", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

/** What loses nothing: every write is synced before it is answered. */
export const ALWAYS = { appendonly: "yes", appendfsync: "always" };

export const startServer = (opts: ServerOptions): Promise<RedisServer> => start(opts, serverFile(opts), []);

export interface SentinelOptions extends Omit<ServerOptions, "settings"> {
  /** The master, as it is at first. */
  of: RedisServer;
  name: string;
  quorum: number;
}

/**
 * Each second it looks what role a server has, also of one that comes back. Its other periods stay: one that comes back itself waits eight
 * seconds before it makes others follow the master that it remembers, and a shorter wait makes replicas of masters.
 */
const LOOKS = ["info-period", "1000"];

export async function startSentinel({ of, name, quorum, ...opts }: SentinelOptions): Promise<RedisServer> {
  const lines = [
    `sentinel monitor ${name} ${of.address} ${of.port} ${quorum}`,
    `sentinel down-after-milliseconds ${name} 1000`,
    `sentinel failover-timeout ${name} 3000`,
  ];
  const file = (port: number) => [`port ${port}`, "protected-mode no", `dir ${opts.dir}`, ...lines].join("\n");
  const sentinel = await start(opts, file, ["--sentinel"]);
  sentinel.ask("SENTINEL", "DEBUG", ...LOOKS);
  return sentinel;
}

const serverFile =
  ({ dir, settings = {} }: ServerOptions) =>
  (port: number): string =>
    Object.entries({ port, dir, save: '""', "protected-mode": "no", ...settings })
      .map(([key, value]) => `${key} ${value}`)
      .join("\n");

async function start(opts: ServerOptions, fileFor: (port: number) => string, flags: string[]): Promise<RedisServer> {
  const { dir, inside = [], address = "127.0.0.1" } = opts;
  const port = opts.port ?? (await freePort());
  // Beside the folder, which may be on a disk that is mounted only there. A Sentinel writes what it learns into its own.
  const file = `${dir}.conf`;
  mkdirSync(dir, { recursive: true });
  writeFileSync(file, `${fileFor(port)}\n`);
  const log = `${dir}.log`;
  let child: ChildProcess;

  const ask = (...command: string[]): string => {
    const [program = "", ...args] = [...inside, "redis-cli", "-h", address, "-p", String(port), ...command];
    return execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: 5_000 }).trim();
  };
  async function run(): Promise<void> {
    // It ends with the test, however that ends.
    const [program = "", ...args] = [...inside, "setpriv", "--pdeathsig", "KILL", "redis-server", file, ...flags];
    child = spawn(program, [...args, "--logfile", log], { stdio: "ignore" });
    for (let tries = 0; ; tries++) {
      if (child.exitCode !== null || tries > 400) throw new Error(`redis-server did not start:\n${tailOf(log)}`);
      try {
        if (ask("PING") === "PONG") return;
      } catch {}
      await sleep(25);
    }
  }
  await run();
  return {
    port,
    address,
    get pid() {
      return child.pid ?? 0;
    },
    ask,
    async kill(signal = "SIGKILL") {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      child.kill(signal);
      await gone;
    },
    startAgain: run,
  };
}

function tailOf(log: string): string {
  try {
    return readFileSync(log, "utf8").slice(-2_000);
  } catch {
    return "it wrote no log";
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const at = probe.address();
  probe.close();
  return typeof at === "object" && at ? at.port : 0;
}
