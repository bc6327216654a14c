// Two agents share data: written with a schema, read by path, joined without a lost update.
import * as z from "zod";
import { openContexts } from "../../src/contexts/index.ts";

export async function shareAndRead(state: string) {
  const contexts = await openContexts({ state });
  const context = await contexts.create({
    task: "Review the payment module",
    ttlMs: 7 * 24 * 3600_000,
    quotas: { valueBytes: 5_000_000, contextBytes: 50_000_000 },
    schemas: { findings: z.array(z.object({ file: z.string(), line: z.number().int() })) },
  });

  // One agent collects …
  await context.share("findings", [{ file: "pay.ts", line: 7 }], { author: "collector" });
  await context.append("findings", { file: "refund.ts", line: 31 }, { author: "collector" });
  // … another one reads the part it needs, and both count.
  const files = await context.read("findings", "$[*].file");
  await context.merge("rounds", (n) => ((n as number | undefined) ?? 0) + 1);

  // A write that does not fit is refused with path and reason, and changes nothing.
  const refused = await context.append("findings", { file: "x.ts", line: "7" }).catch((error: Error) => error.message);

  const listed = (await context.list()).map(({ key, type, author }) => `${key}: ${type} by ${author}`);
  await contexts.close();
  return { files, refused, listed };
}
