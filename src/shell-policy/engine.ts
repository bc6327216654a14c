// The decision: what a call may do, by the parts it consists of, the user's rules, and the mode.
import { addFinding, type Evaluation, openEvaluation } from "./evaluation.ts";
import { allow, askFirm, type Finding, stricterFirst } from "./finding.ts";
import { granted, type Turned } from "./grants.ts";
import { judgeTool } from "./tool-calls.ts";
import type { JudgedPart, Judgement, Policy, PolicyCode, PolicyDecision, ToolCall, World } from "./types.ts";

/** Never throws: what goes wrong in here is asked. */
export async function decideCall(policy: Policy, call: ToolCall, world: World): Promise<Judgement> {
  const evaluation = openEvaluation(policy, world);
  try {
    if (call.tool === "bash") {
      const { judgeCommand } = await import("./shell/judge.ts");
      await judgeCommand(evaluation, call.input);
    } else judgeTool(evaluation, call);
  } catch (error) {
    addFinding(
      evaluation,
      call.tool,
      askFirm(
        `the call could not be judged (${error instanceof Error ? error.message : String(error)}): a person decides`,
        "unreadable",
      ),
    );
  }
  for (const rule of evaluation.rules.broken)
    addFinding(evaluation, rule, askFirm(`the rule ${rule} cannot be read: correct it in the settings`, "rule"));
  if (evaluation.findings.length === 0) addFinding(evaluation, call.tool, allow());
  return conclude(evaluation, call);
}

function conclude(evaluation: Evaluation, call: ToolCall): Judgement {
  const turned = distinct(evaluation.findings).map((finding) => ({
    finding,
    decision: turn(evaluation, call, finding),
  }));
  const ordered = [...turned].sort((a, b) =>
    stricterFirst({ ...a.finding, decision: a.decision }, { ...b.finding, decision: b.decision }),
  );
  const { finding, decision } = ordered[0]!;
  const rule = decision === "allow" ? ordered.find((one) => one.finding.rule)?.finding.rule : finding.rule;
  return {
    decision,
    ...(decision === "allow" ? {} : { code: codeFor(finding, decision) }),
    reason: decision === "allow" ? "allowed" : reasonFor(evaluation, finding, decision),
    ...(rule === undefined ? {} : { rule }),
    firm: turned.some((t) => t.decision === decision && t.finding.firm && decision !== "allow"),
    ...granted(turned, evaluation.world),
    parts: oneEach(turned),
  };
}

/** What the mode makes of a part. */
function turn(evaluation: Evaluation, call: ToolCall, f: Finding): PolicyDecision {
  const { mode } = evaluation.policy;
  if (f.decision === "deny") return "deny";
  if (mode === "plan") {
    if (f.decision === "allow") return f.changes ? "deny" : "allow";
    return f.reads ? "ask" : "deny";
  }
  if (f.decision === "allow") return "allow";
  if (mode === "dontAsk") return "deny";
  if (f.firm) return "ask";
  if (mode === "bypass" || mode === "bypassPermissions") return "allow";
  if (mode === "auto" && evaluation.world.sandboxed && call.tool === "bash" && !f.grave) return "allow";
  return "ask";
}

function reasonFor(evaluation: Evaluation, f: Finding, decision: PolicyDecision): string {
  const { mode } = evaluation.policy;
  const text = f.text.replace(/\s+/g, " ");
  if (mode === "plan" && decision === "deny" && f.decision !== "deny")
    return `plan mode: only what reads is allowed: ${text}`;
  const asked = mode === "dontAsk" && f.decision === "ask" ? "; it would need a person, and this mode asks nobody" : "";
  return `${text}: ${f.reason}${asked}`;
}

/** What the mode made stricter, the mode answers for. */
const codeFor = (f: Finding, decision: PolicyDecision): PolicyCode =>
  f.decision === decision ? (f.code ?? "command") : "mode";

const asPart = (f: Finding, decision: PolicyDecision): JudgedPart => ({
  text: f.text,
  decision,
  ...(decision === "allow" ? {} : { code: codeFor(f, decision) }),
  reason: f.reason,
  ...(f.rule === undefined ? {} : { rule: f.rule }),
});

/** Each text once, with the strictest that was said of it. */
function oneEach(turned: Turned[]): JudgedPart[] {
  const worst = new Map<string, Turned>();
  const strictness = ({ finding, decision }: Turned) => ({ ...finding, decision });
  for (const one of turned) {
    const { text } = one.finding;
    const known = worst.get(text);
    if (!known || stricterFirst(strictness(one), strictness(known)) < 0) worst.set(text, one);
  }
  return [...worst.values()].map(({ finding, decision }) => asPart(finding, decision));
}

/** What was found twice counts once. */
function distinct(findings: Finding[]): Finding[] {
  const seen = new Map<string, Finding>();
  for (const f of findings) {
    const { part, text, decision, reason, firm, changes = "", rule = "", network = "", git = "", grave = "" } = f;
    const key = [part, text, decision, reason, firm, changes, rule, network, git, grave].join("\n");
    if (!seen.has(key)) seen.set(key, f);
  }
  return [...seen.values()];
}
