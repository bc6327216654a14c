// What servers said of themselves when they were connected: their tools are offered in every request, this was said once.
import type { Carrying } from "../../loop/carry.ts";
import type { Turn } from "../../loop/seams.ts";
import { textOf } from "../../models/model.ts";
import { fittingTexts } from "../../text/fitting.ts";
import { CONNECT_MCP } from "./names.ts";

/** Of the window. */
const SHARE = 0.03;

/** The last ones first, whole; those that do not fit by reference. */
export function carryServers(
  { state: { items } }: Pick<Turn, "state">,
  { room, shows }: Pick<Carrying, "room" | "shows">,
): string {
  const texts = items.toReversed().flatMap((item) => {
    if (item.kind !== "result" || item.name !== CONNECT_MCP || item.isError || shows(item.callId)) return [];
    return [{ whole: textOf(item.content), short: `What a server said when it was connected: recall ${item.callId}` }];
  });
  return fittingTexts(texts, room(SHARE), (count) => `and of ${count} more`).join("\n");
}
