// The named crash points: read from the source, so that a new one is in the matrix without anyone adding it.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { runCell } from "./cell.ts";
import { addCounts, type Counts, emptyCounts } from "./counts.ts";
import type { Way } from "./driver.ts";
import type { Scenario } from "./scenarios.ts";

const SRC = path.resolve(fileURLToPath(import.meta.url), "../../../src");

/** Those of `contexts verify --repair`, of sweeps, of summaries, of goals, of taking over worktrees and of what is done with kept files have tests of their own, which pass them. */
export function allPoints(): string[] {
  const names = new Set<string>();
  for (const entry of fs.readdirSync(SRC, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !entry.name.endsWith(".ts")) continue;
    const text = fs.readFileSync(path.join(entry.parentPath, entry.name), "utf8");
    for (const [, name] of text.matchAll(/\bcrashPoint\("([^"]+)"\)/g)) names.add(name!);
  }
  return [...names]
    .filter(
      (name) =>
        !/^(?:repair|gc|collect|summary|goal)\.|^files\.(?:collected|restored|copied)$|^worktree\.(?:committed|merging)$/.test(
          name,
        ),
    )
    .sort();
}

/** Worktrees and approvals are in the matrix of environments, and have tests of their own. */
export const crashPoints = (): string[] => allPoints().filter((name) => !/^(?:worktree|approval)\./.test(name));

export const at = (point: string, n = 1): Way => ({ env: { HOLDFAST_CRASH_AT: `${point}:${n}` } });

/** Kills at the first, second, … passing of a point until a run passes it no more often. */
export async function everyPassing(
  scenario: Scenario,
  point: string,
  opts: { most?: number; before?: Way[] } = {},
): Promise<Counts> {
  const total = emptyCounts();
  const before = opts.before ?? [];
  for (let n = 1; n <= (opts.most ?? 100); n++) {
    const label = `${scenario.name} @ ${[...before.map((w) => w.env?.HOLDFAST_CRASH_AT), `${point}:${n}`].join(" then ")}`;
    const counts = await runCell(scenario, [...before, at(point, n)], label);
    const hit = counts.kills > before.length;
    if (!hit && counts.notes.length === 0) break;
    addCounts(total, counts);
    if (!hit) break;
  }
  return total;
}
