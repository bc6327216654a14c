// Tasks whose owner has no host: marked when that is first seen, released when it lasts, with a note.
import type { Store } from "../../ledger/store.ts";
import { type BoardDecision, fact, ownerEntity, taskEntity } from "./decision.ts";
import type { BoardState } from "./fold.ts";
import type { By, Task } from "./port.ts";

const ORPHAN_AFTER_MS = 30 * 60_000;
const HOUSE: By = { agent: "holdfast" };

export interface Sweep {
  /** How long an owner may be without a host (default 30 minutes). */
  orphanAfterMs?: number;
  /** Whether a process acts for that owner; default: its lease is held. */
  hosted?: (owner: string) => Promise<boolean>;
  now?: number;
}

interface Orphanage {
  store: Store;
  state: BoardState;
  write: (by: By, decide: (state: BoardState) => BoardDecision) => Promise<unknown[]>;
  sweep: Sweep;
}

/** Contract: marks are facts, so that any process may go on counting where another stopped; a person's tasks stay. */
export async function releaseOrphans({ store, state, write, sweep }: Orphanage): Promise<string[]> {
  const { orphanAfterMs = ORPHAN_AFTER_MS, now = Date.now() } = sweep;
  const hosted = sweep.hosted ?? (async (owner) => (await store.leases.inspect(`agent:${owner}`)) !== undefined);
  const released: string[] = [];
  for (const [owner, ids] of [...state.running].filter(([name]) => name.includes("/"))) {
    const isHosted = await hosted(owner);
    for (const task of [...ids].flatMap((id) => state.tasks.get(id) ?? [])) {
      const { id, unhostedAt } = task;
      if (isHosted !== (unhostedAt === undefined)) {
        await write(HOUSE, (newest) => unlessChanged(newest, task, isHosted ? "task.hosted" : "task.unhosted"));
      } else if (unhostedAt !== undefined && now - unhostedAt >= orphanAfterMs) {
        const note = `${owner} had no host for ${Math.round((now - unhostedAt) / 60_000)} minutes`;
        const events = await write(HOUSE, (newest) => unlessChanged(newest, task, "task.released", note));
        if (events.length > 0) released.push(id);
      }
    }
  }
  return released;
}

/** What was seen must still be so: the task may have found another owner since. */
function unlessChanged(state: BoardState, seen: Task, type: string, note?: string): BoardDecision {
  const { id, owner } = seen;
  const now = state.tasks.get(id);
  const isSame = now?.status === "in_progress" && now.owner === owner && now.unhostedAt === seen.unhostedAt;
  if (!isSame || owner === null) return { events: [], reads: [], claimable: [] };
  const isRelease = type === "task.released";
  const touches = [taskEntity(id), ...(isRelease ? [ownerEntity(owner)] : [])];
  return {
    events: [fact(type, HOUSE, touches, { id, ...(note && { note }) })],
    reads: [taskEntity(id)],
    claimable: isRelease ? [id] : [],
  };
}
