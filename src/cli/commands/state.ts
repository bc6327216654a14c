// `holdfast state copy FROM TO`: this project's state in another store, exactly.
import fs from "node:fs";
import { join } from "node:path";
import { copyStore } from "../../backup/copy-store.ts";
import { packFolder } from "../../file-snapshots/objects.ts";
import { commandLine } from "../../front/presentation/command-line.ts";
import { printable } from "../../front/presentation/printable.ts";
import { makeDir } from "../../ledger/make-dir.ts";
import { counted } from "../../text/counted.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";
import { openState, withState } from "../open.ts";
import { createProgressBar } from "../progress.ts";

export const copy = (flags: PlaceFlags & JsonToo, from: string, to: string): Promise<number> =>
  withState({ ...flags, state: from }, async (source) => {
    const target = await openState({ ...flags, state: to });
    try {
      const bar = createProgressBar("copy");
      const both = { from: source.store, to: target.store };
      const report = await copyStore({ ...both, progress: bar.update }).finally(bar.end);
      const files = copyPacks(source.project.stateDir, target.project.stateDir);
      if (flags.json) process.stdout.write(`${JSON.stringify({ ...report, files })}\n`);
      else {
        const { contexts, ledgers, events, blobs, already } = report;
        const before = already > 0 ? ` (${already} were there)` : "";
        process.stdout.write(
          `Copied: ${counted(contexts, "context")}, ${counted(ledgers, "ledger")}, ${counted(events, "event")}${before}, ${counted(blobs, "value")}; both are the same\n${report.hash}\n`,
        );
        const line = commandLine(["contexts", "ls"], { ...flags, state: to });
        process.stderr.write(`From now on use the new one only, or schedules fire in both: ${printable(line)}\n`);
      }
      return 0;
    } finally {
      await target.store.close();
    }
  });

/** The files of checkpoints: packs are written once, so that one with the same name is the same. */
function copyPacks(from: string, to: string): number {
  if (from === to) return 0;
  const [source, target] = [packFolder(join(from, "files")), packFolder(join(to, "files"))];
  if (!fs.existsSync(source)) return 0;
  makeDir(target);
  const there = new Set(fs.readdirSync(target));
  const names = fs
    .readdirSync(source)
    .filter((name) => /^pack-[0-9a-f]+\.(?:pack|idx)$/.test(name) && !there.has(name));
  // The index comes last: without it nobody looks at a pack.
  for (const name of names.toSorted((a, b) => Number(a.endsWith(".idx")) - Number(b.endsWith(".idx")))) {
    const fresh = join(target, `tmp_${process.pid}_${name}`);
    fs.copyFileSync(join(source, name), fresh);
    fs.renameSync(fresh, join(target, name));
  }
  return names.length;
}
