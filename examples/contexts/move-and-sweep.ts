// One file that carries a context elsewhere; and the end of contexts.
import { join } from "node:path";
import { openContexts } from "../../src/contexts/index.ts";

export async function moveAndSweep(folder: string) {
  const here = await openContexts({ file: join(folder, "here.db") });
  const there = await openContexts({ file: join(folder, "there.db") });
  const context = await here.create({ task: "Move me", ttlMs: 60_000 });
  await context.share("data", { text: "x".repeat(10_000) });

  const exported = await here.export(context.id, join(folder, "context.hfctx"));
  const imported = await there.import(join(folder, "context.hfctx")); // refuses damage by line and byte
  const [a, b] = [await here.verify(context.id), await there.verify(imported.id)];
  const same = exported.hash === imported.hash && a.contexts[0]!.stateHash === b.contexts[0]!.stateHash;

  const later = Date.now() + 3600_000;
  const plan = await here.gc({ dryRun: true, now: later }); // what would go, and how much
  const swept = await here.gc({ now: later });
  await here.close();
  await there.close();
  return { same, ok: b.ok, planned: plan.removed.length, swept: swept.removed.length, blobs: swept.blobs };
}
