// Since when each card is where it is. Pure.

/** Nobody has read a card sooner. */
export const SETTLE_MS = 400;

/** Where a card is, and since when. */
export interface CardPlace {
  /** By the page's own measure: scrolling does not change it. */
  at: string;
  since: number;
}

/** Contract: gives the places of now; `since` is when a card came to its place, and stays while it is there. */
export function placesNow(
  before: ReadonlyMap<string, CardPlace>,
  cards: Iterable<readonly [key: string, at: string]>,
  now: number,
): Map<string, CardPlace> {
  const places = new Map<string, CardPlace>();
  for (const [key, at] of cards) {
    const known = before.get(key);
    places.set(key, known && known.at === at ? known : { at, since: now });
  }
  return places;
}

export const isSettled = (place: CardPlace | undefined, now: number): boolean =>
  place !== undefined && now - place.since >= SETTLE_MS;
