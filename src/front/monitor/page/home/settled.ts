// Cards that have just appeared, or just moved to where another was, are not answered: whoever pressed meant what was there before.
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { type CardPlace, isSettled, placesNow } from "./places.ts";

export interface Settled {
  /** Whether that card has been in its place long enough to be meant. */
  has(key: string): boolean;
}

/** What was opened shows something that was not there to be read before. */
const placeOf = ({ offsetLeft, offsetTop, dataset }: HTMLElement): string =>
  `${offsetLeft} ${offsetTop} ${dataset.open !== undefined}`;

/** `list`: its children that have `data-need` are the cards. Where they are is looked at after each change of the list and of its size. */
export function useSettled(list: { current: HTMLElement | null }): Settled {
  const places = useRef(new Map<string, CardPlace>());
  const look = () => {
    const cards = list.current?.querySelectorAll<HTMLElement>("[data-need]") ?? [];
    const now = [...cards].map((card) => [card.dataset.need ?? "", placeOf(card)] as const);
    places.current = placesNow(places.current, now, performance.now());
  };
  useLayoutEffect(look);
  useEffect(() => {
    if (!list.current) return;
    const seen = new ResizeObserver(look);
    seen.observe(list.current);
    return () => seen.disconnect();
  }, []);
  return {
    has: (key) => isSettled(places.current.get(key), performance.now()),
  };
}
