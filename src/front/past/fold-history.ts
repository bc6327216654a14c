// The state of a ledger at any of its events: folds kept now and then while it is read, and gone on from the one before. Bounded in memory.
import type { Fold, State } from "../../ledger/fold.ts";
import type { Seq, StoredEvent } from "../../ledger/store.ts";

/** Events between two kept states, as long as there is room. */
const EVERY = 250;
/** Characters of all that is kept: beyond it every second one goes, and they are made half as often. */
const MOST_CHARS = 16_000_000;

export interface FoldHistory {
  /** Contract: told of every event in order, once. */
  observe(event: StoredEvent): void;
  /** Contract: as of that event, if it was observed; whoever asks may change it. */
  stateAt(seq: Seq, read: ReadBetween): Promise<State>;
  /** Characters that are kept. */
  readonly size: number;
}

/** Events behind `after` up to `upTo`, as they were observed. */
type ReadBetween = (after: Seq, upTo: Seq) => AsyncIterable<StoredEvent>;

interface Kept {
  seq: Seq;
  /** JSON. */
  frozen: string;
}

export function createFoldHistory(fold: Fold): FoldHistory {
  let state = fold.initial();
  let kept: Kept[] = [];
  let size = 0;
  let every = EVERY;
  let since = 0;

  function keep(): void {
    since = 0;
    const frozen = JSON.stringify([...fold.freeze(state, new Map())]);
    kept.push({ seq: state.seq, frozen });
    size += frozen.length;
    while (size > MOST_CHARS && kept.length > 1) {
      every *= 2;
      kept = kept.filter((_, i) => i % 2 === 1);
      size = kept.reduce((sum, one) => sum + one.frozen.length, 0);
    }
  }

  function thawed(from: Kept | undefined): State {
    if (!from) return fold.initial();
    const found = (JSON.parse(from.frozen) as [string, unknown][]).map(
      ([key, slice]) => [key, { seq: from.seq, state: slice }] as const,
    );
    return fold.thaw(new Map(found)).state;
  }

  return {
    get size() {
      return size;
    },
    observe(event) {
      state = fold.apply(state, event);
      if (++since >= every) keep();
    },
    async stateAt(seq, read) {
      let then = thawed(kept.findLast((one) => one.seq <= seq));
      for await (const event of read(then.seq, seq)) then = fold.apply(then, event);
      return then;
    },
  };
}
