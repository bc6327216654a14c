// One judgement of a goal: asked for, recorded, and whether it ends the goal.
import { crashPoint } from "../../ledger/crash-point.ts";
import type { EventInput } from "../../ledger/store.ts";
import type { Turn } from "../../loop/seams.ts";
import type { StopOptions } from "../../loop/stop-options.ts";
import { type Evaluated, evaluate } from "./evaluator.ts";
import type { Goal, GoalOutcome } from "./events.ts";

/** Of one goal. */
const MOST_JUDGEMENTS = 20;
/** "not yet" without a call in between. */
const MOST_IDLE = 3;

/** Contract: the verdict, what it used and what it ends are one append, before anything is done by it. */
export async function judge(turn: Turn, goal: Goal, ask: StopOptions["ask"]): Promise<void> {
  const said = await evaluate(goal.condition, ask, turn.signal);
  crashPoint("goal.answered");
  const { verdict, why, reply } = said;
  const { rounds: round, calls } = turn.state;
  const facts: Omit<EventInput, "actor">[] = [{ type: "goal.judged", data: { verdict, why, round, calls } }];
  if (reply) facts.unshift({ type: "reply.aside", data: { model: reply.model, usage: reply.usage, for: "goal" } });
  const end = endOf(goal, said, calls);
  if (end) facts.push({ type: "goal.ended", data: end });
  await turn.append(facts);
  crashPoint("goal.recorded");
}

/** How the goal ends by that verdict; undefined: it does not. */
function endOf(
  { judgements, last }: Goal,
  { verdict, why }: Evaluated,
  calls: number,
): { outcome: GoalOutcome; why: string } | undefined {
  if (verdict === "met" || verdict === "impossible") return { outcome: verdict, why };
  const isIdle = verdict === "not_yet" && last?.verdict === verdict && last.calls === calls;
  if (isIdle && last.inARow + 1 >= MOST_IDLE)
    return { outcome: "not_reached", why: `${MOST_IDLE} times not yet with nothing called in between: ${why}` };
  if (judgements + 1 >= MOST_JUDGEMENTS)
    return { outcome: "not_reached", why: `judged ${MOST_JUDGEMENTS} times, which is the limit: ${why}` };
  return undefined;
}
