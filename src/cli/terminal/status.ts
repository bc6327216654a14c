// What the last line of the terminal says, from what is true now: looked up when the ledger changed, not at every frame.
import { createTally } from "../../front/presentation/tally.ts";
import type { StatusNow } from "../../front/terminal/status-line.ts";
import { contextState } from "../../loop/agent.ts";
import { stateOf as viewStateOf } from "../../mechanisms/compaction/events.ts";
import { goalIn } from "../../mechanisms/goal/events.ts";
import { counted } from "../../text/counted.ts";
import type { OpenConversation } from "../conversation.ts";
import type { WorkFlags } from "../flags.ts";

export interface Status {
  now(): Omit<StatusNow, "waiting">;
  changed(): void;
}

export function createStatus(
  conversation: () => OpenConversation | undefined,
  flags: Pick<WorkFlags, "model">,
  silentSince: () => number | undefined,
): Status {
  let known: ReturnType<Status["now"]> | undefined;

  function look(): ReturnType<Status["now"]> {
    const open = conversation();
    const model = open?.model.id ?? flags.model ?? "";
    if (!open) return { model, mode: "opening …", outstanding: [], spent: "" };
    const base = { model, mode: open.mode, isSandboxed: open.settings.sandbox !== undefined, spent: "" };
    const { run, harness } = open;
    if (!run) return { ...base, outstanding: [] };
    const { ledger, agent } = run.taken;
    const counts = new Map<string, number>();
    const tally = createTally();
    const { agents } = contextState(ledger);
    for (const { usageByModel } of Object.values(agents))
      for (const [used, usage] of Object.entries(usageByModel)) tally.add(used, usage);
    for (const name of Object.keys(agents))
      for (const { what, count } of harness.host.outstanding(ledger, name))
        if (count > 0) counts.set(what, (counts.get(what) ?? 0) + count);
    const { used } = viewStateOf(agent.turn);
    const { goal } = goalIn(agent.turn);
    return {
      ...base,
      context: run.context,
      spent: tally.short(),
      ...(goal && { goal: goal.condition }),
      ...(used !== undefined && { window: Math.min(1, used / open.model.limits.contextTokens) }),
      outstanding: [...counts].map(([what, count]) => counted(count, what)),
    };
  }

  return {
    now() {
      known ??= look();
      const since = silentSince();
      return since === undefined ? known : { ...known, silentSince: since };
    },
    changed() {
      known = undefined;
    },
  };
}
