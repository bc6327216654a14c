// Wakes: who is due, and when.
import { digest, sameBytes } from "../checksum.ts";
import type { Wake, WakeInput } from "../store.ts";
import type { Connection } from "./connection.ts";
import { damaged } from "./rows.ts";
import { tally } from "./tally.ts";

export interface WakeRow {
  /** Context, agent and mechanism as one text (`keyOf`): older Holdfasts write and read the same. */
  agent: string;
  due_at: number;
  sum: Uint8Array;
}

/** `by:context` or `by:context/agent`. Contract: `wakeOf` gives back exactly what went in. */
function keyOf({ context, agent, by }: Omit<Wake, "dueAt">): string {
  return agent === null ? `${by}:${context}` : `${by}:${context}/${agent}`;
}

export function wakeOf(row: Pick<WakeRow, "agent" | "due_at">): Wake {
  const colon = row.agent.indexOf(":");
  const rest = row.agent.slice(colon + 1);
  const slash = rest.indexOf("/");
  const whom =
    slash < 0 ? { context: rest, agent: null } : { context: rest.slice(0, slash), agent: rest.slice(slash + 1) };
  return { ...whom, by: row.agent.slice(0, Math.max(colon, 0)), dueAt: row.due_at };
}

function wakeSum({ agent, due_at }: Pick<WakeRow, "agent" | "due_at">): Uint8Array {
  return digest("wake", [agent, due_at]);
}

export function putWake(db: Connection, wake: WakeInput): void {
  const agent = keyOf(wake);
  const before = db.get<WakeRow>("SELECT agent, due_at, sum FROM wakes WHERE agent = ?", agent);
  if (wake.dueAt === null) {
    if (!before) return;
    db.run("DELETE FROM wakes WHERE agent = ?", agent);
    tally(db, "wakes", { out: before.sum });
    return;
  }
  if (before?.due_at === wake.dueAt) return;
  const sum = wakeSum({ agent, due_at: wake.dueAt });
  db.run("INSERT OR REPLACE INTO wakes (agent, due_at, sum) VALUES (?, ?, ?)", agent, wake.dueAt, sum);
  tally(db, "wakes", { out: before?.sum, in: sum });
}

export function dueWakes(db: Connection, now: number): Wake[] {
  const rows = db.all<WakeRow>("SELECT agent, due_at, sum FROM wakes WHERE due_at <= ? ORDER BY due_at, agent", now);
  for (const row of rows) if (!intactWake(row)) throw damaged({ what: `the wake of ${row.agent} fails its checksum` });
  return rows.map(wakeOf);
}

/** Nobody is woken for what is gone. */
export function dropWakes(db: Connection, contexts: ReadonlySet<string>): void {
  for (const row of allWakes(db)) {
    const wake = wakeOf(row);
    if (contexts.has(wake.context)) putWake(db, { ...wake, dueAt: null });
  }
}

export function allWakes(db: Connection): WakeRow[] {
  return db.all<WakeRow>("SELECT agent, due_at, sum FROM wakes ORDER BY agent");
}

export function intactWake(row: WakeRow): boolean {
  return sameBytes(row.sum, wakeSum(row));
}
