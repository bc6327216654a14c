// `holdfast state copy FROM TO`: this project's state in another store, exactly.
import { copyAllLedgers } from "../../backup/copy-store.ts";
import { copyPacks } from "../../backup/packs.ts";
import { commandLine } from "../../front/presentation/command-line.ts";
import { printable } from "../../front/presentation/printable.ts";
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
      const report = await copyAllLedgers({ ...both, progress: bar.update }).finally(bar.end);
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
