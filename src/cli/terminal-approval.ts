// Owns asking for approval at the terminal: shows the whole call, takes one key's answer.
import { createInterface } from "node:readline/promises";
import type { ApprovalAnswer, ApprovalRequest } from "../mechanisms/approvals/index.ts";
import { describe } from "./commands/approve.ts";

export async function askAtTerminal(
  request: ApprovalRequest,
  signal: AbortSignal,
): Promise<ApprovalAnswer | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const choices = request.firm ? "[y]es, once · [n]o" : "[y]es, once · [a]lways here, exactly this · [n]o";
  process.stderr.write(`\nMay I?\n${describe(request)}\n`);
  try {
    for (;;) {
      const said = (await lines.question(`  ${choices} > `, { signal })).trim().toLowerCase();
      if (said === "y" || said === "yes") return { decision: "allow", from: "the terminal" };
      if (said === "a" && !request.firm) return { decision: "allow", remember: true, from: "the terminal" };
      if (said === "n" || said === "no") return { decision: "deny", from: "the terminal" };
    }
  } catch {
    return undefined; // answered elsewhere, interrupted, or the input ended: others may still answer
  } finally {
    lines.close();
  }
}
