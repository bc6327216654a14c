// The facts of a goal, and what is true of it: the condition, how it was judged, how it ended.
import * as z from "../../ledger/event-schema.ts";
import type { EventDefs } from "../../ledger/events.ts";
import { knownFact } from "../../ledger/guards.ts";
import { own } from "../../ledger/own.ts";
import type { Seq } from "../../ledger/store.ts";
import type { loopEvents } from "../../loop/events.ts";
import type { Turn } from "../../loop/seams.ts";
import type { MechanismSlice } from "../../loop/timelines.ts";

/** What an evaluator may say. */
export const VERDICTS = ["met", "not_yet", "impossible"] as const;
export type GoalVerdict = (typeof VERDICTS)[number];
/** `failed`: it said nothing that counts. */
const JUDGED = [...VERDICTS, "failed"] as const;
const OUTCOMES = ["met", "impossible", "not_reached"] as const;
export type GoalOutcome = (typeof OUTCOMES)[number];

export const goalEvents = {
  /** Beside an input, by whoever received it: it holds once that input is taken in. */
  "goal.given": { v: 1, schema: () => z.object({ inputId: z.string(), condition: z.string() }) },
  /** In place of an older one. */
  "goal.set": { v: 1, schema: () => z.object({ condition: z.string() }) },
  /** The model knows how it stands. */
  "goal.told": { v: 1, schema: () => z.object({}) },
  /** After that many replies and calls of the agent. */
  "goal.judged": {
    v: 1,
    schema: () => z.object({ verdict: z.enum(JUDGED), why: z.string(), round: z.number(), calls: z.number() }),
  },
  "goal.ended": { v: 1, schema: () => z.object({ outcome: z.enum(OUTCOMES), why: z.string() }) },
  "goal.cleared": { v: 1, schema: () => z.object({}) },
} satisfies EventDefs;

export type GoalJudged = z.infer<ReturnType<(typeof goalEvents)["goal.judged"]["schema"]>>;

export interface Goal {
  condition: string;
  /** The model knows it. */
  isTold: boolean;
  /** How often it was judged. */
  judgements: number;
  /** `inARow`: how often nothing has changed: the same round was not judged, or it was "not yet" and nothing was called since. */
  last?: GoalJudged & { inARow: number };
}

export interface EndedGoal {
  condition: string;
  outcome: GoalOutcome;
  why: string;
  judgements: number;
  seq: Seq;
}

export interface GoalNow {
  goal?: Goal;
  /** The last one that an evaluator ended. */
  ended?: EndedGoal;
  /** The model was told of a goal that no longer holds. */
  isOver?: true;
}

interface Kept {
  now: GoalNow;
  /** What was true since then, of every timeline. */
  past: { seq: Seq; now: GoalNow }[];
  /** By the input beside which they were given. */
  given: Record<string, string>;
}

/** By agent. */
export type GoalState = Record<string, Kept>;

type Known = typeof goalEvents & Pick<typeof loopEvents, "input.taken" | "input.blocked" | "input.answered">;
type GoalFact = ReturnType<typeof knownFact<Known>>;

const NONE: GoalNow = {};

export const goalIn = (turn: Pick<Turn, "slice" | "agent">): GoalNow =>
  own(turn.slice<GoalState>("goal"), turn.agent)?.now ?? NONE;

const since = (kept: Kept, seq: Seq, now: GoalNow): Kept => ({ ...kept, now, past: [...kept.past, { seq, now }] });

const everyone = (state: GoalState, change: (kept: Kept) => Kept): GoalState =>
  Object.fromEntries(Object.entries(state).map(([agent, kept]) => [agent, change(kept)]));

export const goalSlice: MechanismSlice<GoalState> = {
  version: 1,
  types: [...Object.keys(goalEvents), "input.taken", "input.blocked", "input.answered"],
  timelines: {
    restored: (state, { to, from }) =>
      everyone(state, (kept) =>
        since({ ...kept, given: {} }, from + 1, kept.past.findLast(({ seq }) => seq <= to)?.now ?? NONE),
      ),
    // A copy of one's own goes on with it. What comes from elsewhere was asked for there: nobody here has said to go on by itself.
    copied: (state, how) => (how === "import" ? {} : everyone(state, (kept) => ({ ...kept, given: {} }))),
  },
  initial: () => ({}),
  apply(state, event) {
    const fact = knownFact<Known>(event);
    const mine = own(state, fact.actor);
    if (!mine && !fact.type.startsWith("goal.")) return state;
    state[fact.actor] = changed(mine ?? { now: NONE, past: [], given: {} }, fact);
    return state;
  },
};

function changed(mine: Kept, fact: GoalFact): Kept {
  const { type, data, seq } = fact;
  const { goal, ended } = mine.now;
  switch (type) {
    case "goal.given":
      return { ...mine, given: { ...mine.given, [data.inputId]: data.condition } };
    case "input.taken":
    case "input.blocked":
    case "input.answered": {
      const condition = own(mine.given, data.inputId);
      if (condition === undefined) return mine;
      const { [data.inputId]: _, ...given } = mine.given;
      return type === "input.taken" ? since({ ...mine, given }, seq, begun(mine.now, condition)) : { ...mine, given };
    }
    case "goal.set":
      return since(mine, seq, begun(mine.now, data.condition));
    case "goal.told":
      return since(mine, seq, { ...(goal && { goal: { ...goal, isTold: true } }), ...(ended && { ended }) });
    case "goal.judged": {
      if (!goal) return mine;
      const last = { ...data, inARow: (isSame(goal.last, data) ? goal.last.inARow : 0) + 1 };
      return since(mine, seq, { ...mine.now, goal: { ...goal, judgements: goal.judgements + 1, last } });
    }
    case "goal.ended": {
      if (!goal) return mine;
      const { condition, judgements } = goal;
      return since(mine, seq, { ended: { condition, ...data, judgements, seq }, ...over(goal) });
    }
    case "goal.cleared":
      return since(mine, seq, over(goal));
  }
}

const begun = ({ ended }: GoalNow, condition: string): GoalNow => ({
  goal: { condition, isTold: false, judgements: 0 },
  ...(ended && { ended }),
});

const over = (goal: Goal | undefined): Pick<GoalNow, "isOver"> => (goal?.isTold ? { isOver: true } : {});

/** By what is counted, and not by the words of a model, which it may turn as it likes. */
function isSame(last: Goal["last"], { verdict, round, calls }: GoalJudged): last is NonNullable<Goal["last"]> {
  if (last?.verdict !== verdict) return false;
  return verdict === "failed" ? last.round === round : last.calls === calls;
}
