// What others may know of a goal: how one is given beside an input, and how it stands.
import { HoldfastError } from "../../ledger/error.ts";
import type { EventInput } from "../../ledger/store.ts";
import type { Turn } from "../../loop/seams.ts";
import { type EndedGoal, type Goal, type GoalJudged, type GoalOutcome, goalIn } from "./events.ts";

/** Characters: a condition stands in every question to the evaluator. */
const LONGEST_CONDITION = 4_000;

/** Contract: throws `invalid` where it is none. */
export function conditionIn(given: string): string {
  const condition = given.trim();
  if (condition === "") throw new HoldfastError("invalid", "a goal is a condition in words: it is empty");
  if (condition.length > LONGEST_CONDITION)
    throw new HoldfastError(
      "invalid",
      `a goal has at most ${LONGEST_CONDITION} characters, and this one ${condition.length}: put the details into a file, and name it`,
    );
  return condition;
}

/** Contract: recorded with that input; the goal holds once it is taken in. */
export const goalFacts = (condition: string | undefined, inputId: string): Omit<EventInput, "actor">[] =>
  condition === undefined ? [] : [{ type: "goal.given", data: { inputId, condition: conditionIn(condition) } }];

/** How a goal stands when a run ends. */
export interface GoalResult {
  condition: string;
  /** Null: not judged yet. `not_yet` and `failed`: it is still set. */
  verdict: GoalOutcome | GoalJudged["verdict"] | null;
  why: string;
  judgements: number;
}

/** Which one ended last. */
export const lastEnded = (turn: Pick<Turn, "slice" | "agent">): number => goalIn(turn).ended?.seq ?? 0;

/** Undefined: there is none, and none has ended since. */
export function goalResult(turn: Pick<Turn, "slice" | "agent">, since: number): GoalResult | undefined {
  const { goal, ended } = goalIn(turn);
  if (goal) return standing(goal);
  return ended && ended.seq > since ? atEnd(ended) : undefined;
}

const standing = ({ condition, last, judgements }: Goal): GoalResult => ({
  condition,
  verdict: last?.verdict ?? null,
  why: last?.why ?? "",
  judgements,
});

const atEnd = ({ condition, outcome, why, judgements }: EndedGoal): GoalResult => ({
  condition,
  verdict: outcome,
  why,
  judgements,
});

/** It is over, and what was wanted is not so. */
export const isMissed = (goal: Pick<GoalResult, "verdict"> | undefined): boolean =>
  goal?.verdict === "impossible" || goal?.verdict === "not_reached";

const OUTCOME_TEXTS: Record<GoalOutcome, string> = {
  met: "the goal is met",
  impossible: "the goal is impossible",
  not_reached: "the goal is not reached",
};

/** It ended in this run, in whichever way. */
export const isOverGoal = (goal: Pick<GoalResult, "verdict"> | undefined): boolean =>
  goal?.verdict === "met" || isMissed(goal);

/** In one line, for people. */
export const outcomeText = (outcome: GoalOutcome, why: string): string =>
  `${OUTCOME_TEXTS[outcome]}${why === "" ? "" : `: ${why}`}`;

/** Contract: of one that `isMissed`. */
export const missedText = (goal: GoalResult | undefined): string =>
  goal?.verdict === "impossible" || goal?.verdict === "not_reached" ? outcomeText(goal.verdict, goal.why) : "";

const JUDGED_TEXTS: Record<GoalJudged["verdict"], string> = {
  met: "met",
  not_yet: "not yet",
  impossible: "impossible",
  failed: "not judged",
};

export const judgedText = ({ verdict, why }: Pick<GoalJudged, "verdict" | "why">): string =>
  `${JUDGED_TEXTS[verdict]}${why === "" ? "" : `, because ${why}`}`;
