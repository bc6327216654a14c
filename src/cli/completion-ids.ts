// Owns `holdfast completion contexts`: what the scripts offer as ids. Makes nothing, says nothing else: it runs while somebody types.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { listContexts, listProjects } from "../contexts/index.ts";
import { openSqliteStore } from "../ledger/sqlite/index.ts";
import type { Place } from "./flags.ts";
import { oneLine } from "./printable.ts";

/** So many are offered, the newest first. */
const MOST = 50;

export async function contextIds({ cwd, state }: Place): Promise<number> {
  const here = listProjects({ cwd, ...(state && { state }) }).find((one) => one.here);
  const file = here && join(here.stateDir, "ledger.db");
  if (!file || !existsSync(file)) return 0;
  const store = await openSqliteStore(file);
  try {
    for (const { id, title } of (await listContexts(store)).slice(0, MOST))
      process.stdout.write(`${id}\t${oneLine(title, 60)}\n`);
    return 0;
  } finally {
    await store.close();
  }
}
