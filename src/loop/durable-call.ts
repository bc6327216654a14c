// A call whose effect stands in another ledger than its agent's: what it is known by there.
import { createHash } from "node:crypto";
import type { ToolRun } from "./seams.ts";

/**
 * The name of the call within its agent. Contract: what the agent has said is durable when it resolves, or a crash could lose the call
 * and keep what it did. The name holds the input as the model gave it: a hook may rewrite it otherwise the second time, and in a
 * context that lost its end (a repair) the same number may come to mean another call.
 */
export async function durableCall({ turn, call }: Pick<ToolRun, "turn" | "call">): Promise<string> {
  await turn.append([]);
  const input = createHash("sha256")
    .update(JSON.stringify([call.name, call.input]))
    .digest("hex")
    .slice(0, 12);
  return `${call.id}-${input}`;
}
