// Drafts of an append: everything that can be checked and made before a store is asked.
import type { Row } from "./checksum.ts";
import { HoldfastError } from "./error.ts";
import { newId } from "./id.ts";
import { mayRefer, possibleReferences } from "./references.ts";
import type { AppendOptions, EventInput, WakeInput, Write } from "./store.ts";

/** Of a ledger's name, in UTF-8. */
export const NAME_BYTES = 200;

/** So many texts of an append are looked up while everyone waits; with more a store has another way, or reads the ledger again when it collects. */
const MOST_LOOKED_UP = 200;

/** One event as it will be stored, all but its place in the ledger. */
export type EventDraft = Omit<Row, "seq" | "at" | "sum"> & { given: boolean; at?: number; input: EventInput };

/** One write, all but its place in the ledger. */
export interface DraftedWrite {
  write: Write;
  events: EventDraft[];
  /** What its events may name, as far as anything; "many": too much to look up. */
  possible?: Set<string> | "many";
}

/** Checks what needs no database, before the lock is taken. */
export function draft(writes: Write[], { wake = [] }: AppendOptions): DraftedWrite[] {
  const ids = new Set<string>();
  for (const one of wake) checkWake(one);
  return writes.map((write) => {
    if (write.ledger === "" || Buffer.byteLength(write.ledger) > NAME_BYTES || write.ledger.includes("\0")) {
      throw new HoldfastError("invalid", `a ledger's name has 1 to ${NAME_BYTES} bytes`);
    }
    const events = write.events.map((event) => {
      const one = draftEvent(event);
      const key = `${write.ledger}\n${one.id}`;
      if (ids.has(key)) throw new HoldfastError("id_reused", `event id ${one.id} stands twice in one append`);
      ids.add(key);
      return one;
    });
    return { write, events, possible: possiblyNamed(events) };
  });
}

function possiblyNamed(events: EventDraft[]): DraftedWrite["possible"] {
  let possible: Set<string> | undefined;
  for (const { data } of events) {
    if (!mayRefer(data)) continue;
    possible ??= new Set();
    for (const hash of possibleReferences(data)) {
      possible.add(hash);
      if (possible.size > MOST_LOOKED_UP) return "many";
    }
  }
  return possible;
}

function draftEvent(event: EventInput): EventDraft {
  const { id, type, actor, v = 1, touches = [], at } = event;
  if (at !== undefined && !Number.isSafeInteger(at))
    throw new HoldfastError("invalid", "an event's time is a whole number of milliseconds");
  if (!type || typeof actor !== "string" || !Number.isSafeInteger(v) || `${id ?? ""}${type}${actor}`.includes("\0")) {
    throw new HoldfastError("invalid", "an event needs a type, an actor and a whole number as its version");
  }
  return {
    input: event,
    id: id ?? newId("evt"),
    given: id !== undefined,
    type,
    v,
    actor,
    touches: touches.length === 0 ? null : JSON.stringify(touches),
    data: JSON.stringify(event.data) ?? "null",
    ...(at !== undefined && { at }),
  };
}

/** The first `:` ends the mechanism, the first `/` behind it the context: neither may hold what ends it. */
/** Contract: what an append takes, and what a store that others write to may answer. */
export function isWake({ context, agent, by, dueAt }: WakeInput): boolean {
  const names = by !== "" && context !== "" && agent !== "" && !by.includes(":") && !context.includes("/");
  return names && (dueAt === null || Number.isSafeInteger(dueAt));
}

function checkWake(wake: WakeInput): void {
  if (isWake(wake)) return;
  throw new HoldfastError(
    "invalid",
    "a wake names a mechanism (without `:`), a context (without `/`), an agent or null, and a time in whole milliseconds or null",
  );
}
