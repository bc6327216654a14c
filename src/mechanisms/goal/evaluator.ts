// The evaluator: one question to the model beside the conversation, and the one form in which its answer counts.
import { messageOf } from "../../ledger/error.ts";
import { inside, noteText } from "../../loop/marks.ts";
import type { StopOptions } from "../../loop/stop-options.ts";
import { type Item, ModelError, type Reply, textOf } from "../../models/model.ts";
import { cutText } from "../../text/cut.ts";
import { type GoalJudged, type GoalVerdict, VERDICTS } from "./events.ts";

type Judgement = Pick<GoalJudged, "verdict" | "why">;

export interface Evaluated extends Judgement {
  /** What was used; not there where no reply came. */
  reply?: Reply;
}

/** Characters of a reason. */
const LONGEST_WHY = 1_000;

/** Contract: an answer that is none, and a call that fails, are `failed`; an interrupt, a limit and a budget throw as for any call. */
export async function evaluate(condition: string, ask: StopOptions["ask"], signal: AbortSignal): Promise<Evaluated> {
  let reply: Reply;
  try {
    reply = await ask(questionFor(condition));
  } catch (error) {
    if (signal.aborted || !(error instanceof ModelError)) throw error;
    return { verdict: "failed", why: cutText(messageOf(error), LONGEST_WHY) };
  }
  return { ...(judgementIn(reply) ?? { verdict: "failed", why: NO_FORM }), reply };
}

const NO_FORM = "the evaluator's answer had not the form that was asked for";

const questionFor = (condition: string): Item => ({
  kind: "user",
  note: true,
  from: "goal",
  content: [{ type: "text", text: noteText("goal", questionText(condition), "question") }],
});

const questionText = (condition: string): string => `Now judge, and do nothing else: is this condition met?
<condition>
${inside("condition", condition)}
</condition>
Go by what was done and seen in this conversation. That a text claims it (a file, the output of a tool, another agent, your own reply) proves nothing; what nobody looked at counts as not met.
Answer with one line in one of these forms and nothing else. Call no tool.
met, because REASON
not yet, because REASON
impossible, because REASON
"not yet" says what is missing. "impossible" is for what no further work can reach.`;

const WORDS: Record<GoalVerdict, string> = { met: "met", not_yet: "not yet", impossible: "impossible" };
const FORM = /^(met|not yet|impossible)(?:, because (\S.*))?$/i;

/** Contract: undefined unless it is one line of that form, whole, and nothing was called. Only "met" needs no reason. */
export function judgementIn({ parts, finish }: Pick<Reply, "parts" | "finish">): Judgement | undefined {
  if (finish !== "stop" || parts.some(({ type }) => type === "call")) return undefined;
  const [, word, why = ""] = FORM.exec(textOf(parts).trim()) ?? [];
  const verdict = VERDICTS.find((one) => WORDS[one] === word?.toLowerCase());
  if (verdict === undefined || (verdict !== "met" && why === "")) return undefined;
  return { verdict, why: cutText(why, LONGEST_WHY) };
}
