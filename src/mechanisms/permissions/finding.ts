// Owns what judging one part of a call yields, and how findings are made.
import type { VerdictCode } from "../../loop/seams.ts";
import type { Decision } from "./words.ts";

/** Which allow rules may turn the finding: any that matches, only one without wildcards, none. */
type Lift = "any" | "exact" | "never";

export interface Finding {
  text: string;
  decision: Decision;
  /** Why, for whoever decides further; an allow has none. The reason is for people alone. */
  code?: VerdictCode;
  reason: string;
  /** No mode, rule or hook turns it into an allow. */
  firm: boolean;
  lift: Lift;
  /** Allowed, but it changes something: plan mode refuses it. */
  changes?: boolean;
  /** Asked, but it only reads. */
  reads?: boolean;
  network?: boolean;
  rule?: string;
}

export type Verdict = Omit<Finding, "text">;

export const allow = (reason = ""): Verdict => ({ decision: "allow", reason, firm: false, lift: "any" });
export const allowChange = (reason = ""): Verdict => ({ ...allow(reason), changes: true });
type Make = (reason: string, code?: VerdictCode) => Verdict;
/** An ask that rules and modes may answer. */
export const ask: Make = (reason, code = "command") => ({ decision: "ask", code, reason, firm: false, lift: "any" });
export const askRead: Make = (reason, code) => ({ ...ask(reason, code), reads: true });
/** An ask that only a rule without wildcards answers. */
export const askExact: Make = (reason, code) => ({ ...ask(reason, code), lift: "exact" });
export const askFirm: Make = (reason, code) => ({ ...ask(reason, code), firm: true, lift: "never" });
/** A deny that a rule of the user may lift. */
export const refuse: Make = (reason, code) => ({ ...ask(reason, code), decision: "deny" });
export const deny: Make = (reason, code) => ({ ...refuse(reason, code), firm: true, lift: "never" });
export const askNetwork = (reason: string): Verdict => ({ ...ask(reason, "network"), network: true });
export const refuseNetwork = (reason: string): Verdict => ({ ...refuse(reason, "network"), network: true });

const RANK: Record<Decision, number> = { allow: 0, ask: 1, deny: 2 };

/** The stricter first; among equals the one that fewer things can turn. */
export function compare(a: Verdict, b: Verdict): number {
  return RANK[b.decision] - RANK[a.decision] || Number(b.firm) - Number(a.firm);
}
