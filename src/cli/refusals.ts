// Owns whether a turn came to nothing because of refusals: what exit code 4 means.
import type { HarnessEvent } from "../harness.ts";
import type { Fact } from "../ledger/events.ts";
import type { loopEvents } from "../loop/events.ts";
import { LEAD } from "../loop/host.ts";
import type { Effect } from "../loop/seams.ts";

/** They change nothing outside the ledger. */
const LOOKS: ReadonlySet<Effect> = new Set<Effect>(["read", "internal"]);

export interface Refusals {
  event(event: HarnessEvent): void;
  /** Why the last turn came to nothing: it ended on a refused call, and none of its calls had acted. Undefined: it did come to something. */
  cameToNothing(): string | undefined;
}

/** Of the lead: what others were refused, they say themselves. */
export function watchRefusals(): Refusals {
  const begun = new Set<string>();
  let acted = false;
  let last: string | undefined;
  return {
    event(event) {
      if (event.type !== "event" || event.event.actor !== LEAD) return;
      const { type, data } = event.event as Fact<typeof loopEvents>;
      if (type === "turn.started") {
        acted = false;
        last = undefined;
      } else if (type === "tool.started") {
        begun.add(data.callId);
        acted ||= !LOOKS.has(data.effect);
      } else if (type === "tool.finished") {
        if (data.denied !== undefined) last = `${data.name}: ${data.denied}`;
        else if (begun.has(data.callId)) last = undefined;
      }
    },
    cameToNothing: () => (acted ? undefined : last),
  };
}
