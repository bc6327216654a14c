// The ledger of a replay: the state that was folded so far, and appends that go to whoever compares them. Nothing is stored.
import { HoldfastError } from "../ledger/error.ts";
import type { State } from "../ledger/fold.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { EventInput, Store, StoredEvent } from "../ledger/store.ts";

export interface PlayedLedger {
  name: string;
  state: () => State;
  append: (events: EventInput[]) => Promise<StoredEvent[]>;
  blob: Store["blob"];
  watchAll: Store["watchAll"];
}

const refuse = (): never => {
  throw new HoldfastError("invalid", "a replay writes nothing and reads nothing but its recording");
};

export function ledgerOf({ name, state, append, blob, watchAll }: PlayedLedger): Ledger {
  return {
    name,
    store: storeOf({ blob, watchAll }),
    get state() {
      return state();
    },
    problems: [],
    readOnly: undefined,
    version: () => 0,
    append: (events) => append(events),
    decide: refuse,
    catchUp: async () => state().seq,
    durable: async () => undefined,
    subscribe: () => () => undefined,
    saveSnapshot: async () => undefined,
  };
}

const storeOf = ({ blob, watchAll }: Pick<Store, "blob" | "watchAll">): Store => ({
  url: "replay:",
  identity: "replay:",
  durability: { class: "power-safe", says: "a replay writes nothing" },
  reach: "machine",
  readOnly: { code: "refused", message: "a replay writes nothing" },
  append: refuse,
  read: refuse,
  head: refuse,
  version: refuse,
  list: refuse,
  remove: refuse,
  collect: refuse,
  blob,
  find: refuse,
  snapshots: refuse,
  watchAll,
  due: async () => [],
  leases: { acquire: refuse, inspect: refuse },
  verify: refuse,
  close: async () => undefined,
});
