// One project as the monitor reads it: its store, how its ledgers are read, and the contexts whose ledgers stay folded.
import type { FileKeeper } from "../../contexts/file-keeper.ts";
import type { Codec } from "../../ledger/events.ts";
import type { Fold } from "../../ledger/fold.ts";
import { type Ledger, openLedger } from "../../ledger/ledger.ts";
import type { Store } from "../../ledger/store.ts";
import type { Place } from "../presentation/command-line.ts";
import type { ProjectRow } from "./api.ts";
import { inStretches } from "./stretches.ts";

/** How ledgers of contexts are read. `waits`: only what tells who waits for a person, for contexts that are listed and not looked at. */
export interface ContextReaders {
  codec: Codec;
  fold: Fold;
  waits: Fold;
  /** What is looked at as of any event. */
  past: Fold;
}

export interface MonitoredProject {
  readonly row: ProjectRow;
  readonly store: Store;
  readonly readers: ContextReaders;
  /** For the commands that the page shows. */
  readonly place: Place;
  /** The files of checkpoints of contexts that work in that folder. */
  files(root: string): FileKeeper;
  /** Whether a folder is the project's: asked of paths that stand in a store to which other machines write. */
  readonly isOwnFolder?: ((folder: string) => boolean) | undefined;
}

/** Contract: as new as the store when it resolves; asked for again, it only reads on. */
export type LedgerOf = (context: string) => Promise<Ledger>;

/** So many stay folded, the last used. */
export function keepLedgers({
  store,
  codec,
  fold,
  most,
}: {
  store: Store;
  codec: Codec;
  fold: Fold;
  most: number;
}): LedgerOf {
  const kept = new Map<string, Promise<Ledger>>();
  const unhurried = inStretches(store);
  return async (context) => {
    const found = kept.get(context);
    const opening = found ?? openLedger({ store: unhurried, name: context, codec, fold });
    kept.delete(context);
    kept.set(context, opening);
    for (const oldest of kept.keys()) {
      if (kept.size <= most) break;
      kept.delete(oldest);
    }
    try {
      const ledger = await opening;
      if (found) await ledger.catchUp();
      return ledger;
    } catch (error) {
      kept.delete(context);
      throw error;
    }
  };
}
