// What the user's hooks are told about models: that a turn ends because none answers, that another one took over. In Claude's words.
import type { Turn } from "../../loop/seams.ts";
import { ModelError, type ModelErrorKind } from "../../models/model.ts";
import { fireHook } from "../hooks/port.ts";

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

export async function tellFailure(error: unknown, turn: Turn): Promise<void> {
  if (!(error instanceof ModelError) || error.kind === "aborted") return;
  const last = turn.state.turn?.text;
  const payload = {
    error: CLAUDES[error.kind] ?? "unknown",
    error_details: error.message,
    ...(last && { last_assistant_message: last }),
  };
  await fireHook(turn, "StopFailure", payload);
}

/** What Claude Code knows beyond this (cache, prices) is not known here, and left out. */
export async function tellSwitch(from: string, to: string, turn: Turn): Promise<void> {
  await fireHook(turn, "PostModelSwitch", { from_model: from, to_model: to, requested_model: null, source: "auto" });
}
