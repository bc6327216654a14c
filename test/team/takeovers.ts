// How long agents of a machine that was struck stay without a holder: read from the rows of their leases, by this process's clock.
import { performance } from "node:perf_hooks";
import type { HeldBy, Store } from "../../src/ledger/store.ts";

export interface Takeovers {
  /** Contract: asked when the holder can change nothing any more; those of its agents that have a turn open are watched from now. */
  struck(place: string): Promise<void>;
  /** One look at those that wait. */
  look(): Promise<void>;
  /** In ms, shortest first. */
  readonly took: readonly number[];
  /** The longest that two looks were apart: so late may one be seen, and so late may others have looked. */
  readonly apartMs: number;
  readonly waiting: number;
}

const sameHolder = (a: HeldBy["holder"], b: HeldBy["holder"]): boolean =>
  a.machine === b.machine && a.pid === b.pid && a.startedAt === b.startedAt;

export function watchTakeovers(store: Store, context: string): Takeovers {
  const atWork = new Set<string>();
  let readUpTo = 0;
  const waiting = new Map<string, { from: HeldBy["holder"]; at: number }>();
  const took: number[] = [];
  let apartMs = 0;
  let lookedAt: number | undefined;
  const heldBy = async (name: string) => ({ name, by: await store.leases.inspect(`agent:${context}/${name}`) });
  /** Whoever has no turn open has nothing to be taken over for. */
  const readOn = async () => {
    for await (const { seq, type, actor } of store.read(context, { after: readUpTo })) {
      if (type === "turn.started") atWork.add(actor);
      else if (type === "turn.ended") atWork.delete(actor);
      readUpTo = seq;
    }
  };
  return {
    async struck(place) {
      const at = performance.now();
      await readOn();
      for (const { name, by } of await Promise.all([...atWork].map(heldBy)))
        if (by?.holder.machine.endsWith(place) && !waiting.has(name)) waiting.set(name, { from: by.holder, at });
    },
    async look() {
      const now = performance.now();
      if (waiting.size > 0 && lookedAt !== undefined) apartMs = Math.max(apartMs, now - lookedAt);
      lookedAt = now;
      for (const { name, by } of await Promise.all([...waiting.keys()].map(heldBy))) {
        const one = waiting.get(name);
        if (!by || !one || sameHolder(by.holder, one.from)) continue;
        waiting.delete(name);
        took.push(performance.now() - one.at);
      }
      took.sort((a, b) => a - b);
    },
    took,
    get apartMs() {
      return apartMs;
    },
    get waiting() {
      return waiting.size;
    },
  };
}
