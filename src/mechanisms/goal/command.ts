// `/goal CONDITION`, `/goal` and `/goal clear`, as a person types them.
import { isHoldfastError, messageOf } from "../../ledger/error.ts";
import { LEAD } from "../../loop/agent.ts";
import { withoutNotes } from "../../loop/marks.ts";
import type { AnsweredInput, Input, Turn } from "../../loop/seams.ts";
import { type Content, textOf } from "../../models/model.ts";
import { counted } from "../../text/counted.ts";
import { type GoalNow, goalIn } from "./events.ts";
import { conditionIn, judgedText, outcomeText } from "./port.ts";

const TYPED = /^\/goal(?:\s+([\s\S]+))?$/i;
const NAME = /^\s*\/goal\s+/i;

/** Contract: only what a person typed to the lead is a command: no peer, no tool, no file and nothing that was piped in. */
export async function goalCommand(input: Input, turn: Turn): Promise<Input | AnsweredInput> {
  const isPersons = input.origin === "user" && !input.isPiped && turn.agent === LEAD;
  const typed = isPersons ? TYPED.exec(withoutNotes(textOf(input.content)).trim()) : null;
  if (!typed) return input;
  const words = typed[1]?.trim();
  if (words === undefined) return answering(stands(goalIn(turn)));
  return words.toLowerCase() === "clear" ? clear(goalIn(turn)) : set(input, words);
}

const answering = (text: string, events: AnsweredInput["events"] = []): AnsweredInput => ({
  changesView: false,
  events,
  answer: () => text,
});

/** The condition is what is said, and what is worked on. */
function set(input: Input, words: string): Input | AnsweredInput {
  try {
    const fact = { type: "goal.set", data: { condition: conditionIn(words) } };
    return { ...input, content: unnamed(input.content), events: [...(input.events ?? []), fact] };
  } catch (error) {
    if (!isHoldfastError(error, "invalid")) throw error;
    return answering(`Nothing is set: ${messageOf(error)}`);
  }
}

/** Notes beside the words begin otherwise, and stay. */
const unnamed = (content: readonly Content[]): Content[] =>
  content.map((part) => (part.type === "text" ? { ...part, text: part.text.replace(NAME, "") } : part));

function clear({ goal }: GoalNow): AnsweredInput {
  if (!goal) return answering("No goal is set: there is nothing to take back.");
  return answering(`The goal is taken back: ${goal.condition}`, [{ type: "goal.cleared", data: {} }]);
}

function stands({ goal, ended }: GoalNow): string {
  if (goal) {
    const last = goal.last ? `Judged ${counted(goal.judgements, "time")}, last: ${judgedText(goal.last)}` : "";
    return `The goal: ${goal.condition}\n${last || "Not judged yet."}`;
  }
  const before = ended ? ` Of the last one (${ended.condition}): ${outcomeText(ended.outcome, ended.why)}` : "";
  return `No goal is set; /goal CONDITION sets one.${before}`;
}
