// The schedules that a restored backup had: what would set them again, here.
import { restoredScheduled } from "../backup/own-ledgers.ts";
import { commandLine } from "../front/presentation/command-line.ts";
import { oneLine, printable } from "../front/presentation/printable.ts";
import { openLedger, sliceOf } from "../ledger/ledger.ts";
import { contextState } from "../loop/agent.ts";
import { schedulesOf } from "../mechanisms/cron/schedules.ts";
import { counted } from "../text/counted.ts";
import type { JsonToo, PlaceFlags } from "./flags.ts";
import { ledgerReaders } from "./ledger-readers.ts";
import { type OpenState, withState } from "./open.ts";

export interface RestoredSchedule {
  context: string;
  agent: string;
  when: string;
  prompt: string;
  /** What sets it for the lead of that context; undefined: it was for a time that has passed. */
  command?: string;
}

/** Of the contexts that were restored into this store. */
export async function restoredSchedules(
  { store, project, jobsDir }: OpenState,
  flags: PlaceFlags,
): Promise<RestoredSchedule[]> {
  const found: RestoredSchedule[] = [];
  const scheduled = await restoredScheduled(store);
  if (scheduled.size === 0) return found;
  const reading = await ledgerReaders({ root: project.root, jobsDir });
  for (const [context, upTo] of scheduled) {
    if ((await store.head(context)) < upTo) continue; // it was removed here
    const ledger = await openLedger({ store, name: context, ...reading, upTo, fromSnapshot: false });
    for (const agent of Object.keys(contextState(ledger).agents)) {
      const of = { context, agent, slice: <T>(name: string) => sliceOf<T>(ledger, name) };
      for (const { expression, when: asked, next, prompt } of schedulesOf(of)) {
        // "in 3 minutes" was meant then: a time that is once is said as the time it is.
        const when = expression === undefined ? new Date(next).toISOString().replace(/\.\d+Z$/, "Z") : asked;
        const isPast = expression === undefined && next <= Date.now();
        const command = isPast ? {} : { command: commandLine(["cron", "add", when, prompt, "-r", context], flags) };
        found.push({ context, agent, when, prompt, ...command });
      }
    }
  }
  return found;
}

/** Lines for people; none where there is nothing. */
export function scheduleLines(schedules: readonly RestoredSchedule[]): string[] {
  const commands = schedules.flatMap(({ command }) => (command === undefined ? [] : [`  ${command}`]));
  const past = schedules.filter(({ command }) => command === undefined);
  return [
    ...(commands.length > 0
      ? [`${counted(commands.length, "schedule")} can be set here, where the original no longer runs:`, ...commands]
      : []),
    ...past.map(({ context, when, prompt }) => `passed at ${when}, in ${context}: ${oneLine(prompt, 60)}`),
  ];
}

/** `holdfast backup schedules`. */
export const showSchedules = (flags: PlaceFlags & JsonToo): Promise<number> =>
  withState(flags, async (state) => {
    const schedules = await restoredSchedules(state, flags);
    if (flags.json) process.stdout.write(`${JSON.stringify(schedules)}\n`);
    else for (const line of scheduleLines(schedules)) process.stdout.write(`${printable(line)}\n`);
    if (schedules.length === 0) process.stderr.write("No context that was restored here had a schedule\n");
    return 0;
  });
