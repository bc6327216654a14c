// Summaries of rounds that will go: prepared beside the work when room runs short, asked for at once where none is ready.
import { messageOf } from "../../ledger/error.ts";
import type { Turn, ViewOptions } from "../../loop/seams.ts";
import type { Item } from "../../models/model.ts";
import { type Segment, stateOf } from "./events.ts";
import { draftEpoch, type EpochDraft, planningOf } from "./plan.ts";
import { summarise } from "./summary.ts";
import { viewThrough } from "./view.ts";

export interface Summaries {
  /** Contract: returns at once; once an epoch. */
  prepare(items: readonly Item[], turn: Turn, opts: ViewOptions): void;
  /** Undefined where the model says nothing of use. */
  of(wanted: NonNullable<EpochDraft["summarise"]>, turn: Turn, opts: ViewOptions): Promise<Segment | undefined>;
  end(turn: Turn): Promise<void>;
}

export function createSummaries(): Summaries {
  const running = new WeakMap<Turn, { done: Promise<void>; stop: AbortController }>();
  /** Since which epoch it was looked whether one is wanted. */
  const looked = new WeakMap<Turn, object | undefined>();

  const ask = (wanted: Pick<Segment, "from" | "to">, turn: Turn, opts: ViewOptions, signal?: AbortSignal) => {
    const { epochs, asked } = stateOf(turn);
    const view = viewThrough(turn.state.items, epochs);
    return summarise(turn, opts, { view, wanted, focus: asked?.focus, signal });
  };

  return {
    prepare(items, turn, opts) {
      const last = stateOf(turn).epochs.at(-1);
      if (looked.has(turn) && looked.get(turn) === last) return;
      looked.set(turn, last);
      const wanted = draftEpoch(planningOf(items, turn, { ...opts, cause: "window" }))?.summarise;
      if (!wanted || readyFor(wanted, turn)) return;
      const stop = new AbortController();
      const signal = AbortSignal.any([stop.signal, turn.signal]);
      const done = ask(wanted, turn, opts, signal).then(
        () => undefined,
        () => undefined, // asked for again when it is needed
      );
      running.set(turn, { done, stop });
    },
    async of(wanted, turn, opts) {
      await running.get(turn)?.done;
      let segment = readyFor(wanted, turn);
      try {
        segment ??= await ask(wanted, turn, opts);
      } catch (error) {
        if (turn.signal.aborted) throw error;
        turn.emit({ type: "status", text: `no summary of what is left out: ${messageOf(error)}` });
      }
      return segment === undefined || segment.text === "" ? undefined : segment;
    },
    async end(turn) {
      running.get(turn)?.stop.abort();
      await running.get(turn)?.done;
    },
  };
}

/** One that was made since the last epoch, of rounds that go. */
function readyFor({ from, to }: Pick<Segment, "from" | "to">, turn: Turn): Segment | undefined {
  const { summaries, epochs } = stateOf(turn);
  const since = epochs.at(-1)?.seq ?? 0;
  const ready = summaries.findLast((one) => one.seq > since && one.from >= from && one.to <= to);
  return ready && { from: ready.from, to: ready.to, text: ready.text };
}
