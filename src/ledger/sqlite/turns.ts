// Whose turn it is to write: the writers of this process stand in line, and so do processes as soon as one has had to wait.
import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import { HoldfastError, isHoldfastError } from "../error.ts";
import { monotonicMs } from "../holder.ts";
import type { Queue } from "./queue.ts";
import { isBusy, translate } from "./sqlite-errors.ts";

/** How long a write may wait for other writers before it gives up as `busy`. */
const GIVE_UP_MS = 30_000;
/** A writer that would not decide anew is announced after so long: sooner, decisions would grow old in line, and be refused. */
const STARVING_MS = 8;
/** Announced again after so long: well before others take this process for dead. */
const ANNOUNCE_MS = 10;
/** The first in line looks often for so long, then seldom: the holder may be stopped. */
const SPIN_MS = 200;
const NAP_MS = 0.25;
const never = new Int32Array(new SharedArrayBuffer(4));

/** Holds the lock. It calls `pass` when nothing can refuse it any more: the next one comes up while the disk syncs. */
type Work<T> = (pass: () => void) => T;

/** `since`: when a decision that keeps its place after a conflict was first made. */
type Turns = <T>(work: Work<T>, since?: number) => Promise<T>;

/** That this process waits, for the others to see. */
function createAnnouncement(queue: Queue | undefined) {
  let isUp = false;
  function announce(since: number): void {
    queue?.announce(since);
    isUp = true;
  }
  function withdraw(): void {
    if (isUp) queue?.withdraw();
    isUp = false;
  }
  return {
    isUp: () => isUp,
    announce,
    withdraw,
    /** Of an attempt that was refused: a decision of `since` stays announced. */
    after(error: unknown, since: number | undefined): void {
      // It comes again at once, and meanwhile nobody may change what it reads: so it cannot lose for ever.
      if (since !== undefined && isHoldfastError(error, "conflict")) announce(since);
      else if (!isBusy(error)) withdraw();
    },
  };
}

/**
 * SQLite's own busy handler sleeps ever longer and blocks the process, so that writers starve. Here one that has waited is announced
 * to the other processes, and while anyone is, all go in the order in which they came. `begin` takes the lock, or throws.
 */
export function createTurns(queue: Queue | undefined, begin: () => void): Turns {
  let line: Promise<unknown> | undefined;
  const announcement = createAnnouncement(queue);

  function go<T>(work: Work<T>, since: number | undefined): T {
    try {
      begin();
      return work(announcement.withdraw);
    } catch (error) {
      announcement.after(error, since);
      throw error;
    }
  }

  async function wait<T>(work: Work<T>, before: Promise<unknown> | undefined, given?: number): Promise<T> {
    await before?.catch(() => {});
    const from = monotonicMs();
    const since = given ?? from;
    for (let told = 0, first = from; ; ) {
      const now = monotonicMs();
      if (now - from > GIVE_UP_MS) {
        announcement.withdraw();
        throw stayedLocked();
      }
      if ((given !== undefined || now - from > STARVING_MS) && now - told > ANNOUNCE_MS) {
        announcement.announce(since);
        told = now;
      }
      const ahead = queue?.ahead(since) ?? 0;
      if (ahead === 0) {
        try {
          return go(work, given);
        } catch (error) {
          if (!isBusy(error)) throw translate(error);
        }
      }
      if (ahead > 0) first = now;
      if (ahead > 0) await sleep(ahead);
      else if (announcement.isUp() && now - first < SPIN_MS) await nap();
      else await sleep(1 + Math.random() * 3);
    }
  }

  return (work, since) => {
    if (line === undefined && !queue?.ahead(since ?? Number.POSITIVE_INFINITY)) {
      try {
        return Promise.resolve(go(work, since));
      } catch (error) {
        if (!isBusy(error)) return Promise.reject(translate(error));
      }
    }
    const mine = wait(work, line, since);
    line = mine;
    const leave = () => {
      if (line === mine) line = undefined;
    };
    mine.then(leave, leave);
    return mine;
  };
}

/** Timers know whole milliseconds only, and asking without a pause takes the processor from the one that is waited for. */
async function nap(): Promise<void> {
  Atomics.wait(never, 0, 0, NAP_MS);
  await immediate();
}

/** For reads and for opening: another process's recovery or checkpoint is over in a moment. */
export async function patiently<T>(attempt: () => T, opts: { raw?: boolean } = {}): Promise<T> {
  const since = monotonicMs();
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error)) throw opts.raw ? error : translate(error);
    }
    if (monotonicMs() - since > GIVE_UP_MS) throw stayedLocked();
    await sleep(1 + Math.random() * 4);
  }
}

function stayedLocked(): HoldfastError {
  return new HoldfastError(
    "busy",
    `the store stayed locked for ${GIVE_UP_MS / 1000} s; nothing was recorded; try again`,
  );
}
