// A turn that keeps its facts in memory: schemas are checked and slices folded as the ledger would.
import { createCodec } from "../../src/ledger/events.ts";
import { createFold } from "../../src/ledger/fold.ts";
import type { StoredEvent } from "../../src/ledger/store.ts";
import type { Mechanism, Progress, Turn } from "../../src/loop/seams.ts";
import type { Model } from "../../src/models/model.ts";

export interface FakeTurn extends Turn {
  readonly events: { type: string; data: unknown }[];
  readonly progress: Progress[];
  /** A fact of the loop itself, such as the beginning of a turn. */
  happened(type: string, data?: unknown): void;
  abort(): void;
}

/** `past`: the facts of a process that is gone. */
export function createFakeTurn(mechanism: Mechanism, model: Model, past: FakeTurn["events"] = []): FakeTurn {
  const fold = createFold({ [mechanism.name]: mechanism.fold! });
  const codec = createCodec([{ events: mechanism.events ?? {} }]);
  let state = fold.initial();
  let seq = 0;
  const events: FakeTurn["events"] = [];
  const progress: Progress[] = [];
  const abort = new AbortController();
  const take = (type: string, data: unknown): StoredEvent => {
    const event = { id: `evt_${++seq}`, seq, at: seq, type, v: 1, actor: "lead", touches: [], data };
    events.push({ type, data });
    state = fold.apply(state, event);
    return event;
  };
  for (const event of past) take(event.type, event.data);
  return {
    context: "ctx_test",
    agent: "lead",
    root: "/tmp",
    cwd: "/tmp",
    state: {} as never, // of the turn that runs, nothing is asked here
    slice: <T>(name: string) => state.slices[name] as T,
    runInside: async () => ({ content: "not here", isError: true }),
    announce: async () => ({ context: [] }),
    durable: async () => {},
    model,
    signal: abort.signal,
    append: async (given) => given.map((e) => take(e.type, codec.encode({ ...e, actor: "lead" }).data)),
    until: async () => undefined,
    blob: async () => undefined,
    emit: (p) => progress.push(p),
    events,
    progress,
    happened: (type, data = {}) => void take(type, data),
    abort: () => abort.abort(),
  };
}
