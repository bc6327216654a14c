// What one decision works with: the policy, the world, the limits, and the findings so far.
import { isInside } from "../file-access/paths.ts";
import { askFirm, type Finding, type PolicyVerdict } from "./finding.ts";
import { compileRules, type RuleSet, realOrGiven } from "./rules.ts";
import { readable } from "./shell/field.ts";
import type { Policy, World } from "./types.ts";

/** Beyond these the engine stops looking and asks. */
export const LIMITS = {
  chars: 10_000,
  nesting: 40,
  commands: 200,
  depth: 20,
  paths: 150,
  swept: 1_000,
  steps: 2_000,
  words: 1_500,
  expanded: 200_000,
  alternatives: 64,
};

export interface Evaluation {
  policy: Policy;
  world: World;
  rules: RuleSet;
  /** Real paths of the trees that may be written, the project first. */
  roots: string[];
  readable: string[];
  home: string;
  /** Whether edits inside the project need no question, by the file tools and by commands alike. */
  mayChange: boolean;
  /** Directories of /tmp that are not the context's own: those which hold the project, the home or what was added. */
  notOwn: string[];
  findings: Finding[];
  /** The simple command that is being judged, and how many there were. */
  part: number;
  parts: number;
  spent: { commands: number; steps: number; paths: number; swept: number; words: number; expanded: number };
  reals: Map<string, string>;
  /** A limit was reached: the rest is not looked at, and a person decides. */
  isExhausted: boolean;
}

export function openEvaluation(policy: Policy, world: World): Evaluation {
  const real = (path: string) => realOrGiven(world, path);
  const isBypass = policy.mode === "bypass" || policy.mode === "bypassPermissions";
  const trees = [world.root, world.home, ...world.additionalDirectories, ...world.readable].map(real);
  return {
    policy,
    world,
    rules: compileRules(policy),
    roots: [world.root, ...world.additionalDirectories].map(real),
    readable: world.readable.map(real),
    home: real(world.home),
    mayChange: isBypass || policy.mode === "acceptEdits" || (policy.mode === "auto" && world.sandboxed),
    notOwn: trees.filter((tree) => isInside("/tmp", tree)).map((tree) => tree.split("/").slice(0, 3).join("/")),
    findings: [],
    part: 0,
    parts: 0,
    spent: { commands: 0, steps: 0, paths: 0, swept: 0, words: 0, expanded: 0 },
    reals: new Map(),
    isExhausted: false,
  };
}

export function addFinding(evaluation: Evaluation, text: string, verdict: PolicyVerdict): undefined {
  const shown = readable(text);
  const reason = readable(verdict.reason);
  const short = shown.length > 200 ? `${shown.slice(0, 200)}…` : shown;
  evaluation.findings.push({ ...verdict, reason, text: short, part: evaluation.part });
}

/** Whether there is still room; records the firm ask once there is not. */
export function spend(evaluation: Evaluation, what: keyof Evaluation["spent"], amount = 1): boolean {
  if (evaluation.isExhausted) return false;
  evaluation.spent[what] += amount;
  const over = evaluation.spent[what] - LIMITS[what];
  if (over <= 0) return true;
  evaluation.isExhausted = true;
  addFinding(evaluation, what, askFirm(`too many ${what} to judge: split the command`, "unreadable"));
  return false;
}
