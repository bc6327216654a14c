// Owns the decision: what a call may do, by the parts it consists of, the user's rules, and the mode.
import type { VerdictCode } from "../loop/seams.ts";
import { type Court, openCourt, record } from "./evaluation.ts";
import { allow, askFirm, compare, type Finding } from "./finding.ts";
import { granted, type Turned } from "./grants.ts";
import { judgeTool } from "./tool-calls.ts";
import type { Decision, Judgement, Part, Policy, ToolCall, World } from "./types.ts";

/** Never throws: what goes wrong in here is asked. */
export async function decide(policy: Policy, call: ToolCall, world: World): Promise<Judgement> {
  const court = openCourt(policy, world);
  try {
    if (call.tool === "bash") {
      const { judgeCommand } = await import("./shell/judge.ts");
      await judgeCommand(court, call.input);
    } else judgeTool(court, call);
  } catch (error) {
    record(
      court,
      call.tool,
      askFirm(`the call could not be judged (${(error as Error).message}): a person decides`, "unreadable"),
    );
  }
  for (const rule of court.rules.broken)
    record(court, rule, askFirm(`the rule ${rule} cannot be read: correct it in the settings`, "rule"));
  if (court.findings.length === 0) record(court, call.tool, allow());
  return conclude(court, call);
}

function conclude(court: Court, call: ToolCall): Judgement {
  const turned = distinct(court.findings).map((finding) => ({ finding, decision: turn(court, call, finding) }));
  const ordered = [...turned].sort((a, b) =>
    compare({ ...a.finding, decision: a.decision }, { ...b.finding, decision: b.decision }),
  );
  const { finding, decision } = ordered[0]!;
  const rule = decision === "allow" ? ordered.find((one) => one.finding.rule)?.finding.rule : finding.rule;
  return {
    decision,
    ...(decision === "allow" ? {} : { code: codeFor(finding, decision) }),
    reason: decision === "allow" ? "allowed" : reasonFor(court, finding, decision),
    ...(rule === undefined ? {} : { rule }),
    firm: turned.some((t) => t.decision === decision && t.finding.firm && decision !== "allow"),
    ...granted(turned, court.world),
    parts: oneEach(turned),
  };
}

/** What the mode makes of a part. */
function turn(court: Court, call: ToolCall, f: Finding): Decision {
  const { mode } = court.policy;
  if (f.decision === "deny") return "deny";
  if (mode === "plan") {
    if (f.decision === "allow") return f.changes ? "deny" : "allow";
    return f.reads ? "ask" : "deny";
  }
  if (f.decision === "allow") return "allow";
  if (mode === "dontAsk") return "deny";
  if (f.firm) return "ask";
  if (mode === "bypass" || mode === "bypassPermissions") return "allow";
  if (mode === "auto" && court.world.sandboxed && call.tool === "bash" && !f.grave) return "allow";
  return "ask";
}

function reasonFor(court: Court, f: Finding, decision: Decision): string {
  const { mode } = court.policy;
  const text = f.text.replace(/\s+/g, " ");
  if (mode === "plan" && decision === "deny" && f.decision !== "deny")
    return `plan mode: only what reads is allowed: ${text}`;
  const asked = mode === "dontAsk" && f.decision === "ask" ? "; it would need a person, and this mode asks nobody" : "";
  return `${text}: ${f.reason}${asked}`;
}

/** What the mode made stricter, the mode answers for. */
const codeFor = (f: Finding, decision: Decision): VerdictCode =>
  f.decision === decision ? (f.code ?? "command") : "mode";

const asPart = (f: Finding, decision: Decision): Part => ({
  text: f.text,
  decision,
  ...(decision === "allow" ? {} : { code: codeFor(f, decision) }),
  reason: f.reason,
  ...(f.rule === undefined ? {} : { rule: f.rule }),
});

/** Each text once, with the strictest that was said of it. */
function oneEach(turned: Turned[]): Part[] {
  const worst = new Map<string, Turned>();
  const strictness = ({ finding, decision }: Turned) => ({ ...finding, decision });
  for (const one of turned) {
    const { text } = one.finding;
    const known = worst.get(text);
    if (!known || compare(strictness(one), strictness(known)) < 0) worst.set(text, one);
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
