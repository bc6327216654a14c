// The facts of the board, their schemas and their codec. They live in a ledger of their own, not in a context's.
import * as z from "../../ledger/event-schema.ts";
import { type Codec, createCodec, type EventDefs } from "../../ledger/events.ts";
import { PRIORITIES, TASK_STATUSES } from "./port.ts";

/** One for each project; nobody else writes to it. */
export const BOARD_LEDGER = "board";

/** Built on first use. */
const event = <S extends z.FactShape>(shape: () => S) => ({
  v: 1,
  schema: () =>
    z.object({
      id: z.string(),
      by: z.object({ agent: z.string(), context: z.string().optional(), call: z.string().optional() }),
      note: z.string().optional(),
      ...shape(),
    }),
});

const ids = () => z.array(z.string());
const history = () =>
  z.array(z.object({ at: z.number(), by: z.string(), what: z.string(), note: z.string().optional() }));

export const boardEvents = {
  "task.created": event(() => ({
    subject: z.string(),
    description: z.string(),
    blockedBy: ids(),
    priority: z.enum(PRIORITIES),
    labels: ids(),
    imported: z
      .object({
        status: z.enum(TASK_STATUSES),
        worktree: z.string().nullable(),
        createdAt: z.number().optional(),
        history: history(),
      })
      .optional(),
  })),
  "task.changed": event(() => ({
    set: z.object({
      subject: z.string().optional(),
      description: z.string().optional(),
      worktree: z.string().nullable().optional(),
      priority: z.enum(PRIORITIES).optional(),
      labels: ids().optional(),
    }),
    added: ids(),
    removed: ids(),
    /** Because of removed edges. */
    unblocked: ids(),
  })),
  /** Kept for someone, or for nobody again. */
  "task.assigned": event(() => ({ owner: z.string().nullable() })),
  "task.claimed": event(() => ({ owner: z.string() })),
  "task.released": event(() => ({})),
  "task.completed": event(() => ({
    unblocked: ids(),
    unknown: z.array(z.object({ call: z.string(), tool: z.string() })).optional(),
  })),
  "task.cancelled": event(() => ({})),
  /** `detached`: tasks that no longer wait for it. */
  "task.deleted": event(() => ({ detached: ids(), unblocked: ids() })),
  /** Its owner was seen without a host; and with one again. */
  "task.unhosted": event(() => ({})),
  "task.hosted": event(() => ({})),
} satisfies EventDefs;

export const boardCodec = (): Codec => createCodec([{ events: boardEvents }]);
