// Gates of a replay: whoever judges by rules and the ledger judges anew; what hooks, servers and people said is as it was recorded.
import { messageOf } from "../ledger/error.ts";
import { knownFact } from "../ledger/guards.ts";
import type { Merged } from "../loop/merge.ts";
import type { Asked, GateCall, Grants, Mechanism, Verdict } from "../loop/seams.ts";
import { createApprovals } from "../mechanisms/approvals/index.ts";
import type { hookEvents } from "../mechanisms/hooks/events.ts";
import { type Judged, judgedOf, nextOf } from "./outcomes.ts";
import { isFact } from "./recording.ts";
import type { Played } from "./seams.ts";

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

interface Said {
  verdict: Verdict;
  by: string;
}

/** The strictest of those that can be computed; of two that ask the firm one. */
async function computedVerdict(mechanisms: readonly Mechanism[], call: GateCall): Promise<Said> {
  let said: Said = { verdict: { decision: "allow" }, by: "loop" };
  const grants: Grants = {};
  for (const { name, seams, outside } of mechanisms) {
    if (!seams?.gate?.judge || outside?.at?.includes("gate")) continue;
    try {
      const answer = await seams.gate.judge(call);
      if ("grants" in answer) Object.assign(grants, answer.grants);
      if (isStricter(answer, said.verdict)) said = { verdict: answer, by: name };
      else if (said.by === "loop") said = { ...said, by: name };
    } catch (error) {
      const verdict: Verdict = { decision: "deny", code: "failed", reason: `a gate failed: ${messageOf(error)}` };
      return { verdict, by: name };
    }
  }
  const { verdict, by } = said;
  return verdict.decision === "deny" || Object.keys(grants).length === 0
    ? said
    : { verdict: { ...verdict, grants }, by };
}

function isStricter(a: Verdict, b: Verdict): boolean {
  if (a.decision === "ask" && b.decision === "ask") return a.firm === true && b.firm !== true;
  return STRICTNESS[a.decision] > STRICTNESS[b.decision];
}

export function createGate(mechanisms: readonly Mechanism[], played: Played): Pick<Merged, "gate" | "ask"> {
  const deaf = createApprovals({});
  const waiting = createApprovals({ wait: true });
  const hasOutside = mechanisms.some(({ outside }) => outside?.at?.includes("gate"));
  /** Calls that somebody outside judged: what they said is said again. */
  const outsiders = new Set<string>();
  return {
    async gate(call) {
      const recorded = judgedOf(played, call.call.id);
      const next = nextOf(played);
      if (recorded.decision === "none" && isFact(next, "tool.finished") && next.data.stopped === "before")
        played.abort();
      const isOther = recorded.decision === "allow" && isRewritten(played, call.call.id);
      const input = isOther ? recorded.input : call.input;
      const { verdict, by } = await computedVerdict(mechanisms, { ...call, input });
      played.says.set(`call ${call.call.id}`, { seam: "gate", mechanism: by });
      const looked = "looked" in recorded && recorded.looked ? { looked: recorded.looked } : {};
      if (hasOutside && isOutsiders(recorded, verdict)) {
        outsiders.add(call.call.id);
        return { verdict: { ...saidOutside(recorded, verdict), ...looked }, input };
      }
      return { verdict: { ...verdict, ...looked }, input };
    },
    async ask(call, asked) {
      const recorded = judgedOf(played, call.call.id);
      const approvals = recorded.decision === "ask" ? waiting : deaf;
      const answer = await approvals.seams?.ask?.(call, asked);
      if (answer) return answer;
      if (recorded.decision === "allow") return { decision: "allow" }; // a hook has said so
      if (recorded.decision === "deny" && (!recorded.unanswered || outsiders.has(call.call.id)))
        return { decision: "deny", code: recorded.unanswered ? "unanswered" : "hook", reason: recorded.reason };
      return unanswered(asked);
    },
  };
}

const unanswered = (asked: Asked) =>
  ({
    decision: "deny",
    code: "unanswered",
    reason: `${asked.reason} (needs approval, and no one is there to ask)`,
  }) as const;

const rewritten = new WeakMap<Played["recording"], Set<string>>();

/** Whether a hook gave that call another input. */
function isRewritten({ recording, agent }: Played, callId: string): boolean {
  let calls = rewritten.get(recording);
  if (!calls) {
    calls = new Set();
    for (const event of recording.events) {
      const { type, actor, data } = knownFact<typeof hookEvents>(event);
      if (type === "hook.ran" && data.rewrote) calls.add(`${actor} ${data.callId}`);
    }
    rewritten.set(recording, calls);
  }
  return calls.has(`${agent} ${callId}`);
}

/** Codes of those who judge by what is outside. */
const OUTSIDERS = new Set(["hook", "tool", "program"]);

/** Somebody outside was stricter than all that can be computed. */
function isOutsiders(recorded: Judged, verdict: Verdict): boolean {
  if (recorded.decision !== "ask" && recorded.decision !== "deny") return false;
  return STRICTNESS[recorded.decision] > STRICTNESS[verdict.decision] && OUTSIDERS.has(recorded.code);
}

function saidOutside(recorded: Judged, verdict: Verdict): Verdict {
  const grants = verdict.decision !== "deny" && verdict.grants ? { grants: verdict.grants } : {};
  if (recorded.decision === "ask") {
    const { reason, firm, rules } = recorded;
    return {
      decision: "ask",
      code: recorded.code === "tool" ? "tool" : "hook",
      reason,
      firm,
      ...(rules && { rules }),
      ...grants,
    };
  }
  if (recorded.decision !== "deny") return verdict;
  const code = recorded.code === "tool" ? "tool" : "hook";
  if (!recorded.unanswered) return { decision: "deny", code, reason: recorded.reason };
  return { decision: "ask", code, reason: recorded.reason, ...grants };
}
