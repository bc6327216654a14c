// What the hooks of one event said together: the strictest answer first, texts short enough to show, every run a fact.
import type { EventInput } from "../../ledger/store.ts";
import type { Answered, HookDecision } from "./answer.ts";
import type { Handler } from "./handlers.ts";
import { boundText } from "./long-text.ts";
import type { HookInput } from "./payload.ts";
import { resultText } from "./result-text.ts";

/** What all hooks of one event said together. */
export interface Fired {
  decision?: HookDecision;
  /** Why, where the decision is not `allow`. */
  reason?: string;
  updatedInput?: Record<string, unknown>;
  updatedToolOutput?: string;
  /** For the model, in the order of the configuration. */
  context: string[];
  stop?: string;
  /** A refused call may be tried again. */
  retry?: boolean;
}

export const NOTHING_SAID: Fired = { context: [] };

const REASON_CHARS = 500;
/** As much as any result may have. */
const RESULT_CHARS = 30_000;

/** An answer whose texts are short enough to show. */
export type Bounded = Omit<Answered, "updatedToolOutput"> & { updatedToolOutput?: string };

export async function bounded({ updatedToolOutput: result, ...answer }: Answered, dir: string): Promise<Bounded> {
  for (const key of ["reason", "context", "stop", "message"] as const) {
    const text = answer[key];
    if (text !== undefined) answer[key] = await boundText(text, dir);
  }
  if (result === undefined) return answer;
  return { ...answer, updatedToolOutput: await boundText(resultText(result), dir, RESULT_CHARS) };
}

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

/** Contract: the strictest decision counts, with the reasons of all who gave it; of two replacements the later one. */
export function merge(answers: readonly Bounded[]): Fired {
  const fired: Fired = { context: answers.flatMap((a) => (a.context === undefined ? [] : [a.context])) };
  const decisions = answers.flatMap((a) => (a.decision ? [a.decision] : []));
  const strictest = decisions.sort((a, b) => STRICTNESS[b] - STRICTNESS[a])[0];
  if (strictest) {
    fired.decision = strictest;
    const reasons = answers.filter((a) => a.decision === strictest).flatMap((a) => a.reason ?? []);
    if (reasons.length > 0) fired.reason = reasons.join("\n");
  }
  for (const { updatedInput, updatedToolOutput, stop, retry } of answers) {
    if (retry) fired.retry = true;
    if (updatedInput) fired.updatedInput = updatedInput;
    if (updatedToolOutput !== undefined) fired.updatedToolOutput = updatedToolOutput;
    if (stop !== undefined) fired.stop ??= stop;
  }
  return fired;
}

export function factOf(
  handler: Handler,
  input: HookInput,
  answer: Bounded,
  { durationMs, beside, subject }: { durationMs: number; beside: boolean; subject?: string | undefined },
): Omit<EventInput, "actor"> {
  const { event, source, command, matcher } = handler;
  const { outcome, exitCode, reason } = answer;
  const { agent_id: agent, tool_use_id: told } = input;
  const callId = agent === undefined ? told : told?.slice(agent.length + 1); // the fact is the agent's: its own number
  return {
    type: "hook.ran",
    data: {
      event,
      source,
      command,
      matcher,
      durationMs,
      outcome,
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(reason === undefined ? {} : { reason: reason.slice(0, REASON_CHARS) }),
      ...(callId === undefined ? {} : { callId }),
      ...(beside ? { async: true } : {}),
      ...(subject === undefined ? {} : { subject }),
      ...(answer.message === undefined ? {} : { says: answer.message }),
      ...(answer.updatedInput === undefined ? {} : { rewrote: true }),
    },
  };
}
