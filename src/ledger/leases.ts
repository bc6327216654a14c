// Leases: who may advance an agent. A holder that is gone is replaced, one that hangs is killed first where only this machine writes the rows.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { crashPoint } from "./crash-point.ts";
import { inspectHolder, monotonicMs, sameProcess, thisHolder, whereIs } from "./holder.ts";
import type { LeaseDeadline } from "./networked/lease-deadline.ts";
import type { Fence, HeldBy, Holder, Lease, Leases, ReadOnly, Store } from "./store.ts";

/** The mark of a restore that has not ended: while this ledger is in a store, only that restore writes there. */
export const UNFINISHED_RESTORE = "restore:unfinished";

/** Whoever reads sees a part of what was backed up; what somebody else records would keep the restore from its end. */
export const RESTORING: ReadOnly = {
  code: "refused",
  message: "a restore into this store has not ended: until `holdfast backup restore` has, it can only be read",
  restoring: true,
};

const POLL_MS = 50;
/** Who is let go within a moment is not worth a word. */
const TOLD_MS = 300;
const DEATH_MS = 1_000;

/** What a store keeps of a lease. */
export interface LeaseRow extends Fence {
  /** Null: it was released. */
  holder: Holder | null;
  /** CLOCK_MONOTONIC of the holder's boot. */
  expiresAt: number;
  /** How long its holder lets it last, where the store keeps that: an observer with another clock waits as long. */
  leaseMs?: number;
  /** Counts takes and renewals: an observer on another machine sees by it that the holder lives. */
  renewals: number;
}

/** What leases need of a store. */
export interface LeaseRows {
  read(name: string): Promise<LeaseRow | undefined>;
  /**
   * Contract: one atomic step. `decide` gets the row as it stands then, and what it returns takes its place; undefined leaves it.
   * Answers whether it was changed.
   */
  change(name: string, decide: (row: LeaseRow | undefined) => LeaseRow | undefined): Promise<boolean>;
}

/** What the row and the process table say about a lease. */
type Standing = { free: true; from?: Holder } | { free: false; held: HeldBy; apart: boolean };

export interface JudgedLeases extends Leases {
  /** Who holds that row, if anyone who may still write: for a store that asks inside a transaction of its own. */
  heldBy(row: LeaseRow | undefined): HeldBy | undefined;
  /** How long a lease that was taken here may be relied on without another word of the store; undefined: no such lease, or no such limit. */
  leftMs(fence: Fence): number | undefined;
}

export interface LeaseSettings {
  interactive: boolean;
  leaseMs: number;
  /** Of a store that other machines reach: there a holder also stops by its own clock (`createLeaseDeadline`). */
  deadline?: (leaseMs: number) => LeaseDeadline;
}

export function createLeases(rows: LeaseRows, opts: LeaseSettings): JudgedLeases {
  const { leaseMs } = opts;
  // A row on a network may name any process of this machine: none is killed for it. A holder that hangs there was stopped by its own clock,
  // and is fenced off.
  const reach = opts.deadline ? "network" : "machine";
  const standing = createJudge(leaseMs, reach);
  /** By token. */
  const deadlines = new Map<string, LeaseDeadline>();

  function heldBy(row: LeaseRow | undefined): HeldBy | undefined {
    const now = standing(row);
    const isLeft = !now.free && now.held.expiresInMs <= 0 && (now.apart || reach === "network");
    return now.free || isLeft ? undefined : now.held;
  }

  /** Takes the lease if its row is still as it was judged; undefined: look again. */
  async function take(
    name: string,
    judged: LeaseRow | undefined,
    from: Pick<Lease, "takenFrom" | "tookOver">,
  ): Promise<Lease | undefined> {
    const fence = { name, term: (judged?.term ?? 0) + 1, token: randomBytes(16).toString("hex") };
    const holder = thisHolder(opts.interactive);
    const deadline = opts.deadline?.(leaseMs); // counted from now: before it is asked for
    const taken = await rows.change(name, (row) => {
      if (row?.term !== judged?.term || row?.token !== judged?.token || row?.renewals !== judged?.renewals)
        return undefined;
      return { ...fence, holder, expiresAt: monotonicMs() + leaseMs, leaseMs, renewals: (row?.renewals ?? 0) + 1 };
    });
    if (!taken) return undefined;
    crashPoint("lease.taken");
    if (deadline) deadlines.set(fence.token, deadline);
    const forget = () => void deadlines.delete(fence.token);
    return { ...fence, holder, ...from, ...owned(rows, fence, { leaseMs, deadline, forget }) };
  }

  return {
    async acquire(name, { wait, onWait, takeOverInteractive = false } = {}) {
      const since = monotonicMs();
      let isTold = false;
      for (;;) {
        const row = await rows.read(name);
        const now = standing(row);
        if (now.free) {
          const lease = await take(name, row, now.from ? { takenFrom: now.from } : {});
          if (lease) return lease;
          continue;
        }
        const { held, apart } = now;
        if (held.expiresInMs <= 0 && (!held.holder.interactive || takeOverInteractive)) {
          if (reach === "machine" && !apart && !(await end(held.holder))) return { held };
          const lease = await take(name, row, { takenFrom: held.holder, tookOver: true });
          if (lease) return lease;
          continue;
        }
        const waits = apart || held.stopped;
        // A person's terminal never becomes free by waiting, unless it may be taken over.
        const hopeless = held.expiresInMs <= 0 || (held.holder.interactive && !takeOverInteractive);
        if (!wait || wait.aborted || !waits || hopeless) return { held };
        if (!isTold && monotonicMs() - since >= TOLD_MS) {
          isTold = true;
          onWait?.(held);
        }
        await sleep(Math.min(POLL_MS, held.expiresInMs), undefined, { signal: wait }).catch(() => {});
      }
    },
    inspect: async (name) => heldBy(await rows.read(name)),
    heldBy,
    leftMs: ({ token }) => deadlines.get(token)?.leftMs(),
  };
}

/** What the row and the process table say, and of a holder on another clock whether it was seen to live. */
function createJudge(leaseMs: number, reach: Store["reach"]): (row: LeaseRow | undefined) => Standing {
  /** Since when a holder on another clock was seen unchanged by ours. */
  const seen = new Map<string, { mark: string; since: number }>();

  function unchangedMs(name: string, mark: string): number {
    const before = seen.get(name);
    if (before?.mark === mark) return monotonicMs() - before.since;
    seen.set(name, { mark, since: monotonicMs() });
    return 0;
  }

  return (row) => {
    if (!row?.holder) return { free: true };
    const { holder, term, token, name } = row;
    const me = thisHolder(false);
    const sameClock = holder.boot === me.boot;
    // Copies of a machine share its name: of another boot only a store of this machine's own knows that it is over. A container that lost its
    // host may still run what that began: its time has to pass.
    const isApart = reach === "network" && (!sameClock || holder.machine !== me.machine);
    const where = isApart ? "apart" : whereIs(holder);
    if (where === "gone") return { free: true, from: holder };
    const held = (more: Pick<HeldBy, "expiresInMs" | "alive" | "stopped">): Standing => ({
      free: false,
      apart: where === "apart",
      held: { holder, term, ...more },
    });
    if (where === "here") {
      const state = inspectHolder(holder);
      if (!state) return { free: true, from: holder };
      return held({ expiresInMs: row.expiresAt - monotonicMs(), alive: true, stopped: state.stopped });
    }
    // The same boot has the same monotonic clock, even in another pid namespace.
    const expiresInMs = sameClock
      ? row.expiresAt - monotonicMs()
      : (row.leaseMs ?? leaseMs) - unchangedMs(name, `${term}.${token}.${row.renewals}`);
    return held({ expiresInMs, alive: true, stopped: false });
  };
}

interface Owning {
  leaseMs: number;
  deadline: LeaseDeadline | undefined;
  /** It is not ours any more. */
  forget(): void;
}

/** What its holder can do with a lease. */
function owned(
  rows: LeaseRows,
  { name, term, token }: Fence,
  { leaseMs, deadline, forget }: Owning,
): Pick<Lease, "renew" | "keep" | "isOver" | "problem" | "release"> {
  const change = (next: (row: LeaseRow) => LeaseRow) =>
    rows.change(name, (row) => (row?.holder && row.term === term && row.token === token ? next(row) : undefined));
  let isAnothers = false;
  let problem: unknown;
  const renew = async () => {
    const heard = deadline?.sending(); // counted from now: the answer may be long under way
    const held = await change((row) => ({ ...row, expiresAt: monotonicMs() + leaseMs, renewals: row.renewals + 1 }));
    problem = undefined;
    if (held) heard?.();
    else {
      isAnothers = true;
      forget();
    }
    return held;
  };
  return {
    renew,
    keep(lost, renewed) {
      let isRenewing = false;
      if (deadline) renewed?.(deadline.leftMs());
      const renewing = setInterval(async () => {
        if (isRenewing) return;
        isRenewing = true;
        const held = await renew().catch((error: unknown) => {
          problem = error;
          return true; // a busy store is not a lost lease; fencing decides, or the deadline
        });
        isRenewing = false;
        if (!held) end();
        else if (deadline && !isOver) renewed?.(deadline.leftMs());
      }, leaseMs / 3);
      const stopWatching = deadline?.watch(() => end());
      renewing.unref();
      let isOver = false;
      const stop = () => {
        isOver = true;
        clearInterval(renewing);
        stopWatching?.();
      };
      const end = () => {
        if (isOver) return;
        stop();
        lost();
      };
      return stop;
    },
    isOver: () => isAnothers || (deadline !== undefined && deadline.leftMs() <= 0),
    problem: () => problem,
    async release() {
      await change((row) => ({ ...row, holder: null, renewals: row.renewals + 1 }));
      forget();
    },
  };
}

/** A process that lives past its lease could still write files, which no fencing stops: it must be dead first. */
async function end(holder: Holder): Promise<boolean> {
  if (sameProcess(holder, thisHolder(false))) return true;
  try {
    process.kill(holder.pid, "SIGKILL");
  } catch {}
  const until = monotonicMs() + DEATH_MS;
  while (inspectHolder(holder)) {
    if (monotonicMs() > until) return false;
    await sleep(5);
  }
  return true;
}
