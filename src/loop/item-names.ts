// What the parts of a conversation are called: by the counters of their agent, so that no name is given twice, on whatever timeline.
import type { Item } from "../models/model.ts";

/** `c17` a call, `r12` a reply, `u3` something that was said to the agent. */
export const itemName = (item: Item): string =>
  item.kind === "result" ? item.callId : item.kind === "reply" ? `r${item.n}` : `u${item.n}`;
