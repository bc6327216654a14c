// What is gathered while a context's ledger is read, so that it can be looked at as of any of its events.
import { openContextLedger } from "../../contexts/context-ledger.ts";
import { createForkPlaces } from "../../contexts/fork-place.ts";
import { HoldfastError } from "../../ledger/error.ts";
import type { Codec } from "../../ledger/events.ts";
import type { Fold } from "../../ledger/fold.ts";
import type { Seq, Store, StoredEvent } from "../../ledger/store.ts";
import type { ContextAt } from "../monitor/context-api.ts";
import { type BoardPast, createBoardPast } from "./board.ts";
import { contextAt } from "./context-at.ts";
import { type EditGatherer, gatherEdits } from "./edits.ts";
import { createFoldHistory } from "./fold-history.ts";
import { readShortened } from "./read-shortened.ts";

export interface ContextPast {
  /** Contract: told of every event in order, once, its long texts cut. */
  observe(event: StoredEvent): void;
  /** Contract: everything up to the head was observed. Throws `not_found` where there is no such event. */
  at(seq: Seq): Promise<ContextAt>;
  readonly edits: EditGatherer;
  /** Characters of states that are kept. */
  readonly size: number;
}

export interface ContextPastOptions {
  store: Store;
  id: string;
  codec: Codec;
  /** Made by `pastFold`. */
  fold: Fold;
  /** Of the project, shared by its contexts. */
  board: BoardPast;
}

export function createContextPast({ store, id, codec, fold, board }: ContextPastOptions): ContextPast {
  const history = createFoldHistory(fold);
  const places = createForkPlaces();
  const edits = gatherEdits();
  const types = fold.types && [...fold.types];
  const read = (after: Seq, upTo: Seq) =>
    readShortened(store, codec, { ledger: id, after, upTo, ...(types && { types }) });
  let opened: ReturnType<typeof openContextLedger> | undefined;

  async function timeOf(seq: Seq): Promise<number> {
    for await (const { at } of store.read(id, { after: seq - 1, upTo: seq })) return at;
    throw new HoldfastError("not_found", `there is no event ${seq} in ${id}`);
  }

  return {
    edits,
    get size() {
      return history.size;
    },
    observe(event) {
      history.observe(event);
      places.observe(event);
      edits.observe(event);
    },
    async at(seq) {
      const time = await timeOf(seq);
      opened ??= openContextLedger(store, id);
      opened.catch(() => {
        opened = undefined;
      });
      const context = await (await opened).catchUp();
      return contextAt({
        ...{ seq, at: time, head: await store.head(id), context, edits, fork: places.at(seq) },
        state: await history.stateAt(seq, read),
        board: await board.at(time),
      });
    },
  };
}

/** For who looks once: reads the whole ledger. */
export async function readContextAt(of: Omit<ContextPastOptions, "board">, seq: Seq): Promise<ContextAt> {
  const past = createContextPast({ ...of, board: createBoardPast(of.store) });
  for await (const event of readShortened(of.store, of.codec, { ledger: of.id, after: 0 })) past.observe(event);
  return past.at(seq);
}
