// What judging one part of a call yields, and how findings are made.
import type { PolicyCode, PolicyDecision } from "./types.ts";

/** Which allow rules may turn the finding: any that matches, one that names the subcommand too, only one without wildcards, none. */
type Lift = "any" | "named" | "exact" | "never";

export interface Finding {
  text: string;
  decision: PolicyDecision;
  /** Why, for whoever decides further; an allow has none. The reason is for people alone. */
  code?: PolicyCode;
  reason: string;
  /** No mode, rule or hook turns it into an allow. */
  firm: boolean;
  lift: Lift;
  /** Allowed, but it changes something: plan mode refuses it. */
  changes?: boolean;
  /** Asked, but it only reads. */
  reads?: boolean;
  network?: boolean;
  /** Asked in mode auto too: what it takes away is kept nowhere. */
  grave?: boolean;
  /** A command of git's that changes the repository. */
  git?: boolean;
  rule?: string;
  /** Read outside the project: its real path. */
  outside?: string;
  /** Which simple command it is about. */
  part: number;
}

export type PolicyVerdict = Omit<Finding, "text" | "part">;

export const allow = (reason = ""): PolicyVerdict => ({ decision: "allow", reason, firm: false, lift: "any" });
export const allowChange = (reason = ""): PolicyVerdict => ({ ...allow(reason), changes: true });
type Make = (reason: string, code?: PolicyCode) => PolicyVerdict;
/** An ask that rules and modes may answer. */
export const ask: Make = (reason, code = "command") => ({ decision: "ask", code, reason, firm: false, lift: "any" });
export const askRead: Make = (reason, code) => ({ ...ask(reason, code), reads: true });
/** An ask that only a rule without wildcards answers. */
export const askExact: Make = (reason, code) => ({ ...ask(reason, code), lift: "exact" });
/** It changes files of the project: asked as the file tools are. */
export const askEdit = (): PolicyVerdict => ask("it changes files of the project", "edit");
/** An ask that mode auto does not answer, and that a rule answers which names the subcommand. */
export const askGrave: Make = (reason, code) => ({ ...ask(reason, code), lift: "named", grave: true });
export const askFirm: Make = (reason, code) => ({ ...ask(reason, code), firm: true, lift: "never" });
/** A deny that a rule of the user may lift. */
export const denyUnlessRule: Make = (reason, code) => ({ ...ask(reason, code), decision: "deny" });
export const deny: Make = (reason, code) => ({ ...denyUnlessRule(reason, code), firm: true, lift: "never" });
export const askNetwork = (reason: string): PolicyVerdict => ({ ...ask(reason, "network"), network: true });
export const denyNetworkUnlessRule = (reason: string): PolicyVerdict => ({
  ...denyUnlessRule(reason, "network"),
  network: true,
});

const RANK: Record<PolicyDecision, number> = { allow: 0, ask: 1, deny: 2 };

/** The stricter first; among equals the one that fewer things can turn: an edit is what most modes allow. */
export function stricterFirst(a: PolicyVerdict, b: PolicyVerdict): number {
  return (
    RANK[b.decision] - RANK[a.decision] ||
    Number(b.firm) - Number(a.firm) ||
    Number(b.grave ?? false) - Number(a.grave ?? false) ||
    Number(a.code === "edit") - Number(b.code === "edit")
  );
}

/** The strictest of them; among equals the first. */
export const strictest = (first: PolicyVerdict, ...more: PolicyVerdict[]): PolicyVerdict =>
  more.reduce((worst, one) => (stricterFirst(one, worst) < 0 ? one : worst), first);
