// A fleet over several machines: real `holdfast worker` processes, each on a machine of its own, with its own project folder and state, on one Redis server.
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { createHarness } from "../../src/harness.ts";
import { openStore } from "../../src/ledger/open-store.ts";
import type { Store, StoredEvent } from "../../src/ledger/store.ts";
import { openModel } from "../../src/models/open-model.ts";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import type { Script } from "../../src/testing/model-server-script.ts";
import { KEYS } from "../environment.ts";
import { tempDir } from "../house.ts";
import { startRedis } from "../ledger/redis-server.ts";
import { type Machine, openMachines } from "./machines.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const NODE = path.join(ROOT, "node_modules/node/bin/node");
export const LEASE_MS = 3_000;

interface FleetMachine extends Machine {
  worker?: ChildProcess;
  /** The project's folder there. */
  root: string;
  machineId: string;
  log: string;
}

export interface MachinesFleet {
  store: Store;
  server: ModelServer;
  context: string;
  machines: FleetMachine[];
  /** A folder that commands of all machines may write: the world outside. */
  world: string;
  /** Another, for what they say while they run. */
  ticks: string;
  /** Contract: the machine has no worker, or a dead one. */
  startWorker(machine: FleetMachine): void;
  /** `kill -9` of the worker alone. */
  killWorker(machine: FleetMachine): Promise<void>;
  /** SIGSTOP of the worker alone. */
  stopWorker(machine: FleetMachine): void;
  events(): Promise<StoredEvent[]>;
  close(): Promise<void>;
}

export interface MachinesFleetOptions {
  machines: number;
  script: Script;
  /** More arguments of each worker. */
  args?: string[];
  leaseMs?: number;
}

export async function openMachinesFleet(opts: MachinesFleetOptions): Promise<MachinesFleet> {
  const base = tempDir("fleet");
  const world = path.join(base, "world");
  const ticks = path.join(base, "ticks");
  for (const dir of [world, ticks]) fs.mkdirSync(dir);
  const leaseMs = String(opts.leaseMs ?? LEASE_MS);
  const made = await openMachines(opts.machines);
  const redis = await startRedis([
    ...["--appendonly", "yes", "--appendfsync", "always"],
    ...["--bind", "127.0.0.1", made.address, "--protected-mode", "no"],
  ]);
  const server = await startModelServer({ script: opts.script });
  const door = await forward(made.address, Number(new URL(server.url).port));
  const url = (host: string) => `redis://${host}:${redis.port}/0?project=fleet`;
  const store = await openStore({ server: url("127.0.0.1"), project: "fleet" }, { leaseMs: Number(leaseMs) });
  const machines = made.all.map((machine, at): FleetMachine => {
    const root = path.join(base, `machine${at}`, "project");
    fs.mkdirSync(root, { recursive: true });
    const machineId = path.join(base, `machine${at}`, "machine-id");
    fs.writeFileSync(machineId, `${randomBytes(16).toString("hex")}\n`);
    return { ...machine, root, machineId, log: path.join(base, `machine${at}`, "worker.log") };
  });
  const model = await openModel("openai-compatible/mock", {
    env: { OPENAI_BASE_URL: server.openaiUrl, OPENAI_API_KEY: KEYS.OPENAI_API_KEY },
  });
  const { root } = machines[0]!;
  const harness = createHarness({ model, store, root, jobsDir: path.join(base, "jobs"), team: { offer: true } });
  const run = await harness.run("begin");
  await run.result;
  await harness.close();
  const env = {
    ...process.env,
    HOLDFAST_STATE: url(made.address),
    HOLDFAST_LEASE_MS: leaseMs,
    HOLDFAST_MACHINE_GRACE_MS: leaseMs,
    OPENAI_BASE_URL: `http://${made.address}:${door.port}/v1`,
    OPENAI_API_KEY: KEYS.OPENAI_API_KEY,
    NODE_OPTIONS: "",
  };
  const fleet: MachinesFleet = {
    store,
    server,
    context: run.context,
    machines,
    world,
    ticks,
    startWorker(machine) {
      const args = ["worker", "--model", "openai-compatible/mock", "--permission-mode", "bypass", "--quiet"];
      const home = path.dirname(machine.root);
      machine.worker = machine.start(
        NODE,
        [path.join(ROOT, "bin/holdfast.js"), ...args, "--add-dir", world, "--add-dir", ticks, ...(opts.args ?? [])],
        {
          cwd: machine.root,
          env: { ...env, HOME: home, XDG_STATE_HOME: path.join(home, "state") },
          log: fs.openSync(machine.log, "a"),
          machineId: machine.machineId,
        },
      );
    },
    async killWorker({ worker }) {
      if (!worker || worker.exitCode !== null || worker.signalCode !== null) return;
      const gone = once(worker, "exit");
      signalWorker(worker, "SIGKILL");
      await gone;
    },
    stopWorker: ({ worker }) => signalWorker(worker!, "SIGSTOP"),
    async events() {
      const all: StoredEvent[] = [];
      for await (const event of store.read(run.context)) all.push(event);
      return all;
    },
    async close() {
      await store.close();
      for (const { worker } of machines) worker?.kill("SIGKILL"); // one that is stopped would not see its child go
      await made.close();
      await server.close();
      door.close();
      await redis.stop();
      fs.rmSync(base, { recursive: true, force: true });
    },
  };
  return fleet;
}

/** `nsenter` forks into a pid namespace: the worker is its child. */
function signalWorker({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean);
    for (const child of children) process.kill(Number(child), signal);
  } catch {} // it is gone
}

async function forward(address: string, to: number): Promise<{ port: number; close(): void }> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    const other = net.connect(to, "127.0.0.1");
    for (const one of [socket, other]) {
      sockets.add(one);
      one.on("error", () => undefined).on("close", () => sockets.delete(one));
    }
    socket.pipe(other).pipe(socket);
  });
  server.listen(0, address);
  await once(server, "listening");
  const { port } = server.address() as net.AddressInfo;
  return {
    port,
    close() {
      server.close();
      for (const one of sockets) one.destroy();
    },
  };
}
