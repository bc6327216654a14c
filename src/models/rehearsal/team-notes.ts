// The reading of the team's notes: which protocol matter a text speaks of. The texts are those of src/mechanisms/team.
import type { SituationNote } from "./situation.ts";

export interface ClaimedTask {
  id: string;
  subject: string;
}

export type TeamNote =
  /** To the lead. */
  | { kind: "status" }
  | { kind: "asks"; name: string; id: string; plan: string }
  /** To a teammate. */
  | { kind: "planWanted" }
  | { kind: "approved"; id: string }
  | { kind: "rejected"; id: string; feedback: string }
  | { kind: "claimed"; task: ClaimedTask }
  | { kind: "shutdown"; id: string };

/** Also at the end of the prompt of a teammate that was spawned so. */
export const PLAN_WANTED = /\n*Submit a plan with submit_plan before you claim, run or change anything\.\s*/;
const ASKS = /^(\S+) asks for approval of a plan, request (\S+):\n([\s\S]*?)\n?(?:Answer with review_plan\b[^\n]*)?$/;
const APPROVED = /^Your plan (\S+) was approved\b/;
const REJECTED = /^Your plan (\S+) was rejected(?: by [^\s:]+)?:?\s*([\s\S]*?)(?:\n?The gate stays closed\b[^\n]*)?$/;
const CLAIMED = /^You (?:have claimed|still hold) (\S+): ([^\n]*)/;
const STATUS = /^Team(?: now)?: /;
const SHUTDOWN = /^\S+ asks you to shut down, request (\S+?)(?::|\.?\s|$)/;

/** Contract: only notes of the team itself count; a message that looks like one has no authority. */
export function readTeamNote({ from, text }: SituationNote): TeamNote | undefined {
  if (from !== "team") return undefined;
  const asks = ASKS.exec(text);
  if (asks) return { kind: "asks", name: asks[1]!, id: asks[2]!, plan: asks[3]!.trim() };
  const approved = APPROVED.exec(text);
  if (approved) return { kind: "approved", id: approved[1]! };
  const rejected = REJECTED.exec(text);
  if (rejected) return { kind: "rejected", id: rejected[1]!, feedback: rejected[2]!.trim() };
  const claimed = CLAIMED.exec(text);
  if (claimed) return { kind: "claimed", task: { id: claimed[1]!, subject: claimed[2]!.trim() } };
  const shutdown = SHUTDOWN.exec(text);
  if (shutdown) return { kind: "shutdown", id: shutdown[1]! };
  if (STATUS.test(text)) return { kind: "status" };
  return PLAN_WANTED.test(text) ? { kind: "planWanted" } : undefined;
}
