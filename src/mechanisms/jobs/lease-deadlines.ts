// Commands with network die with the lease of their agent: until when it holds is written where their supervisor looks, also when this process is gone.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HeldAgent } from "../../loop/lease-watch.ts";
import { currentAttempt, jobNames, killAttempt } from "./job-dir.ts";
import { readText } from "./job-files.ts";

/** In the directory of a job: the name of the file that says until when. */
const NAMED_IN = "until";
const OWN = { mode: 0o600 };

export interface LeaseDeadlines {
  /** Contract: that of `leaseRenewed` of a mechanism. */
  renewed(whom: HeldAgent, leftMs: number): void;
  /** Contract: that of `leaseLost`: kills what has network, and does not wait for it. */
  lost(whom: HeldAgent): void;
  /** The command of that attempt has network: it ends with the lease. Nothing where leases have no deadline. */
  bind(attempt: string, whom: HeldAgent): void;
}

export function createLeaseDeadlines(dir: string): LeaseDeadlines {
  const until = new Map<string, { uptime: number | undefined; wall: number }>();

  /** Whole, or as it was: who reads it must not see half of it. */
  function write(file: string): void {
    const { uptime, wall } = until.get(file)!;
    const fresh = join(dir, `${file}.${process.pid}`);
    writeFileSync(fresh, `${uptime ?? "-"} ${wall}\n`, OWN);
    renameSync(fresh, join(dir, file));
  }

  return {
    renewed(whom, leftMs) {
      const file = fileOf(whom);
      const uptime = uptimeMs();
      until.set(file, {
        uptime: uptime === undefined ? undefined : Math.floor(uptime + leftMs),
        wall: Math.floor(Date.now() + leftMs),
      });
      try {
        if (existsSync(join(dir, file))) write(file);
      } catch {} // a full disk: what has network ends at the time that stands there
    },
    lost(whom) {
      const file = fileOf(whom);
      until.delete(file);
      for (const name of jobNames(dir)) {
        const attempt = currentAttempt(join(dir, name));
        if (readText(join(attempt, NAMED_IN))?.trim() === file)
          void killAttempt(attempt, { lostLease: true, atOnce: true });
      }
    },
    bind(attempt, whom) {
      const file = fileOf(whom);
      if (!until.has(file)) return;
      write(file);
      writeFileSync(join(attempt, NAMED_IN), `${file}\n`, OWN);
    },
  };
}

/** One for each agent: a renewal writes one file, however many commands it has. */
function fileOf({ context, agent }: HeldAgent): string {
  return `.until-${createHash("sha256").update(`${context}/${agent}`).digest("hex").slice(0, 24)}`;
}

/** Time since the boot, in which sleep counts; undefined where the system does not tell. */
function uptimeMs(): number | undefined {
  try {
    return Number.parseFloat(readFileSync("/proc/uptime", "latin1")) * 1_000;
  } catch {
    return undefined;
  }
}
