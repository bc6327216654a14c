// Whether a turn came to nothing because of refusals: what exit code 4 means.

import type { Fact } from "../../ledger/events.ts";
import { LEAD } from "../../loop/agent.ts";
import type { loopEvents } from "../../loop/events.ts";
import type { Effect } from "../../loop/seams.ts";
import type { HarnessEvent } from "../../run-result.ts";
import type { Advice } from "./blocks.ts";
import { adviceFor } from "./results.ts";

/** They change nothing outside the ledger. */
const LOOKS: ReadonlySet<Effect> = new Set<Effect>(["read", "internal"]);

/** A call of the lead. */
export interface Refused extends Advice {
  callId: string;
  tool: string;
  why: string;
}

export interface Refusals {
  event(event: HarnessEvent): void;
  /** The refused call on which the last turn ended, where none of its calls had acted. Undefined: the turn did something. */
  cameToNothing(): Refused | undefined;
  /** Calls of the lead that nobody could be asked about, and that no single rule would have allowed. */
  unadvised(): { callId: string; tool: string; input: unknown }[];
}

/** Of the lead only: other agents report their refusals themselves. */
export function watchRefusals(): Refusals {
  const begun = new Set<string>();
  const inputs = new Map<string, unknown>();
  const unadvised: ReturnType<Refusals["unadvised"]> = [];
  let acted = false;
  let last: Refused | undefined;
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
      } else if (type === "reply.received") {
        for (const part of data.parts) if (part.type === "call") inputs.set(part.id, part.input);
      } else if (type === "tool.finished") {
        if (data.denied !== undefined) {
          const { callId, name: tool } = data;
          last = { callId, tool, why: data.denied, ...adviceFor(data) };
          if (last.unanswered && last.flags.length === 0) unadvised.push({ callId, tool, input: inputs.get(callId) });
        } else if (begun.has(data.callId)) last = undefined;
      }
    },
    cameToNothing: () => (acted ? undefined : last),
    unadvised: () => unadvised,
  };
}
