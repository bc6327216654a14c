// What all contexts of a project counted, together: of those that are there, and of those that were removed while this process looked.
import { own, ownOr } from "../../ledger/own.ts";
import { addUsage, noUsage } from "../../models/model.ts";
import { type ContextCounts, type Counts, cacheBreaks, OTHER } from "./counts.ts";

/** Of one project. */
const MOST_NAMES = 80;

export interface Totals extends Counts {
  /** Requests that broke the cached prefix, by cause. */
  breaks: Record<string, number>;
}

export const noTotals = (): Totals => ({
  ...{ models: {}, retries: {}, tools: {}, refused: 0, turns: {}, takeovers: {}, killedCommands: 0, breaks: {} },
});

export const withBreaks = (counts: ContextCounts): Totals => ({ ...counts, breaks: cacheBreaks(counts) });

/** Changes `totals`. */
export function addTotals(totals: Totals, more: Totals): void {
  for (const [model, { replies, asides, usage }] of Object.entries(more.models)) {
    const sum = ownOr(totals.models, roomFor(totals.models, model), () => ({
      replies: 0,
      asides: 0,
      usage: noUsage(),
    }));
    sum.replies += replies;
    sum.asides += asides;
    sum.usage = addUsage(sum.usage, usage);
  }
  for (const [tool, { calls, errors, ms, buckets }] of Object.entries(more.tools)) {
    const empty = () => ({ calls: 0, errors: 0, ms: 0, buckets: buckets.map(() => 0) });
    const sum = ownOr(totals.tools, roomFor(totals.tools, tool), empty);
    sum.calls += calls;
    sum.errors += errors;
    sum.ms += ms;
    sum.buckets = sum.buckets.map((count, i) => count + (buckets[i] ?? 0));
  }
  for (const name of ["retries", "turns", "takeovers", "breaks"] as const)
    for (const [key, count] of Object.entries(more[name])) totals[name][key] = (own(totals[name], key) ?? 0) + count;
  totals.refused += more.refused;
  totals.killedCommands += more.killedCommands;
}

const roomFor = (known: Readonly<Record<string, unknown>>, name: string): string =>
  own(known, name) !== undefined || Object.keys(known).length < MOST_NAMES ? name : OTHER;
