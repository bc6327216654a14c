// What came from outside when it was recorded, found from where the replay stands: the reply to a call, the result of a tool, what was said of a call.
import { HoldfastError } from "../ledger/error.ts";
import type { Fact } from "../ledger/events.ts";
import { knownFact } from "../ledger/guards.ts";
import type { StoredEvent } from "../ledger/store.ts";
import type { loopEvents } from "../loop/events.ts";
import type { EffectOutcome, Grants, Looked, ToolOutput } from "../loop/seams.ts";
import type { approvalEvents } from "../mechanisms/approvals/events.ts";
import type { compactionEvents } from "../mechanisms/compaction/events.ts";
import type { goalEvents } from "../mechanisms/goal/events.ts";
import { judgedText } from "../mechanisms/goal/port.ts";
import type { recoveryEvents } from "../mechanisms/recovery/events.ts";
import { ModelError, type ModelErrorKind, noUsage, type Reply } from "../models/model.ts";
import { type FactOf, isFact, type Recording } from "./recording.ts";

/** Where an agent stands in the recording. */
export interface Standing {
  readonly agent: string;
  readonly recording: Recording;
  /** The first event that has not been folded. */
  at(): number;
}

type KnownEvents = typeof loopEvents &
  typeof recoveryEvents &
  typeof compactionEvents &
  typeof goalEvents &
  typeof approvalEvents;
type Known = Fact<KnownEvents>;
type Retried = Extract<Known, { type: "model.retried" }>;
const fact = (event: StoredEvent): Known => knownFact<KnownEvents>(event);

const ERRORS: readonly ModelErrorKind[] = [
  ...(["rate_limit", "overloaded", "server", "network", "stalled", "cut", "overflow", "auth"] as const),
  ...(["invalid", "refused", "length", "aborted"] as const),
];
const errorKind = (name: string | undefined, otherwise: ModelErrorKind): ModelErrorKind =>
  ERRORS.find((one) => one === name) ?? otherwise;

/** The agent's decided events from here on. */
export const ahead = (standing: Standing): Generator<StoredEvent> =>
  standing.recording.following(standing.agent, standing.at());

export function nextOf(standing: Standing): StoredEvent | undefined {
  const at = standing.recording.next(standing.agent, standing.at());
  return at === undefined ? undefined : standing.recording.events[at];
}

export const isInterrupt = (event: StoredEvent | undefined): boolean =>
  (isFact(event, "turn.ended") && event.data.reason === "interrupted") ||
  (isFact(event, "tool.finished") && event.data.stopped !== undefined && event.data.resumed === undefined);

export type ModelAnswer =
  | { kind: "reply"; reply: Reply }
  | { kind: "error"; error: ModelError }
  /** Somebody stopped it. */
  | { kind: "aborted"; error: ModelError }
  /** Nothing answers here: the process was gone, or the recording ends. */
  | { kind: "none" };

/** What came of the model call that is made here. */
export function answerTo(standing: Standing, model: string): ModelAnswer {
  let retried: Retried | undefined;
  for (let at = standing.at() - 1; at >= 0 && retried === undefined; at--) {
    const event = standing.recording.events[at];
    if (!event || event.actor !== standing.agent || !standing.recording.isDecided(at)) continue;
    const before = fact(event);
    if (before.type === "model.retried") retried = before;
    if (!before.type.startsWith("budget.") && !before.type.startsWith("context.")) break;
  }
  for (const event of ahead(standing)) {
    const next = fact(event);
    switch (next.type) {
      case "reply.received":
        return replied(next, model);
      case "model.retried": {
        const { kind, status, message } = next.data;
        return {
          kind: "error",
          error: new ModelError(errorKind(kind, "server"), message, status === undefined ? {} : { status }),
        };
      }
      case "model.switched":
        return {
          kind: "error",
          error: new ModelError(errorKind(retried?.data.kind, "overloaded"), next.data.reason),
        };
      case "model.escalated":
        return { kind: "reply", reply: { model, parts: [], finish: "length", usage: noUsage() } };
      case "reply.aside":
        return { kind: "reply", reply: aside(standing, next) };
      case "goal.judged":
        return { kind: "error", error: failure(retried, next.data.why) }; // no reply stands before it
      case "turn.ended":
        return ended(next, { model, retried });
      default:
        // What a budget or a smaller view records stands between the call and what came of it.
        if (!next.type.startsWith("budget.") && !next.type.startsWith("context.compacted")) return { kind: "none" };
    }
  }
  return { kind: "none" };
}

function replied({ data }: FactOf<"reply.received">, model: string): ModelAnswer {
  const { askedAt: _, sentAs: __, shown: ___, interrupted, ...reply } = data;
  if (!interrupted) return { kind: "reply", reply };
  return { kind: "aborted", error: new ModelError("aborted", `${model}: interrupted`, { partial: reply.parts }) };
}

function ended(
  { data }: FactOf<"turn.ended">,
  { model, retried }: { model: string; retried: Retried | undefined },
): ModelAnswer {
  if (data.reason === "interrupted")
    return { kind: "aborted", error: new ModelError("aborted", `${model}: interrupted`) };
  return { kind: "error", error: failure(retried, data.error ?? "") };
}

/** Given up after several tries: the last one failed like the one before it. Otherwise what the model said stands in what came of it. */
function failure(retried: Retried | undefined, said: string): ModelError {
  const { kind, message } = retried?.data ?? { kind: "invalid", message: said };
  return new ModelError(errorKind(kind, "invalid"), message);
}

/** The words that were recorded of it. */
function aside(standing: Standing, { data }: FactOf<"reply.aside">): Reply {
  for (const event of ahead(standing)) {
    const words = wordsIn(fact(event));
    if (words === undefined) continue;
    return {
      model: data.model,
      usage: data.usage,
      finish: "stop",
      parts: words === "" ? [] : [{ type: "text", text: words }],
    };
  }
  return { model: data.model, usage: data.usage, finish: "stop", parts: [] };
}

/** What a model said beside the conversation, where that is what this event is made of. */
function wordsIn({ type, data }: Known): string | undefined {
  if (type === "context.summarised") return data.text;
  if (type === "goal.judged") return data.verdict === "failed" ? "" : judgedText(data);
  return undefined;
}

/** The next that was recorded of that call. */
export function nextOfCall(standing: Standing, callId: string): StoredEvent | undefined {
  for (const event of ahead(standing)) {
    const one = fact(event);
    if (one.type === "approval.asked" && one.data.callId === callId) return event;
    if ((one.type === "tool.started" || one.type === "tool.finished") && one.data.callId === callId) return event;
  }
  return undefined;
}

export function finishedOf(standing: Standing, callId: string): FactOf<"tool.finished"> | undefined {
  for (const event of ahead(standing)) if (isFact(event, "tool.finished") && event.data.callId === callId) return event;
  return undefined;
}

/** With the facts that were recorded beside it. */
export function recordedOutput(standing: Standing, finished: FactOf<"tool.finished">): ToolOutput {
  const { content, isError, display, ran, lines, stopped } = finished.data;
  const { recording } = standing;
  return {
    content,
    ...(isError && { isError }),
    ...(display !== undefined && { display }),
    ...(ran && { ran }),
    ...(lines !== undefined && { lines }),
    ...(stopped === "before" && { notRun: true }),
    events: recording.bornAt(recording.placeOf(finished.seq)).map(({ type, data }) => ({ type, data })),
  };
}

/** What a process found of an effect that an earlier one began. */
export function foundOf(standing: Standing, callId: string): EffectOutcome {
  const next = nextOfCall(standing, callId);
  if (!isFact(next, "tool.finished")) return { kind: "undone" };
  const output = recordedOutput(standing, next);
  switch (next.data.resumed) {
    case "finished":
      return { kind: "finished", output };
    case "adopted":
      return { kind: "adopted", follow: async () => output };
    case "unknown":
      return { kind: "unknown" };
    case undefined:
      return { kind: "undone" };
  }
}

/** What was put down before the effect began; throws what became of it where that failed. */
export function intentOf(standing: Standing, callId: string): unknown {
  const next = nextOfCall(standing, callId);
  if (isFact(next, "tool.started")) return next.data.intent;
  const said = isFact(next, "tool.finished") ? next.data.content.map((c) => (c.type === "text" ? c.text : "")) : [];
  throw new HoldfastError("refused", said.join("\n"));
}

export type Judged =
  | { decision: "allow"; grants: Grants; input: unknown; looked?: Looked }
  | { decision: "ask"; code: string; reason: string; firm: boolean; rules?: string[]; looked?: Looked }
  | { decision: "deny"; code: string; reason: string; unanswered: boolean; looked?: Looked }
  /** It was not judged: stopped before that, or no call at all. */
  | { decision: "none" };

/** What the gates, and whoever was asked, said of that call. */
export function judgedOf(standing: Standing, callId: string): Judged {
  const next = nextOfCall(standing, callId);
  if (!next) return { decision: "none" };
  const one = fact(next);
  if (one.type === "tool.started") {
    const { grants = {}, input, looked } = one.data;
    return { decision: "allow", grants, input, ...(looked && { looked }) };
  }
  if (one.type === "approval.asked") {
    const { reason, firm, rules, code = "command" } = one.data;
    const looked = lookedOf(standing, callId);
    return { decision: "ask", code, reason, firm, ...(rules && { rules }), ...(looked && { looked }) };
  }
  if (one.type !== "tool.finished" || one.data.denied === undefined) return { decision: "none" };
  const { denied: reason, refusal } = one.data;
  const { code = "program", unanswered = false, looked } = refusal ?? {};
  return { decision: "deny", code, reason, unanswered, ...(looked && { looked }) };
}

/** What judging saw stands with what came of the question. */
export function lookedOf(standing: Standing, callId: string): Looked | undefined {
  for (const event of ahead(standing)) {
    if (isFact(event, "tool.started") && event.data.callId === callId) return event.data.looked;
    if (isFact(event, "tool.finished") && event.data.callId === callId) return event.data.refusal?.looked;
  }
  return undefined;
}
