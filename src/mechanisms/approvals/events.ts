// Owns the facts of approvals: what was asked, what a person answered, what was to be remembered.
import * as z from "zod";
import type { EventDefs } from "../../ledger/events.ts";
import type { MechanismSlice } from "../../loop/timelines.ts";

export const approvalEvents: EventDefs = {
  "approval.asked": {
    v: 1,
    schema: () =>
      z.object({
        requestId: z.string(),
        callId: z.string(),
        tool: z.string(),
        input: z.unknown(),
        cwd: z.string(),
        reason: z.string(),
        firm: z.boolean(),
      }),
  },
  "approval.answered": {
    v: 1,
    schema: () =>
      z.object({
        requestId: z.string(),
        decision: z.enum(["allow", "deny"]),
        reason: z.string().optional(),
        /** The same call again, in this context and directory, is not asked again. */
        remember: z.boolean().optional(),
        /** Where the answer came from, for people. */
        from: z.string(),
      }),
  },
};

export interface ApprovalRequest {
  requestId: string;
  agent: string;
  callId: string;
  tool: string;
  input: unknown;
  cwd: string;
  reason: string;
  firm: boolean;
  askedAt: number;
}

export interface ApprovalAnswer {
  decision: "allow" | "deny";
  reason?: string;
  remember?: boolean;
  from: string;
}

export interface ApprovalsState {
  requests: Record<string, ApprovalRequest & { answer?: ApprovalAnswer }>;
  /** Calls that were allowed for good: tool, directory and input, exactly. */
  remembered: string[];
}

export const exactly = (tool: string, cwd: string, input: unknown): string => JSON.stringify([tool, cwd, input]);

export const approvalsSlice: MechanismSlice<ApprovalsState> = {
  version: 1,
  types: ["approval.asked", "approval.answered", "tool.finished"],
  timelines: {
    // The calls that were asked about are gone; what a person allowed for this context stays allowed in it, and in no copy.
    restored: (state) => ({ ...state, requests: {} }),
    copied: () => ({ requests: {}, remembered: [] }),
  },
  initial: () => ({ requests: {}, remembered: [] }),
  apply(state, event) {
    if (event.type === "approval.asked") {
      const asked = event.data as Omit<ApprovalRequest, "agent" | "askedAt">;
      state.requests[asked.requestId] ??= { ...asked, agent: event.actor, askedAt: event.at };
    } else if (event.type === "approval.answered") {
      const { requestId, ...answer } = event.data as ApprovalAnswer & { requestId: string };
      const request = state.requests[requestId];
      if (!request || request.answer) return state; // the first answer counts
      request.answer = answer;
      if (answer.decision === "allow" && answer.remember && !request.firm) {
        state.remembered.push(exactly(request.tool, request.cwd, request.input));
      }
    } else if (event.type === "tool.finished") {
      // Its call has its result: nobody waits for an answer any more.
      const { callId } = event.data as { callId: string };
      for (const [id, r] of Object.entries(state.requests)) {
        if (r.agent === event.actor && r.callId === callId) delete state.requests[id];
      }
    }
    return state;
  },
};
