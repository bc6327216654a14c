// What seam `stop` gives to whoever is asked whether a turn may end.
import type { Item, Reply } from "../models/model.ts";

export interface StopOptions {
  /** Somebody before has more to say: the turn goes on anyway. */
  goesOn: boolean;
  /**
   * Asks the model beside the conversation: what it would be shown now, and the question behind it. Contract: no round, nothing of it is
   * shown, and no call in its reply is run. What that used is for the asker to record (`reply.aside`).
   */
  ask: (question: Item) => Promise<Reply>;
}
