// `/compact [focus]` and `/compact undo`, as a person types them.
import { withoutNotes } from "../../loop/marks.ts";
import type { AnsweredInput, Input, Turn } from "../../loop/seams.ts";
import { textOf } from "../../models/model.ts";
import type { HookRefusals } from "./epoch.ts";
import { stateOf } from "./events.ts";
import { leftOut, tokensText } from "./says.ts";

const TYPED = /^\/compact(?:\s+([\s\S]+))?$/i;

export async function command(input: Input, turn: Turn, refusals: HookRefusals): Promise<Input | AnsweredInput> {
  const typed = input.origin === "user" ? TYPED.exec(withoutNotes(textOf(input.content)).trim()) : null;
  if (!typed) return input;
  const words = typed[1]?.trim();
  return words?.toLowerCase() === "undo" ? undo(turn) : compact(turn, words, refusals);
}

function compact(turn: Turn, focus: string | undefined, refusals: HookRefusals): AnsweredInput {
  const { asked, epochs } = stateOf(turn);
  // A process that is gone asked for it, and may have done it.
  const before = asked?.isDone ? undefined : epochs.at(-1);
  refusals.delete(turn);
  return {
    changesView: !asked?.isDone,
    events: asked ? [] : [{ type: "compaction.asked", data: { ...(focus !== undefined && { focus }) } }],
    answer: () => {
      const last = stateOf(turn).epochs.at(-1);
      const refusal = refusals.get(turn);
      if (refusal !== undefined) return `A PreCompact hook keeps the conversation as it is: ${refusal}`;
      return last && last !== before
        ? `Room was made: ${leftOut(last)}${tokensText(last)}. Nothing is lost: the agent can recall it, /compact undo shows it again.`
        : "There is nothing to leave out yet: what the model sees stays as it is.";
    },
  };
}

/** What is shown again is not looked at before the next request: where that has no room for it, it goes again, and says so. */
function undo(turn: Turn): AnsweredInput {
  const isThere = stateOf(turn).epochs.length > 0;
  return {
    changesView: false,
    events: isThere ? [{ type: "context.uncompacted", data: {} }] : [],
    answer: () =>
      isThere
        ? "What was left out last is in the model's view again, as far as the next request has room for it."
        : "Nothing is left out: there is nothing to undo.",
  };
}
