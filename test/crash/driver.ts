// One world of a crash cell: a temporary project and state directory, a scripted model, and the real command line as a child process.
import { type ChildProcess, spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import type { Store, StoredEvent } from "../../src/ledger/store.ts";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import type { Script } from "../../src/testing/model-server-script.ts";
import { CI_VARIABLES, harmlessHooks, KEYS } from "../environment.ts";

const ROOT = path.resolve(fileURLToPath(import.meta.url), "../../..");
/** The very Node that the project pins: a relaunch by the launcher would put a second process between kill and harness. */
const NODE = path.join(ROOT, "node_modules/node/bin/node");
const CLI = process.env.HOLDFAST_CRASH_CLI ?? path.join(ROOT, "bin/holdfast.js");

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** It had to be ended by the driver. */
  hung: boolean;
}

const HUNG_MS = 30_000;
/** Not at the start of a session: that one is recorded by every resume. */
const HOOKS = harmlessHooks(["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"]);

export interface Running {
  child: ChildProcess;
  ended: Promise<Exit>;
}

/** How one process is run, and what ends it. */
export interface Way {
  /** Undefined takes a variable away. */
  env?: Record<string, string | undefined>;
  cwd?: string;
  /** Another build of the command line. */
  cli?: string;
  /** Where its output goes: read to its end, closed after its first line, or a full disk. */
  stdout?: "read" | "closed" | "full";
  /** Comes before the command: strace or unshare with their flags. */
  wrap?: string[];
  /** What stands on its standard input. */
  stdin?: string;
  /** Kills from outside, once it is time. */
  meanwhile?: (running: Running, world: World) => Promise<void>;
  /** What was not said as it should be, if anything. */
  complaint?: (exit: Exit) => string | undefined;
}

/** What the state directory holds, read from a copy so that looking changes nothing. */
export interface Look {
  contexts: { id: string; events: StoredEvent[] }[];
  damage: string[];
}

export interface World {
  readonly dir: string;
  /** Where the project is now. */
  readonly project: string;
  /** Of this project; none until the first process has made it. */
  readonly stateDir: string;
  readonly server: ModelServer;
  /** What the user's settings say besides. */
  settings(more: object): void;
  move(to: string): void;
  start(args: string[], way?: Way): Running;
  run(args: string[], way?: Way): Promise<Exit>;
  look(): Promise<Look>;
  /** Processes that belong to this world and still live. */
  processes(): number[];
  close(): Promise<void>;
}

/** Puts another program in the place of the command line: it takes the same words. */
export interface Door {
  script?: string;
  flags?: string[];
}

const tempDir = () => fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-crash-")));

export async function openWorld(script: Script, door: Door = {}): Promise<World> {
  const dir = tempDir();
  fs.mkdirSync(path.join(dir, "project"));
  const server = await startModelServer({ script });
  const state = path.join(dir, "state");
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? "",
    HOME: dir,
    XDG_STATE_HOME: state,
    ...CI_VARIABLES,
    ...KEYS,
    OPENAI_BASE_URL: server.openaiUrl,
    ANTHROPIC_BASE_URL: server.anthropicUrl,
    HOLDFAST_RETRY_BASE_MS: "1",
    ...(door.script && process.env.NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
  };
  const settingsFile = path.join(dir, ".config/holdfast/settings.json");
  fs.mkdirSync(path.dirname(settingsFile), { recursive: true });
  const settings = (more: object) => fs.writeFileSync(settingsFile, JSON.stringify({ hooks: HOOKS, ...more }));
  settings({});
  const before = (way: Way) => (door.script ? [door.script] : [way.cli ?? CLI]);
  const flags = door.flags ?? ["--model", "openai-compatible/mock", "--permission-mode", "bypass"];
  let project = path.join(dir, "project");
  let known: string | undefined;

  const start = (args: string[], way: Way = {}): Running => {
    const words = [...before(way), ...args, ...(args[0] === "-p" ? flags : [])];
    const [command, ...rest] = [...(way.wrap ?? []), NODE, ...words];
    const full = way.stdout === "full" ? fs.openSync("/dev/full", "w") : undefined;
    const child = spawn(command!, rest, {
      cwd: way.cwd ?? project,
      env: { ...env, ...way.env },
      stdio: [way.stdin === undefined ? "ignore" : "pipe", full ?? "pipe", "pipe"],
    });
    child.stdin?.end(way.stdin);
    if (full !== undefined) fs.closeSync(full);
    if (way.stdout === "closed") child.stdout?.once("data", () => child.stdout?.destroy());
    return { child, ended: exitOf(child) };
  };

  const world: World = {
    dir,
    get project() {
      return project;
    },
    get stateDir() {
      known ??= ledgersIn(state)[0];
      return known ?? path.join(state, "none");
    },
    server,
    settings,
    move(to) {
      fs.renameSync(project, to);
      project = to;
    },
    start,
    async run(args, way) {
      const running = start(args, way);
      await Promise.all([way?.meanwhile?.(running, world), running.ended]);
      // What it sent before it was killed may be read only now; it belongs to this run.
      await server.untilAlone(5_000);
      return running.ended;
    },
    look: async () => joined(await Promise.all(ledgersIn(state).map(lookAt))),
    processes: () => processesOf(dir),
    async close() {
      for (const pid of processesOf(dir)) killNow(pid);
      await server.close();
      await until(() => processesOf(dir).length === 0, 2_000);
      fs.rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  return world;
}

/** Of each project whose state is there. */
const ledgersIn = (state: string): string[] =>
  fs.existsSync(state)
    ? fs
        .readdirSync(state, { recursive: true, encoding: "utf8" })
        .filter((file) => path.basename(file) === "ledger.db")
        .map((file) => path.dirname(path.join(state, file)))
        .sort()
    : [];

const joined = (looks: Look[]): Look => ({
  contexts: looks.flatMap((look) => look.contexts),
  damage: looks.flatMap((look) => look.damage),
});

function exitOf(child: ChildProcess): Promise<Exit> {
  let stdout = "";
  let stderr = "";
  let hung = false;
  const limit = setTimeout(() => {
    hung = true;
    child.kill("SIGKILL");
  }, HUNG_MS);
  child.stdout?.setEncoding("utf8").on("data", (text) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      clearTimeout(limit);
      const done = () => resolve({ code, signal, stdout, stderr, hung });
      child.once("close", done);
      setTimeout(done, 200); // a detached job may keep the pipe's other end for longer than the harness lives
    });
  });
}

export const lookAt = (stateDir: string): Promise<Look> =>
  inCopy(stateDir, async (store) => {
    const { damage } = await store.verify();
    const contexts: Look["contexts"] = [];
    for await (const { ledger } of store.list({ prefix: "ctx_" })) {
      const events: StoredEvent[] = [];
      contexts.push({ id: ledger, events });
      try {
        for await (const event of store.read(ledger)) events.push(event);
      } catch (error) {
        damage.push({ ledger, what: (error as Error).message });
      }
    }
    const readOnly = store.readOnly ? [store.readOnly.message] : [];
    return { contexts, damage: [...readOnly, ...damage.map((d) => `${d.ledger ?? "file"}: ${d.what}`)] };
  });

/** A copy of the store: looking changes nothing. */
export async function inCopy<T>(stateDir: string, use: (store: Store) => Promise<T>): Promise<T> {
  const copy = tempDir();
  try {
    for (const part of ["", "-wal", ".heads"]) {
      const file = path.join(stateDir, `ledger.db${part}`);
      if (fs.existsSync(file)) fs.copyFileSync(file, path.join(copy, `ledger.db${part}`));
    }
    const store = await openSqliteStore(path.join(copy, "ledger.db"));
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  } finally {
    fs.rmSync(copy, { recursive: true, force: true });
  }
}

/** By working directory, environment or command line: whatever a command started may have changed one of them. */
function processesOf(dir: string): number[] {
  const found: number[] = [];
  for (const name of fs.readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const text = [
      ...["environ", "cmdline"].map((file) => quietly(() => fs.readFileSync(`/proc/${pid}/${file}`, "latin1"))),
      quietly(() => fs.readlinkSync(`/proc/${pid}/cwd`)),
    ];
    const state = /\) (\S)/.exec(quietly(() => fs.readFileSync(`/proc/${pid}/stat`, "latin1")))?.[1];
    if (state !== undefined && state !== "Z" && text.some((t) => t.includes(dir))) found.push(pid);
  }
  return found;
}

function quietly(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

/** One may have died with another that was killed before it. */
export function killNow(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // gone already
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Contract: true as soon as it holds, false when the time is over. */
export async function until(holds: () => boolean | Promise<boolean>, ms = 20_000): Promise<boolean> {
  const end = Date.now() + ms;
  for (;;) {
    if (await holds()) return true;
    if (Date.now() > end) return false;
    await sleep(10);
  }
}

export function random(seed: number): () => number {
  let a = (seed * 0x9e3779b9) >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
