// What stops a turn that goes nowhere: the limit on rounds, and the guard against repeating one call for ever.

import { HoldfastError } from "../../ledger/error.ts";
import { nothing } from "../../loop/carry.ts";
import { defineMechanism, type Mechanism } from "../../loop/seams.ts";
import type { CallPart, Item } from "../../models/model.ts";
import { counted } from "../../text/counted.ts";

const WARN_AT = 3;
const STOP_AT = 6;

export function limits(opts: { maxRounds?: number } = {}): Mechanism {
  return defineMechanism({
    name: "limits",
    carry: nothing,
    settings: () => opts,
    seams: {
      intake: (turn) => {
        const { count, name } = repetition(turn.state.items, turn.state.turn?.from);
        if (count !== WARN_AT) return [];
        const text = `The same ${name} call gave the same result ${count} times in a row. Repeating it will not change that: try something else, or say what blocks you.`;
        return [{ origin: "holdfast", text }];
      },
      model: (call, next) => {
        if (call.isNoRound) return next(call);
        const { state } = call.turn;
        const rounds = state.turn?.rounds ?? 0;
        if (opts.maxRounds !== undefined && rounds >= opts.maxRounds) {
          throw new HoldfastError(
            "limit",
            `stopped after ${counted(rounds, "round")}, its limit (--max-rounds, --max-turns); continue with a higher one`,
            { detail: { limit: "rounds" } },
          );
        }
        const { count, name } = repetition(state.items, state.turn?.from);
        if (count >= STOP_AT) {
          throw new HoldfastError(
            "limit",
            `stopped: the same ${name} call gave the same result ${count} times in a row`,
            { detail: { limit: "repetition" } },
          );
        }
        return next(call);
      },
    },
  });
}

/** How often the last call of this turn, with the same input and the same result, stands in a row at its end. Notes in between do not break it. */
function repetition(items: readonly Item[], from = 0): { count: number; name: string } {
  const calls = new Map<string, CallPart>();
  let count = 0;
  let name = "";
  let last: string | undefined;
  for (let i = items.length - 1; i >= from; i--) {
    const item = items[i];
    if (item?.kind !== "result") continue;
    const reply = findReply(items, i);
    if (reply) for (const part of reply.parts) if (part.type === "call") calls.set(part.id, part);
    const signature = JSON.stringify([item.name, calls.get(item.callId)?.input, item.content]);
    if (last !== undefined && signature !== last) break;
    last = signature;
    name = item.name;
    count++;
    if (count >= STOP_AT) break;
  }
  return { count, name };
}

function findReply(items: readonly Item[], before: number): Extract<Item, { kind: "reply" }> | undefined {
  for (let i = before - 1; i >= 0; i--) {
    const item = items[i];
    if (item?.kind === "reply") return item;
  }
  return undefined;
}
