// The facts of compaction: what of the past is out of the model's view, and what stands there instead, so that no later version says another thing.
import * as z from "zod";
import type { EventDefs } from "../../ledger/events.ts";
import { isRecord, knownFact } from "../../ledger/guards.ts";
import { own } from "../../ledger/own.ts";
import type { Seq } from "../../ledger/store.ts";
import type { loopEvents } from "../../loop/events.ts";
import type { MechanismSlice } from "../../loop/timelines.ts";

/** The results of these calls are shown as this line from here on. By id: an id is never given twice, so that a mask can only mean what the model has seen. */
const masks = () => z.array(z.object({ call: z.string(), line: z.string() }));
/** Rounds, by the numbers of their replies, and the text that stands for them. */
const segment = () => z.object({ from: z.number(), to: z.number(), text: z.string() });
/** `isSummary`: the model's words for them; it never changes. */
const snip = () => segment().extend({ isSummary: z.literal(true).optional() });

const CAUSES = ["window", "overflow", "asked"] as const;

export const compactionEvents = {
  /** Of older versions. */
  "context.elided": {
    v: 3,
    schema: () => z.object({ masks: masks(), bytes: z.number() }),
    upcast: {
      // It named a position among the items, which meant others after a restore: those results are shown again, and left out anew when they must.
      1: (data: unknown) => (isRecord(data) ? { calls: [], bytes: data.bytes } : data),
      2: (data: unknown) =>
        isRecord(data) && Array.isArray(data.calls)
          ? { masks: data.calls.map((call) => ({ call, line: "" })), bytes: data.bytes }
          : data,
    },
  },
  /** An epoch of the view begins. */
  "context.compacted": {
    v: 1,
    schema: () =>
      z.object({
        cause: z.enum(CAUSES),
        masks: masks(),
        snips: z.array(snip()),
        /** Stands behind that round, in place of the sheet before it. */
        sheet: z.object({ after: z.number(), text: z.string() }).optional(),
        /** About, before and after. */
        tokens: z.object({ before: z.number(), after: z.number() }),
      }),
  },
  /** The last epoch that holds is taken back. */
  "context.uncompacted": { v: 1, schema: () => z.object({}) },
  /** What the model says of these rounds, from the originals, ready for when they go; "": it said nothing of use. */
  "context.summarised": { v: 1, schema: segment },
  /** At the next request, whatever room there is. */
  "compaction.asked": { v: 1, schema: () => z.object({ focus: z.string().optional() }) },
} satisfies EventDefs;

export type Cause = (typeof CAUSES)[number];
export type Segment = z.infer<ReturnType<typeof segment>>;
export type Snip = z.infer<ReturnType<typeof snip>>;
type Compacted = z.infer<ReturnType<(typeof compactionEvents)["context.compacted"]["schema"]>>;

export interface Epoch extends Pick<Compacted, "masks" | "snips" | "sheet"> {
  seq: Seq;
  /** What was shown after it, about. */
  tokens?: number;
}

export interface OfAgent {
  /** The oldest first. */
  epochs: Epoch[];
  summaries: (Segment & { seq: Seq })[];
  /** What the last call read and wrote; not there before a first one, and none since an epoch began. */
  used?: number;
  asked?: { focus?: string };
  /** The last epoch was taken back: the next one waits as long as it can. */
  isUndone?: boolean;
}

/** By agent. */
export type CompactionState = Record<string, OfAgent>;

type Known = typeof compactionEvents & Pick<typeof loopEvents, "reply.received">;

const none = (): OfAgent => ({ epochs: [], summaries: [] });

export const compactionSlice: MechanismSlice<CompactionState> = {
  version: 4,
  types: [...Object.keys(compactionEvents), "reply.received"],
  timelines: {
    // What was left out after the checkpoint is in view again, as it was.
    restored: (state, { to }) =>
      Object.fromEntries(
        Object.entries(state).map(([agent, { epochs, summaries }]) => [
          agent,
          {
            epochs: epochs.filter(({ seq }) => seq <= to),
            summaries: summaries.filter(({ seq }) => seq <= to),
          },
        ]),
      ),
    copied: (state) => state,
  },
  initial: () => ({}),
  apply(state, event) {
    const fact = knownFact<Known>(event);
    state[fact.actor] = changed(own(state, fact.actor) ?? none(), fact);
    return state;
  },
};

function changed(mine: OfAgent, fact: ReturnType<typeof knownFact<Known>>): OfAgent {
  const { type, data, seq } = fact;
  switch (type) {
    case "reply.received": {
      const { input, output, cacheRead, cacheWrite } = data.usage;
      const used = input + output + cacheRead + cacheWrite;
      return { ...without(mine, "asked"), ...(used > 0 && { used }) };
    }
    case "compaction.asked":
      return { ...mine, asked: data };
    case "context.summarised":
      return { ...mine, summaries: [...mine.summaries, { ...data, seq }] };
    case "context.uncompacted":
      return { ...without(mine, "used"), epochs: mine.epochs.slice(0, -1), isUndone: true };
    case "context.elided":
      return { ...without(mine, "used"), epochs: [...mine.epochs, { seq, masks: data.masks, snips: [] }] };
    case "context.compacted": {
      const { masks, snips, sheet, tokens } = data;
      const epoch: Epoch = { seq, masks, snips, ...(sheet && { sheet }), tokens: tokens.after };
      return { epochs: [...mine.epochs, epoch], summaries: mine.summaries };
    }
  }
}

function without<K extends keyof OfAgent>(mine: OfAgent, key: K): Omit<OfAgent, K> {
  const { [key]: _, ...rest } = mine;
  return rest;
}
