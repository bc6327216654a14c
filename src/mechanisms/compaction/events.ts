// The facts of compaction: what of the past is out of the model's view, and what stands there instead, so that no later version says another thing.
import * as z from "../../ledger/event-schema.ts";
import type { EventDefs } from "../../ledger/events.ts";
import { isRecord, knownFact } from "../../ledger/guards.ts";
import { own } from "../../ledger/own.ts";
import type { Seq } from "../../ledger/store.ts";
import type { loopEvents } from "../../loop/events.ts";
import type { Turn } from "../../loop/seams.ts";
import type { MechanismSlice } from "../../loop/timelines.ts";

/** The results of these calls, and what was said so (`u7`), are shown as this line from here on. By id: an id is never given twice, so that a mask can only mean what the model has seen. */
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
        /** Of an overflow: the model that refused what was shown before. */
        model: z.string().optional(),
        masks: masks(),
        snips: z.array(snip()),
        /** Stands behind that round, in place of the sheet before it. `asked`: what is being worked on, in a person's name and not in the runtime's. */
        sheet: z.object({ after: z.number(), text: z.string(), asked: z.string().optional() }).optional(),
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
export type Compacted = z.infer<ReturnType<(typeof compactionEvents)["context.compacted"]["schema"]>>;

export interface Epoch extends Pick<Compacted, "masks" | "snips" | "sheet"> {
  seq: Seq;
  /** What was shown after it, and before, about. */
  tokens?: number;
  before?: number;
}

/** What is true of an agent now. */
export interface ViewState {
  /** The oldest first. */
  epochs: Epoch[];
  /** Not of other timelines. */
  summaries: Summary[];
  /** What the last call read and wrote; not there before a first one, and none since the view changed. */
  used?: number;
  /** `isDone`: room was made for it, and nobody was told yet. */
  asked?: { focus?: string; isDone?: true };
  /** The last epoch was taken back: the next one waits as long as it can. */
  isUndone?: boolean;
  /** What a model refused as too long, about. */
  refused?: { model: string; tokens: number };
  /** Something was left out at some time: `recall` stays. */
  recalls?: boolean;
}

type Summary = Segment & { seq: Seq };

interface Kept extends Omit<ViewState, "epochs" | "recalls"> {
  /** All that ever began, of every timeline. */
  all: Epoch[];
  /** Which of them hold, and since when: a restore goes back to what held then. */
  holding: { seq: Seq; epochs: number[] }[];
}

/** By agent. */
export type CompactionState = Record<string, Kept>;

type Known = typeof compactionEvents & Pick<typeof loopEvents, "reply.received" | "input.answered" | "turn.ended">;

const NONE: ViewState = { epochs: [], summaries: [] };
const nothing = (): Kept => ({ all: [], holding: [], summaries: [] });

/** Made once for each change: views are remembered by the list of epochs. */
const held = new WeakMap<Kept["holding"][number], Epoch[]>();

export const stateOf = (turn: Pick<Turn, "slice" | "agent">): ViewState =>
  ofAgent(turn.slice<CompactionState>("compaction"), turn.agent);

export function ofAgent(state: CompactionState, agent: string): ViewState {
  const kept = own(state, agent);
  if (!kept) return NONE;
  const { all, holding, ...now } = kept;
  const last = holding.at(-1);
  if (!last) return { ...now, epochs: NONE.epochs };
  const epochs = held.get(last) ?? last.epochs.flatMap((at) => all[at] ?? []);
  held.set(last, epochs);
  return { ...now, epochs, recalls: true };
}

export const compactionSlice: MechanismSlice<CompactionState> = {
  version: 4,
  types: [...Object.keys(compactionEvents), "reply.received", "input.answered", "turn.ended"],
  timelines: {
    // What was left out after the checkpoint is in view again, as it was.
    restored: (state, { to, from }) =>
      Object.fromEntries(
        Object.entries(state).map(([agent, { all, holding, summaries }]) => {
          const epochs = holding.findLast(({ seq }) => seq <= to)?.epochs ?? [];
          const back = [...holding, { seq: from + 1, epochs }];
          return [agent, { all, holding: back, summaries: summaries.filter(({ seq }) => seq <= to) }];
        }),
      ),
    copied: (state) => state,
  },
  initial: () => ({}),
  apply(state, event) {
    const fact = knownFact<Known>(event);
    state[fact.actor] = changed(own(state, fact.actor) ?? nothing(), fact);
    return state;
  },
};

function changed(mine: Kept, fact: ReturnType<typeof knownFact<Known>>): Kept {
  const { type, data, seq } = fact;
  switch (type) {
    case "reply.received": {
      const { input, output, cacheRead, cacheWrite } = data.usage;
      const used = input + output + cacheRead + cacheWrite;
      if (used <= 0 || used === mine.used) return mine.asked ? without(mine, "asked") : mine;
      return { ...(mine.asked ? without(mine, "asked") : mine), used };
    }
    // Whatever came of it.
    case "input.answered":
    case "turn.ended":
      return mine.asked ? without(mine, "asked") : mine;
    case "compaction.asked":
      return { ...mine, asked: data };
    case "context.summarised":
      return { ...mine, summaries: [...mine.summaries, { ...data, seq }] };
    case "context.uncompacted": {
      const epochs = (mine.holding.at(-1)?.epochs ?? []).slice(0, -1);
      return { ...without(mine, "used"), holding: [...mine.holding, { seq, epochs }], isUndone: true };
    }
    case "context.elided":
      return begun(mine, { seq, masks: data.masks, snips: [] });
    case "context.compacted": {
      const { masks, snips, sheet, tokens, model } = data;
      const refused = model === undefined ? mine.refused : { model, tokens: tokens.before };
      const asked = mine.asked && { ...mine.asked, isDone: true as const };
      return begun(
        { ...mine, ...(asked && { asked }), ...(refused && { refused }) },
        { seq, masks, snips, ...(sheet && { sheet }), tokens: tokens.after, before: tokens.before },
      );
    }
  }
}

function begun({ all, holding, summaries, refused, asked }: Kept, epoch: Epoch): Kept {
  const epochs = [...(holding.at(-1)?.epochs ?? []), all.length];
  const changes = [...holding, { seq: epoch.seq, epochs }];
  const kept = { ...(refused && { refused }), ...(asked && { asked }) };
  return { all: [...all, epoch], holding: changes, summaries, ...kept };
}

function without<K extends keyof Kept>(mine: Kept, key: K): Omit<Kept, K> {
  const { [key]: _, ...rest } = mine;
  return rest;
}
