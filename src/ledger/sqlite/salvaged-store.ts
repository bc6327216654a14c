// The read-only store over what salvage has proven: every ledger up to its damage, blobs that verify.
import type { SalvagedLedger } from "../salvage-chain.ts";
import type { Store, StoredEvent } from "../store.ts";
import { type Assessment, describe, versionIn } from "./damage.ts";
import { type ReadOptions, wanted } from "./read.ts";
import { damaged, toEvent } from "./rows.ts";
import { POWER_SAFE } from "./schema.ts";

export function createSalvagedStore(url: string, { found, damage }: Assessment): Store {
  let closed = false;
  const refuse = async (): Promise<never> => {
    throw damaged(damage[0] ?? { what: "its structure is broken" });
  };
  return {
    url,
    identity: url, // nothing is begun in it
    durability: POWER_SAFE,
    reach: "machine",
    readOnly: { code: "damaged", message: describe(damage) },
    damageOf: (ledger) => damage.find((one) => one.ledger === ledger),
    append: refuse,
    remove: refuse,
    collect: refuse,
    read: (ledger, opts) => readSalvaged(found.ledgers.get(ledger), opts),
    head: async (ledger) => found.ledgers.get(ledger)?.head ?? 0,
    version: async (ledger, entity) => versionIn(found.ledgers.get(ledger), entity),
    async *list({ prefix = "", after = "", limit = Number.POSITIVE_INFINITY } = {}) {
      const all = [...found.ledgers.values()].sort((a, b) => byBytes(a.name, b.name));
      const wanted = all.filter(({ name }) => name.startsWith(prefix) && byBytes(name, after) > 0);
      for (const { name, head, rows, summary, entry } of wanted.slice(0, limit)) {
        const createdAt = entry?.created_at ?? rows[0]?.at ?? 0;
        const updatedAt = entry?.updated_at ?? rows.at(-1)?.at ?? 0;
        yield { ledger: name, head, createdAt, updatedAt, summary: JSON.parse(summary) };
      }
    },
    blob: async (hash) => found.blob(hash),
    async find(ledger, id) {
      const row = found.ledgers.get(ledger)?.rows.find((one) => one.id === id);
      return row && toEvent(row);
    },
    snapshots: () => ({ load: async () => new Map(), save: refuse }),
    async *watchAll() {},
    due: async () => [],
    leases: { acquire: refuse, inspect: async () => undefined },
    async verify({ ledger } = {}) {
      const ledgers = [...found.ledgers.values()].filter((one) => ledger === undefined || one.name === ledger);
      const bad = found.blobs.filter((hash) => !found.blob(hash));
      return {
        ledgers: ledgers.length,
        events: ledgers.reduce((sum, one) => sum + one.rows.length, 0),
        blobs: found.blobs.length,
        damage: [...damage, ...bad.map((hash) => ({ what: `blob ${hash} is incomplete or changed` }))],
      };
    },
    async close() {
      if (!closed) found.close();
      closed = true;
    },
  };
}

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

export async function* readSalvaged(
  ledger: SalvagedLedger | undefined,
  opts: ReadOptions = {},
): AsyncGenerator<StoredEvent> {
  if (!ledger) return;
  const { after = 0, upTo = ledger.head } = opts;
  for (const row of ledger.rows.slice(after, Math.max(after, upTo))) if (wanted(row, opts)) yield toEvent(row);
  if (ledger.damage && upTo > ledger.rows.length) throw damaged(ledger.damage);
}
