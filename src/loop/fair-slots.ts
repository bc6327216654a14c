// Bounded concurrency in turns by context: so many agents at one time, and where not all fit, one of each context after the other.

export interface FairSlots {
  readonly hasRoom: boolean;
  /** How many places are taken. */
  readonly taken: number;
  /** Contract: false where there is no room; otherwise a place is taken, and `leave` is owed. */
  enter(): boolean;
  /** Contract: `offer` is called once, when it is that context's turn: a place is taken for it then, and `leave` is owed. The returned function withdraws. */
  queue(context: string, offer: () => void): () => void;
  leave(): void;
}

export function createFairSlots(most: number): FairSlots {
  let taken = 0;
  /** The context whose turn is next comes first. */
  const waiting = new Map<string, Set<() => void>>();

  /** Contract: whoever is next; its context then stands behind all others. */
  function next(): (() => void) | undefined {
    for (const [context, offers] of waiting) {
      const [offer] = offers;
      waiting.delete(context);
      if (offer === undefined) continue;
      offers.delete(offer);
      if (offers.size > 0) waiting.set(context, offers);
      return offer;
    }
    return undefined;
  }

  return {
    get hasRoom() {
      return taken < most;
    },
    get taken() {
      return taken;
    },
    enter() {
      if (taken >= most) return false;
      taken++;
      return true;
    },
    queue(context, offer) {
      const offers = waiting.get(context) ?? new Set();
      waiting.set(context, offers.add(offer));
      return () => void offers.delete(offer);
    },
    leave() {
      const offer = next();
      if (offer) offer();
      else taken--;
    },
  };
}
