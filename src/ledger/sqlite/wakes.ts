// Owns wakes: when which agent is due.
import { digest, sameBytes } from "../checksum.ts";
import type { Wake } from "../store.ts";
import type { Connection } from "./connection.ts";
import { damaged } from "./rows.ts";
import { tally } from "./tally.ts";

interface WakeRow {
  agent: string;
  due_at: number;
  sum: Uint8Array;
}

export function wakeSum(agent: string, dueAt: number): Uint8Array {
  return digest("wake", [agent, dueAt]);
}

export function putWake(db: Connection, wake: { agent: string; dueAt: number | null }): void {
  const before = db.get<WakeRow>("SELECT agent, due_at, sum FROM wakes WHERE agent = ?", wake.agent);
  if (wake.dueAt === null) {
    if (!before) return;
    db.run("DELETE FROM wakes WHERE agent = ?", wake.agent);
    tally(db, "wakes", { out: before.sum });
    return;
  }
  if (before?.due_at === wake.dueAt) return;
  const sum = wakeSum(wake.agent, wake.dueAt);
  db.run("INSERT OR REPLACE INTO wakes (agent, due_at, sum) VALUES (?, ?, ?)", wake.agent, wake.dueAt, sum);
  tally(db, "wakes", { out: before?.sum, in: sum });
}

export function dueWakes(db: Connection, now: number): Wake[] {
  const rows = db.all<WakeRow>("SELECT agent, due_at, sum FROM wakes WHERE due_at <= ? ORDER BY due_at, agent", now);
  return rows.map(checked);
}

export function allWakes(db: Connection): WakeRow[] {
  return db.all<WakeRow>("SELECT agent, due_at, sum FROM wakes ORDER BY agent");
}

function checked(row: WakeRow): Wake {
  if (!sameBytes(row.sum, wakeSum(row.agent, row.due_at)))
    throw damaged({ what: `the wake of ${row.agent} fails its checksum` });
  return { agent: row.agent, dueAt: row.due_at };
}
