// Owns the board's ledger in this process: caught up by reading on, written under guards, decided anew when someone was faster.
import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError, isHoldfastError } from "../../ledger/error.ts";
import { monotonicMs } from "../../ledger/holder.ts";
import type { AppendOptions, Store, StoredEvent } from "../../ledger/store.ts";
import type { By } from "../../tools/task-board.ts";
import type { Decision } from "./decision.ts";
import { BOARD_LEDGER, boardCodec } from "./events.ts";
import { applyEvent, type BoardState, callKey, FOLD_VERSION, freeze, initialState, thaw } from "./fold.ts";

/** Whoever has read so many events on opening saves others the work. */
const SNAPSHOT_EVERY = 500;
const GIVE_UP_MS = 30_000;
/** A decision that has lost for so long goes before newcomers. */
const PATIENCE_MS = 25;
const LONGEST_PAUSE_MS = 8;

export interface BoardLedger {
  /** As of the last look. Read only. */
  readonly state: BoardState;
  catchUp(): Promise<BoardState>;
  /**
   * Contract: durable and folded when it resolves. `decide` may be called again on a newer state: it changes nothing, and what it throws
   * counts only on the newest one. A call that was done already comes back as it was recorded, undecided.
   */
  write(by: By, decide: (state: BoardState) => Decision, wake?: Waking): Promise<StoredEvent[]>;
}

/** Who is woken, in the same transaction, when tasks become claimable. */
export type Waking = (claimable: string[], state: BoardState) => NonNullable<AppendOptions["wake"]>;

export async function openBoardLedger(store: Store): Promise<BoardLedger> {
  const codec = boardCodec();
  const snapshots = store.snapshot(BOARD_LEDGER, FOLD_VERSION);
  const loaded = await snapshots.load();
  const state = loaded ? thaw(loaded.state) : initialState();
  let closed: HoldfastError | undefined =
    store.readOnly && new HoldfastError(store.readOnly.code, store.readOnly.message);
  /** What follows cannot be read. */
  let broken = false;
  let last: Promise<unknown> = Promise.resolve();

  /** One at a time: events are folded in order of seq. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  };

  function take(raw: StoredEvent): void {
    const decoded = codec.decode(raw);
    if (decoded.ok) {
      applyEvent(state, decoded.event);
      return;
    }
    const code = decoded.problem === "newer" ? "upgrade" : "damaged";
    const why =
      code === "upgrade" ? "a newer Holdfast wrote to the board: upgrade to change it" : "an event of the board";
    closed ??= new HoldfastError(code, `${why} (${decoded.reason}, seq ${raw.seq})`);
  }

  async function readOn(): Promise<void> {
    const head = await store.head(BOARD_LEDGER);
    if (head <= state.seq || broken) return;
    try {
      for await (const event of store.read(BOARD_LEDGER, { after: state.seq, upTo: head })) take(event);
      state.seq = head;
    } catch (error) {
      if (!isHoldfastError(error, "damaged")) throw error;
      broken = true;
      closed ??= error;
    }
  }

  /** What a call recorded when it was done first. */
  async function recorded(by: By): Promise<StoredEvent[] | undefined> {
    const key = callKey(by);
    const range = key === undefined ? undefined : state.calls.get(key);
    if (!range) return undefined;
    const events: StoredEvent[] = [];
    for await (const event of store.read(BOARD_LEDGER, { after: range[0] - 1, upTo: range[1] })) events.push(event);
    return events.filter((event) => event.id.startsWith(`${key}#`));
  }

  async function attempt(decision: Decision, by: By, opts: AppendOptions): Promise<StoredEvent[]> {
    if (decision.events.length === 0) return [];
    const key = callKey(by);
    const events = decision.events.map((event, i) => ({
      ...codec.encode(event),
      ...(key !== undefined && { id: `${key}#${i}` }),
    }));
    const stored = await store.append([{ ledger: BOARD_LEDGER, events, expect: decision.expect }], opts);
    if (stored[0]!.seq === state.seq + 1) for (const event of stored) applyEvent(state, event);
    else await readOn();
    return stored;
  }

  await readOn();
  if (!closed && state.seq - (loaded?.seq ?? 0) >= SNAPSHOT_EVERY) await snapshots.save(state.seq, freeze(state));

  return {
    state,
    catchUp: () =>
      inTurn(async () => {
        await readOn();
        return state;
      }),
    write: (by, decide, wake) =>
      inTurn(async () => {
        const from = monotonicMs();
        await readOn();
        for (let tries = 0; ; tries++) {
          if (closed) throw closed;
          const done = await recorded(by);
          if (done) return done;
          const position = state.seq;
          const waited = monotonicMs() - from;
          let decision: Decision | undefined;
          try {
            decision = decide(state);
            const wakes = decision.claimable.length > 0 ? wake?.(decision.claimable, state) : undefined;
            return await attempt(decision, by, {
              ...(waited > PATIENCE_MS && { since: from }),
              ...(wakes && wakes.length > 0 && { wake: wakes }),
            });
          } catch (error) {
            const lost = isHoldfastError(error, "conflict") || isHoldfastError(error, "id_reused");
            if ((decision && !lost) || waited > GIVE_UP_MS) throw error;
            if (decision && waited < PATIENCE_MS) await sleep(Math.random() * Math.min(LONGEST_PAUSE_MS, tries));
            await readOn();
            if (state.seq === position) throw error; // judged on the newest state
          }
        }
      }),
  };
}
