// A fleet for tests: a team on one state, hosted by several real `holdfast worker` processes, one of which is killed now and then.
import { type ChildProcess, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { openProject } from "../../src/contexts/project.ts";
import { createHarness } from "../../src/harness.ts";
import { openStore } from "../../src/ledger/open-store.ts";
import type { Store, StoredEvent } from "../../src/ledger/store.ts";
import { openBoard } from "../../src/mechanisms/tasks/index.ts";
import { openModel } from "../../src/models/open-model.ts";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import type { Script } from "../../src/testing/model-server-script.ts";
import { KEYS } from "../environment.ts";
import { tempDir } from "../house.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const NODE = path.join(ROOT, "node_modules/node/bin/node");

export interface Fleet {
  root: string;
  /** For `--state` of commands beside it. */
  state: string;
  store: Store;
  server: ModelServer;
  context: string;
  /** Processes that host, by their number. */
  workers: ChildProcess[];
  start(at: number): void;
  events(): Promise<StoredEvent[]>;
  close(): Promise<void>;
}

export interface FleetOptions {
  mates: string[];
  tasks: string[];
  workers: number;
  script: Script;
}

export async function openFleet(opts: FleetOptions): Promise<Fleet> {
  const root = tempDir("project");
  const state = tempDir("state");
  const server = await startModelServer({ script: opts.script });
  const env = { OPENAI_BASE_URL: server.openaiUrl, OPENAI_API_KEY: KEYS.OPENAI_API_KEY };
  const model = await openModel("openai-compatible/mock", { env });
  const project = openProject({ cwd: root, state });
  const store = await openStore(project.ledgers);
  const jobsDir = path.join(project.stateDir, "jobs");
  const harness = createHarness({ model, store, root, jobsDir, team: { offer: true } });
  const run = await harness.run("begin");
  await run.result;
  await harness.close();
  const board = await openBoard(store);
  for (let i = 0; i < opts.tasks.length; i += 50)
    await board.create(
      opts.tasks.slice(i, i + 50).map((subject) => ({ subject })),
      { agent: "user" },
    );
  const workers: ChildProcess[] = [];
  const fleet: Fleet = {
    root,
    state,
    store,
    server,
    context: run.context,
    workers,
    start(at) {
      const args = ["worker", "--state", state, "--model", "openai-compatible/mock", "--permission-mode", "bypass"];
      const child = spawn(NODE, [path.join(ROOT, "bin/holdfast.js"), ...args, "--quiet"], {
        cwd: root,
        env: { ...process.env, ...env, NODE_OPTIONS: "" },
        stdio: ["ignore", "ignore", fs.openSync(path.join(state, `worker-${at}.log`), "a")],
      });
      workers[at] = child;
    },
    async events() {
      const all: StoredEvent[] = [];
      for await (const event of store.read(run.context)) all.push(event);
      return all;
    },
    async close() {
      for (const worker of workers) worker.kill("SIGTERM");
      await Promise.all(
        workers.map((w) => w.exitCode ?? w.signalCode ?? new Promise((resolve) => w.once("exit", resolve))),
      );
      await store.close();
      await server.close();
      fs.rmSync(root, { recursive: true, force: true });
      fs.rmSync(state, { recursive: true, force: true });
    },
  };
  for (let at = 0; at < opts.workers; at++) fleet.start(at);
  return fleet;
}
