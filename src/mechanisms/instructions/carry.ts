// The rules of folders that came as notes: what stands in the system prompt is sent anyway.
import { own } from "../../ledger/own.ts";
import { type Carrying, saidAs } from "../../loop/carry.ts";
import { noteInside } from "../../loop/marks.ts";
import type { Turn } from "../../loop/seams.ts";
import { fittingTexts } from "../../text/fitting.ts";
import type { ShownInstructions } from "./events.ts";

/** Of the window. */
const SHARE = 0.05;

/** The last ones first, whole; those that do not fit by reference. */
export function carryRules(
  turn: Pick<Turn, "agent" | "slice" | "state">,
  { room, shows }: Pick<Carrying, "room" | "shows">,
): string {
  const shown = Object.entries(own(turn.slice<ShownInstructions>("instructions"), turn.agent) ?? {});
  const said = saidAs(
    turn.state.items,
    shown.flatMap(([, { mark }]) => mark ?? []),
  );
  const rules = shown
    .toSorted(([, a], [, b]) => b.seq - a.seq)
    .flatMap(([file, { mark }]) => {
      const found = mark === undefined ? undefined : said.get(mark);
      if (!found || shows(found.ref)) return [];
      const short = `Rules from ${file}: recall ${found.ref} before you work there.`;
      return [{ whole: noteInside(found.text), short }];
    });
  return fittingTexts(rules, room(SHARE), (count) => `Rules of ${count} more files: recall finds them.`).join("\n\n");
}
