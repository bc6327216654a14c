// A goal: while one is set, a turn that would end is judged first, and goes on until an evaluator says met or impossible, within bounds.
import { crashPoint } from "../../ledger/crash-point.ts";
import { HoldfastError } from "../../ledger/error.ts";
import type { EventInput } from "../../ledger/store.ts";
import type { Carrying } from "../../loop/carry.ts";
import { defineMechanism, type Mechanism, type Note, type Turn } from "../../loop/seams.ts";
import type { StopOptions } from "../../loop/stop-options.ts";
import { cutText } from "../../text/cut.ts";
import { goalCommand } from "./command.ts";
import { type Evaluated, evaluate } from "./evaluator.ts";
import { type Goal, type GoalOutcome, goalEvents, goalIn, goalSlice } from "./events.ts";
import { judgedText } from "./port.ts";

/** Of one goal. */
const MOST_JUDGEMENTS = 20;
/** "not yet" without a call in between. */
const MOST_IDLE = 3;
/** In a row, of one reply. */
const MOST_FAILED = 2;
/** Of the window, for what is carried over. */
const SHARE = 0.05;

export function createGoal(): Mechanism {
  return defineMechanism({
    name: "goal",
    events: goalEvents,
    fold: goalSlice,
    decides: ["goal.set", "goal.cleared", "goal.judged", "goal.ended"],
    outside: { facts: ["goal.given"] },
    carry: carryGoal,
    seams: {
      input: goalCommand,
      intake: tell,
      async stop(turn, reply, { ask, goesOn }) {
        if (goesOn || reply.finish !== "stop") return [];
        for (let goal = goalIn(turn).goal; goal; goal = goalIn(turn).goal) {
          const last = goal.last?.round === turn.state.rounds ? goal.last : undefined; // a process that is gone may have asked
          if (last?.verdict === "not_yet") return [goOn(goal, last.why)];
          if (last && last.inARow >= MOST_FAILED) throw notJudged(last.why);
          await judge(turn, goal, ask);
        }
        return [];
      },
    },
  });
}

/** Contract: the verdict, what it used and what it ends are one append, before anything is done by it. */
async function judge(turn: Turn, goal: Goal, ask: StopOptions["ask"]): Promise<void> {
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

const goOn = ({ condition }: Goal, why: string): Note => ({
  origin: "goal",
  kind: "not_yet",
  text: `The goal is not met yet, because ${why}\nGo on until it is: ${condition}\nIf it cannot be reached, say why.`,
});

const notJudged = (why: string): HoldfastError =>
  new HoldfastError("model", `the goal could not be judged, ${MOST_FAILED} times in a row (${why}); it stays set`);

/** Within a turn only: an idle agent is not woken for it. */
function tell(turn: Turn): Note[] {
  const { goal, isOver } = goalIn(turn);
  if (!turn.state.turn || (goal ? goal.isTold : !isOver)) return [];
  const text = goal
    ? `The user has set a goal. When you end your turn an evaluator judges whether it is met, and you go on until it is: ${goal.condition}`
    : "The goal that the user had set no longer holds: it ended, or was taken back.";
  return [{ origin: "goal", kind: goal ? "set" : "over", text, events: [{ type: "goal.told", data: {} }] }];
}

function carryGoal(turn: Pick<Turn, "agent" | "slice">, { room }: Pick<Carrying, "room">): string {
  const { goal } = goalIn(turn);
  if (!goal) return "";
  const judged = goal.last ? `\nLast judged: ${judgedText(goal.last)}` : "";
  return cutText(`The user's goal; your turn goes on until it is met: ${goal.condition}${judged}`, room(SHARE));
}
