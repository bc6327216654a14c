// Owns what judging one part of a call yields, and how findings are made.
import type { Decision } from "./words.ts";

/** Which allow rules may turn the finding: any that matches, only one without wildcards, none. */
type Lift = "any" | "exact" | "never";

export interface Finding {
  text: string;
  decision: Decision;
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
/** An ask that rules and modes may answer. */
export const ask = (reason: string): Verdict => ({ decision: "ask", reason, firm: false, lift: "any" });
export const askRead = (reason: string): Verdict => ({ ...ask(reason), reads: true });
/** An ask that only a rule without wildcards answers. */
export const askExact = (reason: string): Verdict => ({ ...ask(reason), lift: "exact" });
export const askFirm = (reason: string): Verdict => ({ ...ask(reason), firm: true, lift: "never" });
/** A deny that a rule of the user may lift. */
export const refuse = (reason: string): Verdict => ({ decision: "deny", reason, firm: false, lift: "any" });
export const deny = (reason: string): Verdict => ({ decision: "deny", reason, firm: true, lift: "never" });
export const askNetwork = (reason: string): Verdict => ({ ...ask(reason), network: true });
export const refuseNetwork = (reason: string): Verdict => ({ ...refuse(reason), network: true });

const RANK: Record<Decision, number> = { allow: 0, ask: 1, deny: 2 };

/** The stricter first; among equals the one that fewer things can turn. */
export function compare(a: Verdict, b: Verdict): number {
  return RANK[b.decision] - RANK[a.decision] || Number(b.firm) - Number(a.firm);
}
