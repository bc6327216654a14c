// Events as entries of a stream: how they are written, chained, read and checked.
import { createHash } from "node:crypto";
import { digest, hex } from "../checksum.ts";
import type { EventDraft } from "../draft.ts";
import { HoldfastError } from "../error.ts";
import type { Damage, Seq, StoredEvent } from "../store.ts";

/** An event as it is stored. */
export interface Entry {
  seq: Seq;
  id: string;
  at: number;
  type: string;
  v: number;
  actor: string;
  /** JSON array; empty when the event touches nothing. */
  touches: string;
  /** JSON text. */
  data: string;
  sum: string;
}

/** What the chain takes of an event beside its place and time, which the server gives. */
export function contentDigest(
  one: Pick<EventDraft, "id" | "type" | "v" | "actor" | "data"> & { touches: string },
): string {
  return hex(digest("event", [one.id, one.type, one.v, one.actor, one.touches, one.data]));
}

/** The same as append.lua makes. */
function chained(previous: string, entry: Entry): string {
  const text = `${previous}|${entry.seq}|${entry.at}|${contentDigest(entry)}`;
  return createHash("sha1").update(text).digest("hex");
}

export const chainHolds = (previous: string, entry: Entry): boolean => entry.sum === chained(previous, entry);

const FIELDS = ["i", "a", "y", "v", "r", "t", "d", "s"];

/** Undefined: it is no entry of ours. */
export function streamEntry(raw: unknown): Entry | undefined {
  if (!Array.isArray(raw) || !Array.isArray(raw[1])) return undefined;
  const fields: string[] = raw[1].map(String);
  if (FIELDS.some((name, i) => fields[2 * i] !== name)) return undefined;
  const [id = "", at, type = "", v, actor = "", touches = "", data = "", sum = ""] = FIELDS.map(
    (_, i) => fields[2 * i + 1],
  );
  const seq = Number.parseInt(String(raw[0]), 10);
  return { seq, id, at: Number(at), type, v: Number(v), actor, touches, data, sum };
}

/** Contract: throws `damaged` where what is stored was never an event. */
export function eventOf(ledger: string, { data, touches, ...entry }: Entry): StoredEvent {
  try {
    return { ...entry, touches: touchesOf(touches), data: JSON.parse(data) };
  } catch {
    throw damagedHere({ ledger, seq: entry.seq, what: "the event cannot be read" });
  }
}

/** Contract: throws where it is no list of texts. */
function touchesOf(text: string): string[] {
  const entities: unknown = text === "" ? [] : JSON.parse(text);
  if (!Array.isArray(entities)) throw new Error("no list");
  return entities.map(String);
}

export function damagedHere(damage: Damage): HoldfastError {
  const where = damage.ledger === undefined ? "the store" : `ledger ${damage.ledger}`;
  const from = damage.seq === undefined ? "" : ` from event ${damage.seq} on`;
  return new HoldfastError(
    "damaged",
    `${where}${from} is damaged: ${damage.what}; what is before it can be read; restore the rest from a backup`,
    { detail: damage },
  );
}
