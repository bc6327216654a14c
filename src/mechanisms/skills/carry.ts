// The skills that an agent has loaded, with their texts as they were then.
import { own } from "../../ledger/own.ts";
import { type Carrying, saidAs } from "../../loop/carry.ts";
import { noteInside } from "../../loop/marks.ts";
import type { Turn } from "../../loop/seams.ts";
import { textOf } from "../../models/model.ts";
import { fittingTexts } from "../../text/fitting.ts";
import type { LoadedSkills } from "./events.ts";

/** Of the window. */
const SHARE = 0.2;

/** The last ones first, whole; those that do not fit by reference. */
export function carrySkills(
  turn: Pick<Turn, "agent" | "slice" | "state">,
  { room, shows }: Pick<Carrying, "room" | "shows">,
): string {
  const loaded = Object.entries(own(turn.slice<LoadedSkills>("skills"), turn.agent) ?? {});
  const { items } = turn.state;
  const said = saidAs(
    items,
    loaded.flatMap(([, { mark }]) => mark ?? []),
  );
  const skills = loaded
    .toSorted(([, a], [, b]) => b.seq - a.seq)
    .flatMap(([name, { callId, mark, agent }]) => {
      const result = items.find((item) => item.kind === "result" && item.callId === callId);
      const found =
        callId !== undefined && result?.kind === "result"
          ? { ref: callId, text: textOf(result.content) }
          : said.get(mark ?? "");
      if (!found || shows(found.ref)) return [];
      const isNote = agent !== undefined;
      return [
        {
          whole: isNote ? noteInside(found.text) : found.text,
          short: `- ${name}: recall ${found.ref} before work it is for`,
        },
      ];
    });
  if (skills.length === 0) return "";
  const rest = (count: number) => `- and ${count} more, which load_skill brings again`;
  return ["Skills you have loaded, the last one first:", ...fittingTexts(skills, room(SHARE), rest)].join("\n");
}
