// The facts of a team, in the ledger of its context: who is in it, what was said, what was asked and answered.
import * as z from "../../ledger/event-schema.ts";
import type { EventDefs } from "../../ledger/events.ts";

const event = <S extends z.FactShape>(shape: () => S) => ({ v: 1, schema: () => z.object(shape()) });

export const teamEvents = {
  "team.joined": event(() => ({
    name: z.string(),
    role: z.string(),
    requirePlan: z.boolean(),
    /** Its definition, where it has one. */
    type: z.string().optional(),
  })),
  /** The sender is the actor: stamped by the runtime, not said by anyone. */
  "message.sent": event(() => ({ messageId: z.string(), to: z.string(), content: z.string() })),
  /** In the same append as the notes that show them. */
  "inbox.delivered": event(() => ({ ids: z.array(z.string()) })),
  "plan.wanted": event(() => ({ name: z.string(), about: z.string() })),
  "plan.submitted": event(() => ({ requestId: z.string(), plan: z.string() })),
  "plan.reviewed": event(() => ({ requestId: z.string(), approve: z.boolean(), feedback: z.string() })),
  "shutdown.requested": event(() => ({ requestId: z.string(), name: z.string(), reason: z.string() })),
  "shutdown.answered": event(() => ({ requestId: z.string(), approve: z.boolean(), reason: z.string() })),
  /** A task of the board is this teammate's, and it was told so. */
  "team.assigned": event(() => ({ taskId: z.string() })),
  /** A task that it could not take: where it should work is not there. */
  "team.unplaced": event(() => ({ taskId: z.string(), reason: z.string() })),
  /** A hook of the user's keeps it at work. */
  "team.held": event(() => ({ reason: z.string() })),
  /** The lead has heard of the last one that left: hosts need not look here any more. */
  "team.over": event(() => ({})),
  /** Nothing is left to do for it; what its turns came to since the last time. */
  "team.idled": event(() => ({ text: z.string() })),
} satisfies EventDefs;
