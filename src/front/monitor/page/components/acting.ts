// Asking the server to do something, once at a time, and what it said to it.
import { useRef, useState } from "preact/hooks";
import type { Action, ActionAnswer, ContextKey } from "../../api.ts";
import { AnswerError } from "../client.ts";
import { useParts } from "../parts.tsx";

/** The code of an answer that did not come: it may have been done. */
export const NOT_KNOWN = "not_known";

export interface Acting {
  /** It is asked now: nothing else is, until it answers. */
  isAsking: boolean;
  /** The newest answer. */
  answer: ActionAnswer | undefined;
  /** Gives undefined where another question is still open: that one counts. */
  ask(action: Action): Promise<ActionAnswer | undefined>;
}

export function useActing(key: ContextKey): Acting {
  const { client, announce } = useParts();
  const [state, setState] = useState<Pick<Acting, "isAsking" | "answer">>({ isAsking: false, answer: undefined });
  // Two clicks between two frames see the same state: this one is up to date.
  const isOpen = useRef(false);
  const ask = async (action: Action): Promise<ActionAnswer | undefined> => {
    if (isOpen.current) return undefined;
    isOpen.current = true;
    setState({ isAsking: true, answer: undefined });
    const answer = await client.act(key, action).catch(withoutAnswer);
    isOpen.current = false;
    setState({ isAsking: false, answer });
    announce(answer.says);
    return answer;
  };
  return { ...state, ask };
}

function withoutAnswer(error: unknown): ActionAnswer {
  const says = error instanceof Error ? error.message : String(error);
  // Refused at the door: nothing was done.
  if (error instanceof AnswerError && error.status < 500) return { ok: false, says, code: error.code };
  return { ok: false, says: `It is not known whether that was done: ${says}`, code: NOT_KNOWN };
}
