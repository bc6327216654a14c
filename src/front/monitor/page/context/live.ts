// What came in since a context was opened: how far it is, and the newest event of each kind, so that a tab knows when to ask anew.
import type { ContextLiveMessage, EventRow, RowKind } from "../../context-api.ts";
import { ALL_KINDS } from "./kinds.ts";

export interface LiveContext {
  head: number;
  /** By kind, the last event that came in since: one that grows means that there is something else to show. */
  last: Readonly<Partial<Record<RowKind, number>>>;
  /** The newest that came in, without a gap. */
  recent: readonly Pick<EventRow, "seq" | "kind">[];
}

const MOST_RECENT = 500;

export const liveFrom = (head: number): LiveContext => ({ head, last: {}, recent: [] });

/** Contract: another value where something changed; an event that came twice counts once. */
export function withLive(live: LiveContext, message: ContextLiveMessage): LiveContext {
  const { head, rows } = message;
  if (head <= live.head) return live;
  const fresh = rows.filter(({ seq }) => seq > live.head);
  const last = { ...live.last };
  // After a long silence only the last rows come: of the others any kind may have been there.
  const hasGap = fresh.length < head - live.head;
  if (hasGap) for (const kind of ALL_KINDS) last[kind] = head;
  for (const { kind, seq } of fresh) last[kind] = Math.max(last[kind] ?? 0, seq);
  const recent = [...(hasGap ? [] : live.recent), ...fresh.map(({ kind, seq }) => ({ kind, seq }))].slice(-MOST_RECENT);
  return { head, last, recent };
}
