// What a store must keep of what it acknowledged, how it is read back, and the published record of what was seen.
import { appendFileSync } from "node:fs";
import type { Comparison, Kept } from "./acknowledged.ts";
import { startChild } from "./machines.ts";

export const NOTHING_WRONG: Omit<Comparison, "acknowledged"> = {
  lost: 0,
  moved: 0,
  doubled: 0,
  givenTwice: 0,
  termsTwice: 0,
  termsKeptTwice: 0,
};

export interface Found {
  events: Kept[];
  damage: unknown;
}

const isKept = (line: object): line is Kept => "id" in line && "seq" in line;

/** By a process of its own, there. */
export async function keptIn(place: string, ledgers: readonly string[], inside: string[] = []): Promise<Found> {
  const reader = startChild("reader.ts", [place, ...ledgers], inside);
  await reader.end();
  const last = reader.lines.at(-1) ?? {};
  return { events: reader.lines.filter(isKept), damage: "damage" in last ? last.damage : "it did not say" };
}

/** One row for docs/reliability.md, where HOLDFAST_CRASH_REPORT names a file for it. */
export function publishPromise(row: string, { acknowledged, lost, givenTwice, termsTwice }: Comparison): void {
  const file = process.env.HOLDFAST_CRASH_REPORT;
  if (file) appendFileSync(`${file}.promise`, `| ${[row, acknowledged, lost, givenTwice, termsTwice].join(" | ")} |\n`);
}
