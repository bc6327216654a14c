// Continuous backup: at the latest so long after something was recorded, and at once when a turn ends.
import { setTimeout as sleep } from "node:timers/promises";
import { summaryOf } from "../contexts/listing.ts";
import { isHoldfastError, messageOf } from "../ledger/error.ts";
import { type BackupOptions, type BackupReport, makeBackup } from "./make-backup.ts";
import type { Written } from "./manifest.ts";
import { isOwnLedger } from "./own-ledgers.ts";
import { prune } from "./prune.ts";

export interface ContinuousOptions extends Omit<BackupOptions, "last" | "signal" | "progress"> {
  everyMs: number;
  /** Backups that are older go, once a day. */
  keepMs?: number;
  onBackup?: (report: BackupReport) => void;
  /** One line; the next attempt follows by itself. */
  onProblem?: (line: string) => void;
}

export interface Continuous {
  /** Contract: what was recorded before is backed up when it resolves, or was tried. */
  stop(): Promise<void>;
}

/** So long nobody writes: then it is looked whether a turn has ended. */
const QUIET_MS = 300;
const DAY_MS = 86_400_000;
const LONGEST_PAUSE_MS = 300_000;

export function keepBackedUp(opts: ContinuousOptions): Continuous {
  const over = new AbortController();
  const changed = new Set<string>();
  let ring: () => void = () => undefined;
  const following = follow();
  const running = run();

  async function follow(): Promise<void> {
    for await (const { ledger } of opts.store.watchAll(over.signal)) {
      if (isOwnLedger(ledger)) continue;
      changed.add(ledger);
      ring();
    }
  }

  async function run(): Promise<void> {
    let last: Written | undefined;
    let failures = 0;
    let prunedAt = 0;
    const attempt = async () => {
      changed.clear();
      try {
        const { report, written } = await makeBackup({ ...opts, ...(last && { last }) });
        last = written;
        failures = 0;
        if (report.manifest !== undefined) opts.onBackup?.(report);
        if (opts.keepMs !== undefined && Date.now() - prunedAt > DAY_MS) {
          prunedAt = Date.now();
          await prune({ vault: opts.vault, store: opts.store, keepMs: opts.keepMs });
        }
      } catch (error) {
        last = undefined; // what is known of the place is looked up again
        const isHeld = isHoldfastError(error, "held"); // another process is at it: this one looks again soon
        failures = isHeld ? 1 : failures + 1;
        if (!isHeld) opts.onProblem?.(`backup: ${messageOf(error)}`);
      }
    };
    await attempt();
    while (!over.signal.aborted) {
      if (failures > 0) await pause(Math.min(opts.everyMs * 2 ** failures, LONGEST_PAUSE_MS));
      else if (changed.size > 0 || (await nextChange())) await dueOrTurnEnd();
      if (over.signal.aborted) break;
      await attempt();
    }
    if (changed.size > 0 || failures > 0) await attempt();
  }

  const pause = (ms: number) => sleep(ms, undefined, { signal: over.signal }).catch(() => undefined);

  async function nextChange(): Promise<boolean> {
    if (!over.signal.aborted)
      await new Promise<void>((resolve) => {
        ring = resolve;
        over.signal.addEventListener("abort", () => resolve(), { once: true });
      });
    return changed.size > 0;
  }

  async function dueOrTurnEnd(): Promise<void> {
    const until = Date.now() + opts.everyMs;
    while (Date.now() < until && !over.signal.aborted) {
      const before = changed.size;
      await pause(Math.min(QUIET_MS, until - Date.now()));
      if (changed.size === before && (await hasTurnEnded())) return;
    }
  }

  async function hasTurnEnded(): Promise<boolean> {
    for (const ledger of changed) {
      if (!ledger.startsWith("ctx_")) continue;
      for await (const entry of opts.store.list({ prefix: ledger, limit: 1 })) {
        const { open = false } = summaryOf(entry);
        if (entry.ledger === ledger && !open) return true;
      }
    }
    return false;
  }

  return {
    async stop() {
      over.abort();
      await running;
      await following.catch(() => undefined);
    },
  };
}
