// The facts of memory: what is remembered, in a ledger of the project; what agents were shown of it, in their context's.
import * as z from "../../ledger/event-schema.ts";
import { type Codec, createCodec, type EventDefs } from "../../ledger/events.ts";

/** One for each project; nobody else writes to it. Worktrees and contexts of the project share it. */
export const MEMORY_LEDGER = "memory";

export const MEMORY_TYPES = ["user", "feedback", "project", "reference"] as const;

/** Who said it, and where: an input of a context, or a person at the command line. */
const from = () =>
  z.object({
    said: z.enum(["user", "model", "person"]),
    context: z.string().optional(),
    agent: z.string().optional(),
    /** The input that has these words, or the call that proposed it. */
    seq: z.number().optional(),
    branch: z.string().optional(),
    /** The context that read that one, where a model proposed it by reading. */
    reader: z.string().optional(),
  });

const memory = () => ({
  name: z.string(),
  description: z.string(),
  type: z.enum(MEMORY_TYPES),
  text: z.string(),
  from: from(),
});

export const memoryEvents = {
  /** New, or in place of one of that name. */
  "memory.kept": { v: 1, schema: () => z.object(memory()) },
  "memory.forgotten": { v: 1, schema: () => z.object({ name: z.string(), from: from() }) },
  /** Waits for a person. `forgets`: it would take one away. `replaces`: these go with it, as they were then. */
  "memory.proposed": {
    v: 1,
    schema: () =>
      z.object({
        id: z.string(),
        ...memory(),
        forgets: z.boolean().optional(),
        replaces: z.array(z.object({ name: z.string(), at: z.number() })).optional(),
      }),
  },
  "memory.accepted": { v: 1, schema: () => z.object({ id: z.string() }) },
  "memory.rejected": { v: 1, schema: () => z.object({ id: z.string() }) },
  /** The context `reader` reads `source` (a context, or memory itself) from behind `after` to `to`. */
  "memory.reading": {
    v: 1,
    schema: () => z.object({ reader: z.string(), source: z.string(), after: z.number(), to: z.number() }),
  },
  "memory.read": { v: 1, schema: () => z.object({ reader: z.string(), source: z.string() }) },
} satisfies EventDefs;

let codec: Codec | undefined;
export const memoryCodec = (): Codec => {
  codec ??= createCodec([{ events: memoryEvents }]);
  return codec;
};
