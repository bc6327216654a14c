// The facts of approvals: what was asked, what a person answered, what was to be remembered.

import type { contextEvents } from "../../contexts/events.ts";
import * as z from "../../ledger/event-schema.ts";
import type { EventDefs } from "../../ledger/events.ts";
import { knownFact } from "../../ledger/guards.ts";
import { own, ownOr } from "../../ledger/own.ts";
import { sameJson } from "../../ledger/same-json.ts";
import type { loopEvents } from "../../loop/events.ts";
import type { VerdictCode } from "../../loop/seams.ts";
import type { MechanismSlice } from "../../loop/timelines.ts";

export const approvalEvents = {
  "approval.asked": {
    v: 1,
    schema: () =>
      z.object({
        requestId: z.string(),
        callId: z.string(),
        tool: z.string(),
        input: z.unknown(),
        cwd: z.string(),
        /** The tree, and why it was asked. What was recorded without them is asked again. */
        root: z.string().optional(),
        code: z.string().optional(),
        reason: z.string(),
        firm: z.boolean(),
        /** Each of them would have allowed it: what may be kept instead of a yes for this once. */
        rules: z.array(z.string()).optional(),
        /** Stands for what was shown beside the call. */
        about: z.string().optional(),
      }),
  },
  "approval.answered": {
    v: 1,
    schema: () =>
      z.object({
        requestId: z.string(),
        decision: z.enum(["allow", "deny"]),
        reason: z.string().optional(),
        /** The same call again, in this context and directory, is not asked again: where `by` answers. Without it (older versions) it is. */
        remember: z.boolean().optional(),
        by: z.object({ user: z.string(), machine: z.string() }).optional(),
        /** One of the rules that were shown: it holds for all agents of this context, for whoever gave it, where it was given. */
        keeps: z.object({ rule: z.string(), user: z.string(), machine: z.string() }).optional(),
        /** Where the answer came from, for people. */
        from: z.string(),
      }),
  },
} satisfies EventDefs;

export interface ApprovalRequest {
  requestId: string;
  agent: string;
  callId: string;
  tool: string;
  input: unknown;
  cwd: string;
  /** The tree that `cwd` is in, and why it was asked; requests of older versions have neither. */
  root?: string;
  code?: VerdictCode;
  reason: string;
  firm: boolean;
  /** The narrowest first. */
  rules?: string[];
  about?: string;
  askedAt: number;
  /** The project's folder was moved there since: what was shown names a place that is no longer the project's. Nobody can answer it any more. */
  movedTo?: string;
}

/** Who answered, and where. */
export interface Answerer {
  user: string;
  machine: string;
}

/** A rule that somebody kept, and who: a copy of the store on another machine, or in other hands, does not widen what is allowed there. */
interface KeptRule extends Answerer {
  rule: string;
}

/** A request that was allowed for good, and by whom: it holds where they are, as a rule does. */
interface RememberedRequest extends ApprovalRequest {
  by?: Answerer;
}

/** What a person was shown: a yes holds for this, and for nothing else. */
export interface Question {
  tool: string;
  input: unknown;
  cwd: string;
  root: string;
  code: VerdictCode;
  about?: string;
}

/** Contract: a request that does not say all of it is none for any question, and so is one from before the folder was moved. */
export const isSameQuestion = (request: ApprovalRequest, question: Question): boolean =>
  request.movedTo === undefined &&
  request.tool === question.tool &&
  request.cwd === question.cwd &&
  request.root === question.root &&
  request.code === question.code &&
  request.about === question.about &&
  sameJson(request.input, question.input);

export interface ApprovalAnswer {
  decision: "allow" | "deny";
  reason?: string;
  remember?: boolean;
  /** Whoever wants it remembered. */
  by?: Answerer;
  keeps?: KeptRule;
  from: string;
}

export interface ApprovalsState {
  requests: Record<string, ApprovalRequest & { answer?: ApprovalAnswer }>;
  /** Requests that were allowed for good. */
  remembered: RememberedRequest[];
  /** Rules that a person kept for this context. */
  rules: KeptRule[];
}

type Known = typeof approvalEvents &
  Pick<typeof loopEvents, "tool.finished"> &
  Pick<typeof contextEvents, "context.moved">;

export const approvalsSlice: MechanismSlice<ApprovalsState> = {
  version: 4,
  types: ["approval.asked", "approval.answered", "tool.finished", "context.moved"],
  timelines: {
    // The calls that were asked about are gone; what a person allowed for this context stays allowed in it, and in no copy.
    restored: (state) => ({ ...state, requests: {} }),
    copied: () => ({ requests: {}, remembered: [], rules: [] }),
  },
  initial: () => ({ requests: {}, remembered: [], rules: [] }),
  apply(state, event) {
    const { type, data, actor } = knownFact<Known>(event);
    if (type === "approval.asked") {
      const asked = data as Omit<ApprovalRequest, "agent" | "askedAt">; // `code` is one of those there were then
      if (!own(state.requests, asked.requestId)) drop(state, actor, asked.callId); // another directory: the question before it is void
      ownOr(state.requests, asked.requestId, () => ({ ...asked, agent: actor, askedAt: event.at }));
    } else if (type === "approval.answered") {
      const { requestId, ...answer } = data;
      const request = own(state.requests, requestId);
      if (!request || request.answer || request.movedTo !== undefined) return state; // the first answer counts
      request.answer = answer;
      if (answer.decision === "allow" && answer.remember && !request.firm) {
        const { answer: _, ...asked } = request;
        state.remembered.push({ ...asked, ...(answer.by && { by: answer.by }) });
      }
      if (answer.decision === "allow" && answer.keeps && request.rules?.includes(answer.keeps.rule))
        state.rules.push(answer.keeps);
    } else if (type === "tool.finished") {
      drop(state, actor, data.callId); // its call has its result: nobody waits any more
    } else if (type === "context.moved") {
      // A person's word names the old place. Another folder may stand there, or have been adopted here: it is not carried over.
      const { from, to } = data;
      for (const request of Object.values(state.requests)) if (isOf(from, request)) request.movedTo = to;
      state.remembered = state.remembered.filter((request) => !isOf(from, request));
    }
    return state;
  },
};

const isOf = (folder: string, { cwd, root = cwd }: ApprovalRequest): boolean =>
  [cwd, root].some((dir) => dir === folder || dir.startsWith(`${folder}/`));

function drop(state: ApprovalsState, agent: string, callId: string): undefined {
  for (const [id, r] of Object.entries(state.requests))
    if (r.agent === agent && r.callId === callId) delete state.requests[id];
}
