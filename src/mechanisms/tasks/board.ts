// The board as others use it: the project's tasks, shared by all contexts and processes on one store.

import { createFold } from "../../ledger/fold.ts";
import { knownFact } from "../../ledger/guards.ts";
import { openLedger } from "../../ledger/ledger.ts";
import type { AppendOptions, Store } from "../../ledger/store.ts";
import { decideDelete, decideUpdate } from "./decide-change.ts";
import { decideCreate } from "./decide-create.ts";
import { decideImport, type Imported, type TaskFile } from "./decide-import.ts";
import { decideClaim, decideClaimNext, decideComplete, decideRelease, type Scene } from "./decide-work.ts";
import { type BoardDecision, findTask } from "./decision.ts";
import { BOARD_LEDGER, boardCodec, type boardEvents } from "./events.ts";
import { type BoardFact, type BoardState, boardIn, boardSlice, callKey } from "./fold.ts";
import { inOrder, isClaimable, openBlockers } from "./graph.ts";
import { releaseOrphans, type Sweep } from "./orphans.ts";
import type { By, Changed, ClaimChoice, NewTask, Task, TaskBoard, TaskChanges, TaskFilter } from "./port.ts";

export interface BoardOptions {
  /** Running tasks an owner may have (default 1). */
  runningPerOwner?: number;
  /** Whom to wake, in the same transaction, when tasks become claimable. Contract: changes nothing, answers at once. */
  wake?: (claimable: Task[]) => NonNullable<AppendOptions["wake"]>;
}

export interface Board extends TaskBoard {
  /** The owner's running task, else the best claimable one that fits. Contract: undefined when there is none; one winner. */
  claimNext(by: By, opts?: ClaimChoice): Promise<Task | undefined>;
  release(id: string, by: By, note?: string): Promise<Task>;
  /** Every running task of an owner that was shut down, failed or deleted. */
  releaseAll(owner: string, by: By, note: string): Promise<Task[]>;
  /** Contract: refused while others wait for it or someone works on it, unless `force`. */
  delete(id: string, by: By, opts?: { force?: boolean }): Promise<Task[]>;
  import(files: TaskFile[], by: By): Promise<Imported>;
  /** Marks running tasks whose owner has no host, and releases those that were marked long ago. */
  sweep(opts?: Sweep): Promise<Task[]>;
  /** Every change by any process, as it becomes visible; may join several. */
  watch(signal: AbortSignal): AsyncIterable<void>;
}

export async function openBoardOn(store: Store, opts: BoardOptions = {}): Promise<Board> {
  const fold = createFold({ board: boardSlice });
  const ledger = await openLedger({ store, name: BOARD_LEDGER, codec: boardCodec(), fold });
  await ledger.saveSnapshot();
  const limit = opts.runningPerOwner ?? 1;
  const state = () => boardIn(ledger.state);
  const catchUp = async () => {
    await ledger.catchUp();
    return state();
  };
  const write = async (by: By, decide: (state: BoardState) => BoardDecision): Promise<BoardFact[]> => {
    const events = await ledger.decide(
      (at) => {
        const board = boardIn(at);
        const { events, reads, claimable } = decide(board);
        const free = claimable.flatMap((id) => board.tasks.get(id) ?? []);
        return { events, reads, ...(claimable.length > 0 && opts.wake && { wake: opts.wake(free) }) };
      },
      { id: callKey(by) },
    );
    return events.map((event) => knownFact<typeof boardEvents>(event));
  };
  const sceneOf = (state: BoardState, by: By, note?: string): Scene => ({ state, tasks: state.tasks, by, note, limit });
  const task = (id: string): Task => findTask(state().tasks, id);
  const present = (ids: string[]) => ids.flatMap((id) => state().tasks.get(id) ?? []);

  function changedBy(id: string, events: BoardFact[]): Changed {
    const cancelled = events.some((event) => event.type === "task.cancelled");
    const now = task(id);
    const waiting = cancelled ? [...(state().dependants.get(now.id) ?? [])] : [];
    return {
      task: now,
      unblocked: present(unblockedBy(events)),
      stranded: present(waiting).filter((t) => t.status === "pending"),
    };
  }

  const release = async (id: string, by: By, note?: string): Promise<Task> => {
    await write(by, (state) => decideRelease(sceneOf(state, by, note), findTask(state.tasks, id)));
    return task(id);
  };

  const board: Board = {
    async create(tasks: NewTask[], by) {
      const events = await write(by, (state) => decideCreate(state, tasks, by));
      return present(events.map((event) => event.data.id));
    },
    async update(id, changes: TaskChanges, by) {
      return changedBy(id, await write(by, (s) => decideUpdate(sceneOf(s, by), findTask(s.tasks, id), changes)));
    },
    async claim(id, by) {
      await write(by, (state) => decideClaim(sceneOf(state, by), findTask(state.tasks, id)));
      return task(id);
    },
    async claimNext(by, choice = {}) {
      let chosen: string | undefined;
      const events = await write(by, (state) => {
        const next = decideClaimNext(sceneOf(state, by), choice);
        chosen = next.task?.id;
        return next.decision;
      });
      const id = events[0]?.data.id ?? chosen;
      return id === undefined ? undefined : state().tasks.get(id);
    },
    async complete(id, by, { note, unknown } = {}) {
      const decide = (s: BoardState) => decideComplete({ ...sceneOf(s, by, note), unknown }, findTask(s.tasks, id));
      return changedBy(id, await write(by, decide));
    },
    release,
    async releaseAll(owner, by, note) {
      const { running } = await catchUp();
      const released: Task[] = [];
      for (const id of [...(running.get(owner) ?? [])])
        released.push(await release(id, by.call === undefined ? by : { ...by, call: `${by.call}/${id}` }, note));
      return released;
    },
    async delete(id, by, { force = false } = {}) {
      const events = await write(by, (state) => decideDelete(state, findTask(state.tasks, id), by, force));
      return present(unblockedBy(events));
    },
    async import(files, by) {
      let done: Imported = { created: [], present: [] };
      await write(by, (state) => {
        const { decision, imported } = decideImport(state, files, by);
        done = imported;
        return decision;
      });
      return done;
    },
    async get(id) {
      await ledger.catchUp();
      return task(id);
    },
    async list(filter = {}) {
      const { tasks } = await catchUp();
      return inOrder(
        tasks,
        [...tasks.values()].filter((one) => fitsFilter(tasks, one, filter)),
      );
    },
    openBlockers: (one) => openBlockers(state().tasks, one),
    async sweep(sweep = {}) {
      return present(await releaseOrphans({ store, state: await catchUp(), write, sweep }));
    },
    async *watch(signal) {
      for await (const change of store.watchAll(signal)) if (change.ledger === BOARD_LEDGER) yield;
    },
  };
  return board;
}

/** Of all that was recorded together. */
const unblockedBy = (events: readonly BoardFact[]): string[] =>
  events.flatMap(({ data }) => ("unblocked" in data ? data.unblocked : []));

function fitsFilter(tasks: BoardState["tasks"], task: Task, filter: TaskFilter): boolean {
  const { status, owner, label, claimable } = filter;
  if (status !== undefined && task.status !== status) return false;
  if (owner !== undefined && task.owner !== owner) return false;
  if (label !== undefined && !task.labels.includes(label)) return false;
  return claimable === undefined || isClaimable(tasks, task) === claimable;
}
