// What is not over when a process ends: jobs, teammates, schedules, and how to go on with them.
import { commandLine, resumeLine } from "../front/presentation/command-line.ts";
import type { Harness, Run } from "../harness.ts";
import { contextState } from "../loop/agent.ts";
import { counted } from "../text/counted.ts";
import type { PlaceFlags } from "./flags.ts";

/** What is not over when the process ends, and how to go on with it. */
export function leftBehind(
  { taken: { agent, ledger } }: Run,
  { host }: Harness,
  { flags, context, stayed }: { flags: PlaceFlags; context: { id: string; root: string }; stayed: boolean },
): string[] {
  const agents = Object.keys(contextState(ledger).agents);
  const own = host.outstanding(ledger, agent.turn.agent).filter(({ count }) => count > 0);
  const all = agents.flatMap((one) => host.outstanding(ledger, one)).filter(({ count }) => count > 0);
  const lines: string[] = [];
  for (const { what, count, seenBy, hosts } of own) {
    const many = `${counted(count, what)} ${count === 1 ? "is" : "are"}`;
    if (seenBy !== undefined) lines.push(`${many} still running: see \`${seenBy}\``);
    else if (hosts === undefined)
      lines.push(`${many} unfinished: go on with ${resumeLine(context, { ...flags, stay: true })}`);
  }
  const hosted = new Map<string, number>();
  for (const { what, count, hosts } of all) if (hosts) hosted.set(what, (hosted.get(what) ?? 0) + count);
  if (hosted.size > 0 && !stayed) {
    const left = [...hosted].map(([what, count]) => counted(count, what)).join(", ");
    lines.push(
      `Left: ${left}. Nothing of it runs while no host does; keep one with: ${commandLine(["worker"], flags, context.root)}`,
    );
  }
  return lines;
}
