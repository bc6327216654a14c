// The content hash of a ledger: a chain over what its events say, the same in every store.
import { hash } from "node:crypto";
import type { Seq, Store, StoredEvent } from "./store.ts";

/** An event as it is in every store: without the store's own checksum. */
export type PortableEvent = Omit<StoredEvent, "sum">;

/** Of a ledger without events. */
export const NO_CONTENT = "";

/** Contract: the place of an event in the chain says its seq; its fields may stand in any order. */
export function nextContentHash(before: string, event: Omit<PortableEvent, "seq">): string {
  const { id, type, v, actor, touches, data, at } = event;
  return hash("sha256", `${before}\n${canonicalJson([id, type, v, actor, touches, data, at])}`, "hex");
}

export async function contentHashOf(
  store: Pick<Store, "read">,
  ledger: string,
  { upTo }: { upTo: Seq },
): Promise<{ events: Seq; sum: string }> {
  let sum = NO_CONTENT;
  let events = 0;
  if (upTo > 0)
    for await (const event of store.read(ledger, { upTo })) {
      sum = nextContentHash(sum, event);
      events = event.seq;
    }
  return { events, sum };
}

/** A store may give the fields of an object back in another order. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value).filter(([, one]) => one !== undefined);
  fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, one]) => `${JSON.stringify(key)}:${canonicalJson(one)}`).join()}}`;
}
