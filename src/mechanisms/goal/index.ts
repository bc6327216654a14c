// A goal: while one is set, a turn that would end is judged first, and goes on until an evaluator says met or impossible, within bounds.
import { HoldfastError } from "../../ledger/error.ts";
import type { Carrying } from "../../loop/carry.ts";
import { defineMechanism, type Mechanism, type Note, type Turn } from "../../loop/seams.ts";
import { textOf } from "../../models/model.ts";
import { cutText } from "../../text/cut.ts";
import { type Goal, goalEvents, goalIn, goalSlice } from "./events.ts";
import { judgedText } from "./port.ts";

/** In a row, of one reply. */
const MOST_FAILED = 2;
/** Whoever says it, and wherever: whether it is a command is seen then. */
const COMMAND = /\/goal\b/i;
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
      // What only a goal needs is loaded for one.
      input: async (input, turn) =>
        COMMAND.test(textOf(input.content)) ? (await import("./command.ts")).goalCommand(input, turn) : input,
      intake: tell,
      async stop(turn, reply, { ask, goesOn }) {
        if (goesOn || reply.finish !== "stop") return [];
        for (let goal = goalIn(turn).goal; goal; goal = goalIn(turn).goal) {
          const last = goal.last?.round === turn.state.rounds ? goal.last : undefined; // a process that is gone may have asked
          if (last?.verdict === "not_yet") return [goOn(goal, last.why)];
          if (last && last.inARow >= MOST_FAILED) throw notJudged(last.why);
          await (await import("./judge.ts")).judge(turn, goal, ask);
        }
        return [];
      },
    },
  });
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
