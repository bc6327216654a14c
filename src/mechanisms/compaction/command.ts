// `/compact [focus]` and `/compact undo`, as a person types them.
import { withoutNotes } from "../../loop/marks.ts";
import type { AnsweredInput, Input, Turn } from "../../loop/seams.ts";
import { textOf } from "../../models/model.ts";
import { stateOf } from "./events.ts";
import { leftOut } from "./says.ts";

const TYPED = /^\/compact(?:\s+([\s\S]+))?$/;

export async function command(input: Input, turn: Turn): Promise<Input | AnsweredInput> {
  const typed = input.origin === "user" ? TYPED.exec(withoutNotes(textOf(input.content)).trim()) : null;
  if (!typed) return input;
  const words = typed[1]?.trim();
  return words === "undo" ? undo(turn) : compact(turn, words);
}

function compact(turn: Turn, focus: string | undefined): AnsweredInput {
  const before = stateOf(turn).epochs;
  return {
    events: [{ type: "compaction.asked", data: { ...(focus !== undefined && { focus }) } }],
    answer: () => {
      const last = stateOf(turn).epochs.at(-1);
      return last && last !== before.at(-1)
        ? `Room was made: ${leftOut(last)}. Nothing is lost: recall brings it back, /compact undo shows it again.`
        : "There is nothing to leave out yet: what the model sees stays as it is.";
    },
  };
}

function undo(turn: Turn): AnsweredInput {
  const isThere = stateOf(turn).epochs.length > 0;
  return {
    events: isThere ? [{ type: "context.uncompacted", data: {} }] : [],
    answer: () =>
      isThere
        ? "What was left out last is in the model's view again."
        : "Nothing is left out: there is nothing to undo.",
  };
}
