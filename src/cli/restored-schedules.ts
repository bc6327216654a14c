// The schedules that a restored backup had: what would set them again, here.
import type { RestoredBackup } from "../backup/restore.ts";
import { commandLine } from "../front/presentation/command-line.ts";
import { openLedger } from "../ledger/ledger.ts";
import { contextState } from "../loop/agent.ts";
import { schedulesOf } from "../mechanisms/cron/schedules.ts";
import type { PlaceFlags } from "./flags.ts";
import { ledgerReaders, sliceOf } from "./ledger-readers.ts";
import type { OpenState } from "./open.ts";

export interface RestoredSchedule {
  context: string;
  agent: string;
  when: string;
  prompt: string;
  /** What sets it for the lead of that context. */
  command: string;
}

export async function restoredSchedules(
  { store, project, jobsDir }: OpenState,
  flags: PlaceFlags,
  { scheduled, heads }: Pick<RestoredBackup, "scheduled" | "heads">,
): Promise<RestoredSchedule[]> {
  const found: RestoredSchedule[] = [];
  if (scheduled.length === 0) return found;
  const reading = await ledgerReaders({ root: project.root, jobsDir });
  for (const context of new Set(scheduled.map((one) => one.context))) {
    const upTo = heads[context]?.head;
    if (upTo === undefined) continue;
    const ledger = await openLedger({ store, name: context, ...reading, upTo, fromSnapshot: false });
    for (const agent of Object.keys(contextState(ledger).agents)) {
      const of = { context, agent, slice: <T>(name: string) => sliceOf<T>(ledger, name) };
      for (const { expression, when: asked, next, prompt } of schedulesOf(of)) {
        // "in 3 minutes" was meant then: a time that is once is said as the time it is.
        const when = expression === undefined ? new Date(next).toISOString().replace(/\.\d+Z$/, "Z") : asked;
        const command = commandLine(["cron", "add", when, prompt, "-r", context], flags);
        found.push({ context, agent, when, prompt, command });
      }
    }
  }
  return found;
}
