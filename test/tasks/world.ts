// A board for a test: a store on disk with as many doors as processes would have.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isHoldfastError } from "../../src/ledger/error.ts";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import type { Store, StoredEvent } from "../../src/ledger/store.ts";
import type { Board, BoardOptions } from "../../src/mechanisms/tasks/board.ts";
import { openBoard } from "../../src/mechanisms/tasks/index.ts";
import type { By, Task } from "../../src/mechanisms/tasks/port.ts";

export interface World {
  folder: string;
  file: string;
  store: Store;
  board: Board;
  /** Another door to the same file, with a store of its own. */
  again(opts?: BoardOptions): Promise<Board>;
  events(): Promise<StoredEvent[]>;
  dispose(): Promise<void>;
}

export async function openWorld(opts: BoardOptions = {}): Promise<World> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-tasks-")));
  const file = join(folder, "p.db");
  const stores: Store[] = [];
  const door = async () => {
    const store = await openSqliteStore(file);
    stores.push(store);
    return store;
  };
  const store = await door();
  return {
    folder,
    file,
    store,
    board: await openBoard(store, opts),
    again: async (more = {}) => openBoard(await door(), { ...opts, ...more }),
    async events() {
      const all: StoredEvent[] = [];
      for await (const event of store.read("board")) all.push(event);
      return all;
    },
    async dispose() {
      for (const one of stores) await one.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const USER: By = { agent: "user" };
export const agent = (name: string, context = "ctx_a"): By => ({ context, agent: name });

/** The message of a refusal, with its code. */
export async function refusal(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (isHoldfastError(error)) return `${error.code}: ${error.message}`;
    throw error;
  }
  return "it was not refused";
}

export const states = (tasks: Task[]): Record<string, string> =>
  Object.fromEntries(tasks.map((t) => [t.id, `${t.status}${t.owner ? ` ${t.owner}` : ""}`]));

export const ids = (tasks: Task[]): string[] => tasks.map((task) => task.id);
