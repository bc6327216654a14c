// Deciding on a ledger: what is to be recorded follows from its state, and is decided anew when someone was faster.
import { setTimeout as sleep } from "node:timers/promises";
import { isHoldfastError } from "./error.ts";
import type { Codec } from "./events.ts";
import type { State } from "./fold.ts";
import { monotonicMs } from "./holder.ts";
import { unspill } from "./spill.ts";
import type { AppendOptions, EventInput, Seq, Store, StoredEvent, Write } from "./store.ts";

/** A decision that loses for this long is given up. */
const GIVE_UP_MS = 30_000;
/** One that has lost for this long goes before newcomers, where the store lets writers go in order. */
const PATIENCE_MS = 25;
const LONGEST_PAUSE_MS = 8;

/** What is to be recorded, and everything that follows from the decision: they are one transaction. */
export interface Decision {
  /** None: all is as wished. */
  events: EventInput[];
  /** Every entity that the decision read: refused, and decided anew, when one of them was touched meanwhile. */
  reads?: Iterable<string>;
  blobs?: Uint8Array[];
  wake?: AppendOptions["wake"];
  summary?: unknown;
  /** Writes to other ledgers. */
  beside?: Write[];
}

export interface DecideOptions {
  lease?: AppendOptions["lease"];
  /** The events get the ids `ID#0`, `ID#1`, …: a decision that is recorded already comes back as it was, undecided. */
  id?: string;
  /** One try: a conflict is the caller's to decide on. */
  once?: boolean;
  /** When a caller that tries again by itself first tried (`monotonicMs`). */
  since?: number;
}

/** What deciding needs of an open ledger, inside its turn. */
interface Deciding {
  store: Store;
  name: string;
  codec: Codec;
  state: () => State;
  version: (entity: string) => Seq;
  readOn: () => Promise<void>;
  write: (events: EventInput[], opts: DecisionWriteOptions) => Promise<StoredEvent[]>;
  refuseReadOnly: () => void;
}

export type DecisionWriteOptions = AppendOptions & Partial<Pick<Write, "expect" | "summary">> & { beside?: Write[] };

/** Contract: that of `Ledger.decide`. */
export async function decideOn(
  ledger: Deciding,
  decide: (state: State) => Decision,
  how: DecideOptions,
): Promise<StoredEvent[]> {
  const from = how.since ?? monotonicMs();
  for (let tries = 0; ; tries++) {
    ledger.refuseReadOnly();
    const position = ledger.state().seq;
    const waited = tries === 0 && how.since === undefined ? 0 : monotonicMs() - from;
    let decision: Decision | undefined;
    let refusal: unknown;
    try {
      decision = decide(ledger.state());
      const since = waited > PATIENCE_MS || how.since !== undefined ? { since: from } : {};
      if (decision.events.length > 0 || decision.beside) return await attempt(ledger, decision, { ...how, ...since });
    } catch (error) {
      const lost = isHoldfastError(error, "conflict") || isHoldfastError(error, "id_reused");
      if ((decision && (how.once || !lost)) || waited > GIVE_UP_MS) throw error;
      if (decision && waited < PATIENCE_MS) await sleep(Math.random() * Math.min(LONGEST_PAUSE_MS, tries));
      refusal = error;
    }
    // Refused, lost, or nothing to do: that counts only if nothing has changed meanwhile.
    await ledger.readOn();
    if (ledger.state().seq !== position) continue;
    const before = await recorded(ledger, how.id);
    if (before) return before;
    if (refusal !== undefined) throw refusal;
    return [];
  }
}

function attempt(ledger: Deciding, decision: Decision, how: DecideOptions): Promise<StoredEvent[]> {
  const { events, reads = [], blobs = [], wake = [], summary, beside } = decision;
  const { id, lease, since } = how;
  const expect = Object.fromEntries([...reads].map((entity) => [entity, ledger.version(entity)]));
  return ledger.write(id === undefined ? events : events.map((event, i) => ({ ...event, id: `${id}#${i}` })), {
    expect,
    ...(lease && { lease }),
    ...(since !== undefined && { since }),
    ...(blobs.length > 0 && { blobs }),
    ...(wake.length > 0 && { wake }),
    ...(summary !== undefined && { summary }),
    ...(beside && { beside }),
  });
}

/** What a decision recorded when it was made first. */
async function recorded({ store, name, codec }: Deciding, id: string | undefined): Promise<StoredEvent[] | undefined> {
  const first = id === undefined ? undefined : await store.find(name, `${id}#0`);
  if (!first) return undefined;
  const events: StoredEvent[] = [];
  for await (const raw of store.read(name, { after: first.seq - 1 })) {
    if (raw.id !== `${id}#${events.length}`) break;
    const { data } = await unspill(raw.data, store.blob);
    events.push(codec.decode({ ...raw, data }).event);
  }
  return events;
}
