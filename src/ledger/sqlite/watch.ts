// Watching: one watcher per store, woken by the bell file, by this process's own commits, and once a second.
import { type FSWatcher, watch } from "node:fs";
import type { Seq } from "../store.ts";
import { createWatchers, type Watchers } from "../watchers.ts";
import type { Connection } from "./connection.ts";

/** A writer that is killed between commit and bell is noticed by this check. */
const CHECK_MS = 1_000;

export interface Watch extends Omit<Watchers, "tell"> {
  advanced(row: LedgerHead): void;
}

type LedgerHead = { n: number; name: string; head: Seq };

/** What is known of where ledgers end. */
function createHeads(db: Connection) {
  const known = new Map<number, Seq>();
  let version = -1;

  /** data_version changes only when another connection commits; our own commits come in through `advanced`. */
  function sinceLastLook(): LedgerHead[] {
    const now = db.get<{ data_version: number }>("PRAGMA data_version")!.data_version;
    if (now === version) return [];
    const rows = db.all<LedgerHead>("SELECT n, name, head FROM ledgers WHERE removed = 0");
    version = now;
    return rows;
  }

  return {
    /** Nothing that is there now is news. */
    begin(): void {
      version = -1;
      try {
        for (const { n, head } of sinceLastLook()) known.set(n, head);
      } catch {
        // As when looking: the next look or read says so.
      }
    },
    sinceLastLook,
    isNews({ n, head }: LedgerHead): boolean {
      if ((known.get(n) ?? 0) >= head) return false;
      known.set(n, head);
      return true;
    },
  };
}

interface Bell {
  close(): void;
}

/** Calls `look` when the file is touched, and in any case now and then. */
function hangBell(file: string, look: () => void): Bell {
  let bell: FSWatcher | undefined;
  try {
    bell = watch(file, { persistent: false }, look);
    bell.on("error", () => {});
  } catch {
    // No bell, or no more watches to be had: look more often.
  }
  const timer = setInterval(look, bell ? CHECK_MS : CHECK_MS / 10).unref();
  return {
    close() {
      bell?.close();
      clearInterval(timer);
    },
  };
}

export function createWatch(db: Connection, file: string): Watch {
  const watchers = createWatchers({ begin: start, rest: stop });
  const heads = createHeads(db);
  let bell: Bell | undefined;
  let closed = false;

  function advanced(row: LedgerHead): void {
    if (!heads.isNews(row)) return;
    watchers.tell({ ledger: row.name, seq: row.head });
  }

  function look(): void {
    if (closed) return;
    try {
      for (const row of heads.sinceLastLook()) advanced(row);
    } catch {
      // Locked for a moment, or damaged: the next look or read says so.
    }
  }

  function start(): void {
    heads.begin();
    bell = hangBell(`${file}.bell`, look);
  }

  function stop(): void {
    bell?.close();
    bell = undefined;
  }

  return {
    advanced,
    subscribe: watchers.subscribe,
    close() {
      closed = true;
      watchers.close();
    },
  };
}
