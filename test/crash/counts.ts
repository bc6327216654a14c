// What is counted in a cell, and the published record of a long run.
import fs from "node:fs";

export interface Counts {
  cells: number;
  /** Processes that really died by SIGKILL: a cell whose kill never came proves nothing. */
  kills: number;
  /** The one model call that was in flight at a kill, asked again. Allowed. */
  repeatedInFlight: number;
  /** Calls answered with "outcome unknown". Allowed for external effects only. */
  unknownOutcomes: number;
  faults: Faults;
  /** One line for each fault. */
  notes: string[];
}

export interface Faults {
  lost: number;
  extraRequests: number;
  duplicatedEffects: number;
  missingEffects: number;
  needlesslyUnknown: number;
  invalidTranscripts: number;
  orphans: number;
  stateDiffers: number;
  damaged: number;
  /** Did not end by itself in time. */
  hangs: number;
  /** A fact that stdout said and the ledger does not hold. */
  printedNotKept: number;
  /** A failure of the disk that was not said at once, in one clear line. */
  unclear: number;
}

export const NO_FAULTS: Readonly<Faults> = {
  lost: 0,
  extraRequests: 0,
  duplicatedEffects: 0,
  missingEffects: 0,
  needlesslyUnknown: 0,
  invalidTranscripts: 0,
  orphans: 0,
  stateDiffers: 0,
  damaged: 0,
  hangs: 0,
  printedNotKept: 0,
  unclear: 0,
};

export const LONG = Boolean(process.env.HOLDFAST_LONG);
export const LONG_MS = 3_600_000;

export const emptyCounts = (): Counts => ({
  cells: 0,
  kills: 0,
  repeatedInFlight: 0,
  unknownOutcomes: 0,
  faults: { ...NO_FAULTS },
  notes: [],
});

export function addCounts(total: Counts, more: Counts): void {
  total.cells += more.cells;
  total.kills += more.kills;
  total.repeatedInFlight += more.repeatedInFlight;
  total.unknownOutcomes += more.unknownOutcomes;
  for (const key of Object.keys(NO_FAULTS) as (keyof Faults)[]) total.faults[key] += more.faults[key];
  total.notes.push(...more.notes);
}

/** One row of the table in docs/reliability.md, where HOLDFAST_CRASH_REPORT names a file for it. */
export function publish(row: string, counts: Counts): void {
  const file = process.env.HOLDFAST_CRASH_REPORT;
  if (!file) return;
  const { faults: f } = counts;
  const numbers = [
    ...[counts.cells, counts.kills, f.lost, f.extraRequests, counts.repeatedInFlight],
    ...[f.duplicatedEffects + f.missingEffects, counts.unknownOutcomes, f.invalidTranscripts, f.orphans],
    f.stateDiffers + f.damaged + f.needlesslyUnknown + f.unclear + f.hangs,
  ];
  fs.appendFileSync(file, `| ${row} | ${numbers.join(" | ")} |\n`);
  for (const note of counts.notes) fs.appendFileSync(`${file}.notes`, `${note}\n`);
}

/** The same for the table of environments, which says besides what was printed and not kept. */
export function publishEnvironment(row: string, counts: Counts): void {
  const file = process.env.HOLDFAST_CRASH_REPORT;
  if (!file) return;
  const { faults: f } = counts;
  const numbers = [
    ...[counts.cells, counts.kills, f.lost, f.duplicatedEffects, f.missingEffects, counts.unknownOutcomes],
    ...[f.invalidTranscripts, f.orphans, f.printedNotKept],
    f.stateDiffers + f.damaged + f.needlesslyUnknown + f.unclear + f.hangs + f.extraRequests,
  ];
  fs.appendFileSync(`${file}.environments`, `| ${row} | ${numbers.join(" | ")} |\n`);
  for (const note of counts.notes) fs.appendFileSync(`${file}.notes`, `${note}\n`);
}
