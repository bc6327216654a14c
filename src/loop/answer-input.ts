// An input that is for the runtime: what it asks for happens, and it is answered without a model.
import type { Agent } from "./loop.ts";
import { buildRequest } from "./model-call.ts";
import type { AnsweredInput } from "./seams.ts";

/** Contract: asked for again after a kill it is the same; one that is stopped is over. */
export async function answerInput(agent: Agent, inputId: string, { changesView, events, answer }: AnsweredInput) {
  const { turn } = agent;
  const answered = (text: string) => ({ type: "input.answered", data: { inputId, text } });
  if (!changesView) return turn.append([...events, answered(answer())]);
  if (events.length > 0) await turn.append(events);
  try {
    await buildRequest(agent, false); // what the model would see now
  } catch (error) {
    if (turn.signal.aborted) await turn.append([answered("Stopped.")]);
    throw error;
  }
  return turn.append([answered(answer())]);
}
