// `holdfast state copy FROM TO`: this project's state in another store, exactly.
import fs from "node:fs";
import { copyAllLedgers } from "../../backup/copy-store.ts";
import { copyPacks } from "../../backup/packs.ts";
import { commandLine } from "../../front/presentation/command-line.ts";
import { printable } from "../../front/presentation/printable.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { openStore, type StorePlace } from "../../ledger/open-store.ts";
import { isServer, passwordLeftOut, projectIn } from "../../ledger/server-address.ts";
import type { Store } from "../../ledger/store.ts";
import { counted } from "../../text/counted.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";
import { knownState } from "../known-state.ts";
import { withState } from "../open.ts";
import { createProgressBar } from "../progress.ts";

export async function copy(flags: PlaceFlags & JsonToo, from: string, to: string): Promise<number> {
  const source = await openSource(flags, from);
  try {
    return await withState({ ...flags, state: to }, async (target) => {
      const bar = createProgressBar("copy");
      const both = { from: source.store, to: target.store };
      const report = await copyAllLedgers({ ...both, progress: bar.update }).finally(bar.end);
      const files = source.stateDir === undefined ? 0 : copyPacks(source.stateDir, target.project.stateDir);
      if (flags.json) process.stdout.write(`${JSON.stringify({ ...report, files })}\n`);
      else {
        const { contexts, ledgers, events, blobs, already, own, besides } = report;
        const before = already > 0 ? ` (${already} were there)` : "";
        const records = own > 0 ? `, and ${counted(own, "record")} of backups` : "";
        const same =
          besides > 0 ? `it is the same in both; TO has ${counted(besides, "ledger")} besides` : "both are the same";
        process.stdout.write(
          `Copied: ${counted(contexts, "context")}, ${counted(ledgers, "ledger")}, ${counted(events, "event")}${before}, ${counted(blobs, "value")}${records}; ${same}\n${report.hash}\n`,
        );
        const line = commandLine(["contexts", "ls"], { ...flags, state: to });
        process.stderr.write(`From now on use the new one only, or schedules fire in both: ${printable(line)}\n`);
      }
      return 0;
    });
  } finally {
    await source.store.close();
  }
}

/** Contract: only read; what is not there is not made. */
async function openSource(flags: PlaceFlags, from: string): Promise<{ store: Store; stateDir?: string }> {
  const known = knownState({ cwd: flags.cwd, state: from });
  const ledgers = known?.ledgers ?? onServer(from);
  const nothing = new HoldfastError(
    "not_found",
    `${passwordLeftOut(from, "…")} holds nothing of this folder's project: give as FROM what --state was given, nothing was copied`,
  );
  if (!ledgers || ("file" in ledgers && !fs.existsSync(ledgers.file))) throw nothing;
  const store = await openStore(ledgers, { readOnly: true });
  try {
    for await (const _ of store.list({ limit: 1 })) return { store, ...(known && { stateDir: known.stateDir }) };
    throw nothing;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** A project that this machine has not worked on is known by its name. */
function onServer(from: string): StorePlace | undefined {
  const project = isServer(from) ? projectIn(from) : undefined;
  return project === undefined ? undefined : { server: from, project };
}
