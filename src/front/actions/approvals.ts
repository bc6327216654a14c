// A person's answer to a question before a call: recorded once, whoever else answers at the same time.
import { HoldfastError } from "../../ledger/error.ts";
import { type Ledger, sliceOf } from "../../ledger/ledger.ts";
import { own } from "../../ledger/own.ts";
import type { ApprovalAnswer, ApprovalRequest, ApprovalsState } from "../../mechanisms/approvals/events.ts";
import { answerEvent } from "../../mechanisms/approvals/index.ts";
import { oneLine } from "../presentation/printable.ts";

/** What became of an answer. */
export type AnswerOutcome =
  | { kind: "counted" }
  /** Somebody was first. */
  | { kind: "already"; answer: ApprovalAnswer }
  /** What was shown named a folder that is no longer the project's. */
  | { kind: "moved"; request: ApprovalRequest }
  /** Its call has a result, or its conversation went back: nobody asks any more. */
  | { kind: "over" };

/** Contract: of answers given at once one counts, and each of the others is told which. */
export async function answerRequest(ledger: Ledger, requestId: string, answer: ApprovalAnswer): Promise<AnswerOutcome> {
  let found: AnswerOutcome = { kind: "counted" };
  await ledger.decide(({ slices }) => {
    found = standing((slices.approvals as ApprovalsState).requests, requestId);
    return { events: found.kind === "counted" ? [{ ...answerEvent(requestId, answer), actor: "user" }] : [] };
  });
  if (found.kind !== "counted") return found;
  // The folder may have moved just before: then the answer holds for nothing.
  const now = own(sliceOf<ApprovalsState>(ledger, "approvals").requests, requestId);
  return now?.movedTo === undefined ? found : { kind: "moved", request: now };
}

function standing(requests: ApprovalsState["requests"], requestId: string): AnswerOutcome {
  const request = own(requests, requestId);
  if (!request) return { kind: "over" };
  if (request.movedTo !== undefined) return { kind: "moved", request };
  return request.answer ? { kind: "already", answer: request.answer } : { kind: "counted" };
}

export function answeredAlready(
  id: string,
  { decision, from }: Pick<ApprovalAnswer, "decision" | "from">,
): HoldfastError {
  const what = decision === "allow" ? "allowed" : "refused";
  return new HoldfastError(
    "refused",
    `${id} was answered already: ${what}, from ${oneLine(from, 60)}; the first answer counts`,
  );
}

export const notAskedAnyMore = (id: string, see: string): HoldfastError =>
  new HoldfastError("not_found", `${id} is not asked any more: its call is over; ${see}`);
