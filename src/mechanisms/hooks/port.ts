// How a mechanism fires an event of the user's hooks: any may, and needs nothing but the turn.
import type { FieldOf, FiredEvent } from "../../claude-code/hook-events.ts";
import type { Heard, Turn } from "../../loop/seams.ts";

/** Contract: `blocked` where a hook refused; nothing said where there are no hooks for it. */
export const fireHook = <E extends FiredEvent>(
  turn: Turn,
  event: E,
  payload: Partial<Record<FieldOf<E>, unknown>>,
): Promise<Heard> => turn.announce(event, payload);
