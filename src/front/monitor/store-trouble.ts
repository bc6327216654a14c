// Whether the store of a project answers: since when it does not, or its file is gone. Asks nothing itself.
import fs from "node:fs";
import type { Store } from "../../ledger/store.ts";
import { printable } from "../presentation/printable.ts";

/** An answer that takes so long is missed. */
const MISSED_MS = 1_500;
const FILE = "sqlite:";

export interface StoreTrouble {
  since: number;
  /** One line for people. */
  says: string;
}

/** Contract: undefined where nothing is known to be wrong. */
export function watchTrouble(store: Store): () => StoreTrouble | undefined {
  const file = store.url.startsWith(FILE) ? store.url.slice(FILE.length) : undefined;
  const fileGone = file === undefined ? undefined : watchFile(file);
  return () => fileGone?.() ?? silenceOf(store);
}

function silenceOf(store: Store): StoreTrouble | undefined {
  const since = store.silentSince?.();
  if (since === undefined || Date.now() - since < MISSED_MS) return undefined;
  return { since, says: `its store has not answered since ${timeOf(since)}: what is shown is as of then` };
}

/** Whoever has it open reads on in a file that was removed: nobody else ever sees it. */
function watchFile(file: string): () => StoreTrouble | undefined {
  const inode = () => fs.statSync(file, { throwIfNoEntry: false })?.ino;
  const own = inode();
  let since: number | undefined;
  return () => {
    const now = inode();
    since = now === own ? undefined : (since ?? Date.now());
    if (since === undefined) return undefined;
    const what = now === undefined ? "is gone" : "is another file";
    return {
      since,
      says: `${printable(file)} ${what} since ${timeOf(since)}: what is shown is as of then; where another was put there, start the monitor again`,
    };
  };
}

const timeOf = (at: number): string => new Date(at).toLocaleTimeString("en-GB");
