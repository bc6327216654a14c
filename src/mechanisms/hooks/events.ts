// The facts of hooks: every run, and what of them the rest of a turn must remember, over a resume too.

import * as z from "../../ledger/event-schema.ts";
import type { EventDefs } from "../../ledger/events.ts";
import { knownFact } from "../../ledger/guards.ts";
import { own } from "../../ledger/own.ts";
import type { loopEvents } from "../../loop/events.ts";
import type { Turn } from "../../loop/seams.ts";
import { forgottenByAgent, type MechanismSlice } from "../../loop/timelines.ts";

export const hookEvents = {
  "hook.ran": {
    v: 1,
    schema: () =>
      z.object({
        event: z.string(),
        source: z.string(),
        /** Its beginning; of an in-process hook its name. */
        command: z.string(),
        matcher: z.string(),
        durationMs: z.number(),
        outcome: z.enum(["ok", "blocked", "error", "timeout"]),
        exitCode: z.number().optional(),
        reason: z.string().optional(),
        callId: z.string().optional(),
        async: z.boolean().optional(),
        /** What the event was about, as its matcher sees it: a tool, a source. */
        subject: z.string().optional(),
        /** What it tells the person. */
        says: z.string().optional(),
        /** It gave the call another input. */
        rewrote: z.literal(true).optional(),
      }),
  },
  /** What PreToolUse hooks said about a call: it stands beside the result, whichever process has that. */
  "hook.advised": { v: 1, schema: () => z.object({ callId: z.string(), context: z.array(z.string()) }) },
  /** A stop hook made the turn go on. */
  "hook.continued": { v: 1, schema: () => z.object({ count: z.number() }) },
  /** A hook said `continue: false`: nothing more runs, and the model is not asked again. */
  "hook.stopped": { v: 1, schema: () => z.object({ event: z.string(), reason: z.string() }) },
} satisfies EventDefs;

interface TurnHooks {
  continued: number;
  stop?: string;
  /** By call: what stands beside its result. */
  advice?: Record<string, string[]>;
}

type HooksState = Record<string, TurnHooks>;

const NOTHING_YET: TurnHooks = { continued: 0 };

type Known = typeof hookEvents & Pick<typeof loopEvents, "tool.finished" | "turn.started" | "turn.ended">;

export const hooksSlice: MechanismSlice<HooksState> = {
  version: 2,
  types: ["hook.continued", "hook.stopped", "hook.advised", "tool.finished", "turn.started", "turn.ended"],
  timelines: forgottenByAgent(),
  initial: () => ({}),
  apply(state, event) {
    const { type, actor, data } = knownFact<Known>(event);
    const before = own(state, actor) ?? NOTHING_YET;
    if (type === "hook.continued") state[actor] = { ...before, continued: data.count };
    else if (type === "hook.stopped") state[actor] = { ...before, stop: data.reason };
    else if (type === "hook.advised") {
      const { callId, context } = data;
      state[actor] = { ...before, advice: { ...before.advice, [callId]: context } };
    } else if (type === "tool.finished" && before.advice) {
      const { [data.callId]: _, ...advice } = before.advice;
      state[actor] = { ...before, advice };
    } else if (type === "turn.started" || type === "turn.ended") delete state[actor];
    return state;
  },
};

export const turnHooks = (turn: Pick<Turn, "agent" | "slice">): TurnHooks =>
  turn.slice<HooksState>("hooks")[turn.agent] ?? NOTHING_YET;
