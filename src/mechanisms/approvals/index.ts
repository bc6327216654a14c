// Asking a person: a durable request that outlives the process, answered here or from another terminal.

import { realpathSync } from "node:fs";
import { userInfo } from "node:os";
import { toClaude } from "../../claude-code/tool-names.ts";
import { crashPoint } from "../../ledger/crash-point.ts";
import { isHoldfastError } from "../../ledger/error.ts";
import { knownFact } from "../../ledger/guards.ts";
import { thisHolder } from "../../ledger/holder.ts";
import { newId } from "../../ledger/id.ts";
import type { EventInput } from "../../ledger/store.ts";
import { LEAD } from "../../loop/agent.ts";
import type { Carrying } from "../../loop/carry.ts";
import {
  type Answer,
  type Asked,
  defineMechanism,
  type GateCall,
  type Mechanism,
  type Turn,
} from "../../loop/seams.ts";
import { cutText } from "../../text/cut.ts";
import { fittingLines } from "../../text/fitting.ts";
import { visible } from "../../text/visible.ts";
import { fireHook } from "../hooks/port.ts";
import {
  type Answerer,
  type ApprovalAnswer,
  type ApprovalRequest,
  type ApprovalsState,
  approvalEvents,
  approvalsSlice,
  isSameQuestion,
  type Question,
} from "./events.ts";

export interface ApprovalsOptions {
  /** Wait until somebody answers; default: leave it, and the call is refused. */
  wait?: boolean;
  /** Asks whoever sits here. Contract: ends with the signal; undefined leaves it to others. */
  onAsk?: (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer | undefined>;
}

export function createApprovals(opts: ApprovalsOptions = {}): Mechanism {
  return defineMechanism({
    name: "approvals",
    carry: carryApprovals,
    outside: { facts: ["approval.answered"] },
    decides: ["approval.asked"],
    events: approvalEvents,
    fold: approvalsSlice,
    seams: { ask: (call, asked) => ask(call, asked, opts) },
  });
}

/** Of the window. */
const SHARE = 0.02;
const INPUT_CHARS = 200;

/** What waits for a person's word: the lead knows of everyone's, the others of their own. */
function carryApprovals(turn: Pick<Turn, "agent" | "slice">, { room }: Pick<Carrying, "room">): string {
  const open = Object.values(stateOf(turn).requests).filter(
    ({ agent, answer, movedTo }) =>
      answer === undefined && movedTo === undefined && (turn.agent === LEAD || agent === turn.agent),
  );
  if (open.length === 0) return "";
  const lines = open.map(
    ({ requestId, agent, callId, tool, input }) =>
      `- ${requestId}: ${agent}, ${callId} ${tool} ${visible(cutText(JSON.stringify(input ?? {}), INPUT_CHARS))}`,
  );
  const rest = (count: number) => `- and ${count} more`;
  return ["Calls that wait for a person's approval:", ...fittingLines(lines, room(SHARE), rest)].join("\n");
}

/** The same question to a person, for what is no call of a model. Contract: undefined when nobody can be asked. */
export const askingPerson =
  (opts: ApprovalsOptions) =>
  (call: GateCall, asked: Asked): Promise<Answer | undefined> =>
    ask(call, asked, opts);

/** Requests that wait for an answer, and those with `movedTo`, which can have none any more. */
export const listedRequests = (state: ApprovalsState): ApprovalRequest[] =>
  Object.values(state.requests).filter((r) => !r.answer || r.movedTo !== undefined);

/** What was kept here, by whoever runs this. */
export function keptRules(turn: Pick<Turn, "slice">): string[] {
  return stateOf(turn)
    .rules.filter(isOwn)
    .map((one) => one.rule);
}

/** Whether whoever runs this said it, on this machine. */
function isOwn(by: Answerer | undefined): boolean {
  const { user, machine } = whoAnswers();
  return by?.user === user && by.machine === machine;
}

/** Whose answer it is, and on which machine. */
export const whoAnswers = (): Answerer => ({
  user: String(process.getuid?.() ?? userInfo().username),
  machine: thisHolder(false).machine.replace(/#.*/s, ""),
});

const stateOf = (turn: Pick<Turn, "slice">): ApprovalsState => turn.slice<ApprovalsState>("approvals");

async function ask(call: GateCall, asked: Asked, opts: ApprovalsOptions): Promise<Answer | undefined> {
  const { turn, tool, input } = call;
  for (;;) {
    const { requests, remembered } = stateOf(turn);
    // The folders themselves, not what leads to them: a link may be put in their place while somebody thinks.
    const { code, about } = asked;
    const question: Question = {
      tool: tool.name,
      input,
      ...placeOf(turn),
      code,
      ...(about !== undefined && { about }),
    };
    const before = asked.firm ? [] : remembered.filter((r) => isSameQuestion(r, question));
    if (before.some(({ by }) => isOwn(by))) return { decision: "allow" };
    const why = before.length > 0 ? `${asked.reason}; ${ELSEWHERE}` : asked.reason;
    // A hook may rewrite the input, a call before it may change the directory: an answer holds for what was shown.
    const known = Object.values(requests).find(
      (r) => r.callId === call.call.id && r.agent === turn.agent && isSameQuestion(r, question),
    );
    if (known?.answer) return toAnswer(known.answer);
    if (!opts.wait && !opts.onAsk) {
      if (before.length > 0) turn.emit({ type: "status", text: ELSEWHERE });
      return undefined;
    }
    const request = known ?? (await record(call, question, { ...asked, reason: why }));
    crashPoint("approval.asked");
    const text = `waiting for approval; see it with: holdfast approve show ${request.requestId}`;
    turn.emit({ type: "status", text, recorded: true });
    const message = `Holdfast needs your permission to use ${toClaude(tool.name, input).name}`;
    await fireHook(turn, "Notification", { message, notification_type: "permission_prompt" });
    const answer = toAnswer(await answered(turn, request, opts));
    const now = placeOf(turn);
    if (answer.decision === "deny" || (now.cwd === question.cwd && now.root === question.root)) return answer;
  }
}

const ELSEWHERE =
  "this very call was allowed for good before, by another user or on another machine (or by an older Holdfast): that does not count here";

const placeOf = ({ cwd, root }: Turn): { cwd: string; root: string } => ({ cwd: realPath(cwd), root: realPath(root) });

function realPath(dir: string): string {
  try {
    return realpathSync(dir);
  } catch {
    return dir; // it is gone: whatever runs there fails by itself
  }
}

type AskedFact = Pick<typeof approvalEvents, "approval.asked">;

async function record({ turn, call }: GateCall, question: Question, asked: Asked): Promise<ApprovalRequest> {
  const { reason, firm = false, rules } = asked;
  const data = { requestId: newId("apr"), callId: call.id, ...question, reason, firm, ...(rules && { rules }) };
  const [recorded] = await turn.append([{ type: "approval.asked", data }]);
  const { requestId } = recorded ? knownFact<AskedFact>(recorded).data : data; // the id that the ledger has
  return stateOf(turn).requests[requestId]!;
}

async function answered(turn: Turn, { requestId }: ApprovalRequest, opts: ApprovalsOptions): Promise<ApprovalAnswer> {
  const stop = new AbortController();
  const signal = AbortSignal.any([turn.signal, stop.signal]);
  const current = () => stateOf(turn).requests[requestId];
  try {
    const elsewhere = turn.until(() => current()?.answer !== undefined, signal);
    const here = opts.onAsk?.(current()!, signal).then(async (answer) => {
      if (!answer) return opts.wait ? elsewhere : undefined;
      // Somebody elsewhere was first, and said something else: that counts.
      await turn.append([answerEvent(requestId, answer)]).catch((error: unknown) => {
        if (!isHoldfastError(error, "id_reused")) throw error;
        return elsewhere;
      });
    });
    await (here ? Promise.race([here, elsewhere]) : elsewhere);
    return current()?.answer ?? { decision: "deny", reason: "nobody answered", from: "holdfast" };
  } finally {
    stop.abort();
  }
}

/** The id makes a second answer to the same request no event at all. */
export const answerEvent = (requestId: string, answer: ApprovalAnswer): Omit<EventInput, "actor"> & { id: string } => ({
  id: `answer-${requestId}`,
  type: "approval.answered",
  data: { requestId, ...answer, ...(answer.remember && { by: whoAnswers() }) },
});

const toAnswer = (answer: ApprovalAnswer): Answer =>
  answer.decision === "allow"
    ? { decision: "allow" }
    : { decision: "deny", code: "person", reason: answer.reason ?? "the user said no" };
