// The cards of what waits: those of now, and those that were just answered, which keep their places for a while. Pure.
import type { Need } from "../../api.ts";
import { keyOfNeed } from "../overview.ts";

/** Why it waits no more. */
export interface Over {
  /** Answered from this page. */
  isOwn: boolean;
  says: string;
}

export interface Card {
  key: string;
  need: Need;
  over?: Over;
}

/** Contract: in the order of `needs`; what is over stands behind the card that it stood behind. */
export function cardsNow(before: readonly Card[], needs: readonly Need[], overOf: (card: Card) => Over): Card[] {
  const cards: Card[] = needs.map((need) => ({ key: keyOfNeed(need), need }));
  const waiting = new Set(cards.map(({ key }) => key));
  before.forEach((card, i) => {
    if (waiting.has(card.key)) return;
    const neighbour = before[i - 1]?.key;
    const at = neighbour === undefined ? 0 : cards.findIndex(({ key }) => key === neighbour) + 1;
    cards.splice(at, 0, card.over ? card : { ...card, over: overOf(card) });
  });
  return cards;
}
