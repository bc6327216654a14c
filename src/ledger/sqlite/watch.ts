// Watching: one watcher per store, woken by the bell file, by this process's own commits, and once a second.
import { type FSWatcher, watch } from "node:fs";
import type { Seq } from "../store.ts";
import type { Connection } from "./connection.ts";

/** A writer that is killed between commit and bell is noticed by this check. */
const CHECK_MS = 1_000;

export interface Watch {
  advanced(row: LedgerHead): void;
  /** Contract: registered when this returns, so that nothing after the call is missed. */
  subscribe(signal: AbortSignal): AsyncIterable<{ ledger: string; seq: Seq }>;
  close(): void;
}

interface Subscriber {
  /** The last head of each ledger that has not been handed out yet: may coalesce, never misses the last one. */
  pending: Map<string, Seq>;
  wake: () => void;
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
  const subscribers = new Set<Subscriber>();
  const heads = createHeads(db);
  let bell: Bell | undefined;
  let closed = false;

  function advanced(row: LedgerHead): void {
    if (!heads.isNews(row)) return;
    for (const one of subscribers) {
      one.pending.set(row.name, row.head);
      one.wake();
    }
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
    subscribe(signal) {
      const one: Subscriber = { pending: new Map(), wake: () => {} };
      const end = () => {
        signal.removeEventListener("abort", end);
        subscribers.delete(one);
        if (subscribers.size === 0) stop();
        one.wake();
      };
      if (!signal.aborted && !closed) {
        if (subscribers.size === 0) start();
        subscribers.add(one);
        signal.addEventListener("abort", end);
      }
      return deliver(one, { live: () => subscribers.has(one), end });
    },
    close() {
      closed = true;
      stop();
      const all = [...subscribers];
      subscribers.clear();
      for (const one of all) one.wake();
    },
  };
}

async function* deliver(
  one: Subscriber,
  { live, end }: { live: () => boolean; end: () => void },
): AsyncIterable<{ ledger: string; seq: Seq }> {
  try {
    while (live()) {
      for (const [ledger, seq] of one.pending) {
        one.pending.delete(ledger);
        yield { ledger, seq };
        if (!live()) return;
      }
      if (one.pending.size > 0) continue;
      await new Promise<void>((resolve) => {
        one.wake = resolve;
      });
    }
  } finally {
    end();
  }
}
