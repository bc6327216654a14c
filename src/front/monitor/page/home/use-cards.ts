// Which cards are shown: a card that was answered stays for a moment, so that no other comes under the pointer; one that somebody works in, until it is left.
import { useEffect, useRef, useState } from "preact/hooks";
import type { ActionAnswer, Need } from "../../api.ts";
import { keyOfNeed } from "../overview.ts";
import { useParts } from "../parts.tsx";
import { type Card, cardsNow, type Over } from "./cards.ts";

/** So long an answered card keeps its place, after the last answer. */
const OVER_MS = 3_000;

export interface Cards {
  all: readonly Card[];
  /** Something is asked of the server for that card. */
  asks(key: string): void;
  answered(key: string, answer: ActionAnswer): void;
  dismiss(key: string): void;
  /** Of the list: what is typed, and what is left. */
  onInput(event: Event): void;
  onFocusOut(event: FocusEvent): void;
}

const cardOf = (target: EventTarget | null): HTMLElement | null =>
  target instanceof Element ? target.closest<HTMLElement>("[data-card]") : null;

const ELSEWHERE: Over = { isOwn: false, says: "answered elsewhere, or not asked any more" };
const RUNS_AGAIN: Over = { isOwn: false, says: "it does not need you any more" };

/** `shown`: those of `needs` that there is room for. `onGone`: told the place of a card with the focus just before it goes. */
export function useCards(needs: readonly Need[], shown: readonly Need[], onGone: (place: number) => void): Cards {
  const { announce } = useParts();
  const [tick, setTick] = useState(0);
  const cards = useRef<readonly Card[]>([]);
  const asked = useRef(new Map<string, ActionAnswer | undefined>());
  const typedIn = useRef(new Set<string>());
  const overOf = ({ key, need }: Card): Over => {
    if (need.kind === "failure") return RUNS_AGAIN;
    if (!asked.current.has(key)) return ELSEWHERE;
    const answer = asked.current.get(key);
    return answer && !answer.ok ? ELSEWHERE : { isOwn: true, says: answer?.says ?? "answered" };
  };
  const isWorkedIn = (key: string) => typedIn.current.has(key) || cardOf(document.activeElement)?.dataset.card === key;

  const waiting = new Set(needs.map(keyOfNeed));
  const room = new Set(shown.map(keyOfNeed));
  const listed = needs.filter((need) => room.has(keyOfNeed(need)) || isWorkedIn(keyOfNeed(need)));
  const kept = cards.current.filter(({ key }) => !waiting.has(key) || room.has(key) || isWorkedIn(key));
  cards.current = cardsNow(kept, listed, overOf);
  const over = cards.current.filter((card) => card.over);

  const drop = (goes: (card: Card) => boolean) => {
    const focused = cardOf(document.activeElement)?.dataset.card;
    const place = cards.current.findIndex((card) => card.key === focused && goes(card));
    if (place >= 0) onGone(place);
    for (const { key } of cards.current.filter(goes)) typedIn.current.delete(key);
    cards.current = cards.current.filter((card) => !goes(card));
    setTick((n) => n + 1);
  };

  const names = over.map(({ key }) => key).join("\n");
  const said = useRef(new Set<string>());
  useEffect(() => {
    for (const { key, need, over: how } of over)
      if (how && !how.isOwn && !said.current.has(key)) announce(`${how.says}: ${need.title}`);
    said.current = new Set(over.map(({ key }) => key));
  }, [names]);
  useEffect(() => {
    if (names === "") return;
    const timer = setTimeout(
      () => drop(({ key, over: how }) => how !== undefined && (how.isOwn || !isWorkedIn(key))),
      OVER_MS,
    );
    return () => clearTimeout(timer);
  }, [names, tick]);

  return {
    all: cards.current,
    asks: (key) => void asked.current.set(key, undefined),
    answered(key, answer) {
      asked.current.set(key, answer);
      cards.current = cards.current.map((card) =>
        card.key === key && card.over ? { ...card, over: overOf(card) } : card,
      );
      setTick((n) => n + 1);
    },
    dismiss: (key) => drop((card) => card.key === key && card.over !== undefined),
    onInput({ target }) {
      const key = cardOf(target)?.dataset.card;
      if (key === undefined) return;
      const isEmpty = (target as HTMLInputElement).value === "";
      if (isEmpty) typedIn.current.delete(key);
      else typedIn.current.add(key);
    },
    onFocusOut({ target, relatedTarget }) {
      const left = cardOf(target);
      if (!left || left.contains(relatedTarget as Node | null)) return;
      if (!over.some(({ key }) => key === left.dataset.card)) return;
      typedIn.current.delete(left.dataset.card ?? "");
      setTick((n) => n + 1);
    },
  };
}
