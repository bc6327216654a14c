// Watching: one watcher per store, woken by the bell file, by this process's own commits, and once a second.
import { type FSWatcher, watch } from "node:fs";
import type { Seq } from "../store.ts";
import type { Connection } from "./connection.ts";

/** A writer that is killed between commit and bell is noticed by this check. */
const CHECK_MS = 1_000;

export interface Watch {
  advanced(row: { n: number; name: string; head: Seq }): void;
  /** Contract: registered when this returns, so that nothing after the call is missed. */
  subscribe(signal: AbortSignal): AsyncIterable<{ ledger: string; seq: Seq }>;
  close(): void;
}

interface Subscriber {
  /** The last head of each ledger that has not been handed out yet: may coalesce, never misses the last one. */
  pending: Map<string, Seq>;
  wake: () => void;
}

export function createWatch(db: Connection, file: string): Watch {
  const subscribers = new Set<Subscriber>();
  const known = new Map<number, Seq>();
  let bell: FSWatcher | undefined;
  let timer: NodeJS.Timeout | undefined;
  let version = -1;
  let closed = false;

  function advanced(row: { n: number; name: string; head: Seq }): void {
    if ((known.get(row.n) ?? 0) >= row.head) return;
    known.set(row.n, row.head);
    for (const one of subscribers) {
      one.pending.set(row.name, row.head);
      one.wake();
    }
  }

  /** data_version changes only when another connection commits; our own commits come in through `advanced`. */
  function look(first = false): void {
    if (closed) return;
    try {
      const now = db.get<{ data_version: number }>("PRAGMA data_version")!.data_version;
      if (now === version) return;
      for (const row of db.all<{ n: number; name: string; head: Seq }>(
        "SELECT n, name, head FROM ledgers WHERE removed = 0",
      )) {
        if (first) known.set(row.n, row.head);
        else advanced(row);
      }
      version = now;
    } catch {
      // Locked for a moment, or damaged: the next look or read says so.
    }
  }

  function start(): void {
    version = -1;
    look(true);
    try {
      bell = watch(`${file}.bell`, { persistent: false }, () => look());
      bell.on("error", () => {});
    } catch {
      // No bell, or no more watches to be had: look more often.
    }
    timer = setInterval(look, bell ? CHECK_MS : CHECK_MS / 10).unref();
  }

  function stop(): void {
    bell?.close();
    clearInterval(timer);
    bell = undefined;
    timer = undefined;
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
