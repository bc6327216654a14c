// What the user's hooks are told about models: that a turn ends because none answers, that another one took over. In Claude's words.
import type { Turn } from "../../loop/seams.ts";
import { ModelError, type ModelErrorKind } from "../../models/model.ts";

/** Contract: it decides nothing. */
export type FireModelHook = (
  event: "StopFailure" | "PostModelSwitch",
  payload: Record<string, unknown>,
  turn: Turn,
) => Promise<unknown>;

/** What is not here is "unknown". */
const CLAUDES: Partial<Record<ModelErrorKind, string>> = {
  rate_limit: "rate_limit",
  overloaded: "overloaded",
  server: "server_error",
  auth: "authentication_failed",
  invalid: "invalid_request",
  overflow: "invalid_request",
  length: "max_output_tokens",
};

export async function tellFailure(error: unknown, turn: Turn, fire: FireModelHook | undefined): Promise<void> {
  if (!fire || !(error instanceof ModelError) || error.kind === "aborted") return;
  const last = turn.state.turn?.text;
  const payload = {
    error: CLAUDES[error.kind] ?? "unknown",
    error_details: error.message,
    ...(last && { last_assistant_message: last }),
  };
  await fire("StopFailure", payload, turn);
}

/** What Claude Code knows beyond this (cache, prices) is not known here, and left out. */
export async function tellSwitch(from: string, to: string, turn: Turn, fire: FireModelHook | undefined): Promise<void> {
  await fire?.("PostModelSwitch", { from_model: from, to_model: to, requested_model: null, source: "auto" }, turn);
}
