// Why a call was refused, as it is recorded: for whoever decides or advises by it. The sentence for people stands beside it.
import type { Answer, Looked, Verdict, VerdictCode } from "./seams.ts";

export interface WhyRefused {
  code: VerdictCode;
  unanswered?: boolean;
  rules?: string[];
  looked?: Looked;
}

export function whyRefused(verdict: Exclude<Verdict, { decision: "allow" }>, answer: Answer | Verdict): WhyRefused {
  const { code, looked } = verdict;
  const seen = looked ? { code, looked } : { code };
  if (answer.decision !== "deny" || answer.code !== "unanswered" || verdict.decision === "deny") return seen;
  return { ...seen, unanswered: true, ...(verdict.rules && { rules: verdict.rules }) };
}
