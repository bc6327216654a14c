// What waits for a person, over all projects and machines: one card each, answered in place, with the mouse or with keys alone.
import { useRef, useState } from "preact/hooks";
import type { ActionAnswer, Need } from "../../api.ts";
import { ActionAnswerLine } from "../components/action-answer.tsx";
import { useKeys, useParts } from "../parts.tsx";
import { useArmedKeys } from "./armed-keys.ts";
import { type CardKeys, NeedCard } from "./need-card.tsx";
import { useSettled } from "./settled.ts";
import { shownNeeds } from "./shown-needs.ts";
import { useCards } from "./use-cards.ts";

/** The newest answer: its card is gone by the time it is read. */
interface Said {
  title: string;
  answer: ActionAnswer;
}

const TOO_SOON: ActionAnswer = { ok: false, says: "it has only just come here. Look, then answer again." };
const TYPED: ActionAnswer = { ok: false, says: "you were typing. Go to a card first, with j or k." };

interface NeedsProps {
  needs: readonly Need[];
  /** Beside something else that is looked at: nothing is said where nothing waits. */
  isAside?: boolean;
  /** A line each until one is opened. */
  areShut?: boolean;
}

export function Needs({ needs, isAside = false, areShut = false }: NeedsProps) {
  const section = useRef<HTMLElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const settled = useSettled(list);
  const armed = useArmedKeys();
  const { announce } = useParts();
  const [isAllShown, setAllShown] = useState(false);
  const [said, setSaid] = useState<Said | undefined>(undefined);
  const keysOf = useRef(new Map<string, CardKeys>());
  /** Of the card with the focus that went: the next step goes there. */
  const place = useRef(0);
  const shown = isAllShown ? needs : shownNeeds(needs);
  // Never to another card by itself: whoever goes on pressing keys means the one that was there.
  const cards = useCards(needs, shown, (at) => {
    place.current = at;
    section.current?.focus({ preventScroll: true });
  });

  const step = (by: 1 | -1) => {
    const all = [...(list.current?.querySelectorAll<HTMLElement>("[data-card]") ?? [])];
    const at = all.findIndex((card) => card.contains(document.activeElement));
    const from = at < 0 ? Math.min(place.current, all.length - 1) : at + by;
    const wanted = by > 0 ? all.slice(Math.max(0, from)) : all.slice(0, from + 1).toReversed();
    place.current = 0;
    armed.arm();
    wanted.find(({ dataset }) => dataset.need !== undefined)?.focus();
  };
  const say = (answer: ActionAnswer) => {
    setSaid({ title: "", answer });
    announce(answer.says);
  };
  const mayAnswer = (key: string): boolean => {
    if (settled.has(key)) {
      cards.asks(key);
      return true;
    }
    say(TOO_SOON);
    return false;
  };
  const press = (which: keyof CardKeys) => {
    const key = document.activeElement?.closest<HTMLElement>("[data-need]")?.dataset.need;
    if (key === undefined) return;
    if (armed.now()) keysOf.current.get(key)?.[which]?.();
    else say(TYPED);
  };
  // Beside a list of their own, j and k are that list's.
  const steps = [
    { keys: "j", says: "the next that needs you", run: () => step(1) },
    { keys: "k", says: "the one before", run: () => step(-1) },
  ];
  useKeys(
    needs.length === 0
      ? []
      : [
          ...(areShut ? [] : steps),
          { keys: "a", says: "yes, this once, to the card with the focus", isOnce: true, run: () => press("yes") },
          { keys: "x", says: "no, to the card with the focus", isOnce: true, run: () => press("no") },
        ],
  );

  if (isAside && cards.all.length === 0) return null;
  return (
    <section ref={section} id="needs" class="needs-part" aria-labelledby="needs-title" tabIndex={-1}>
      <div class="section-title">
        <h2 id="needs-title">
          Needs you {needs.length > 0 && <span class="count">{needs.length.toLocaleString("en-US")}</span>}
        </h2>
        <div class="said">{said && <ActionAnswerLine answer={said.answer} of={said.title} />}</div>
      </div>
      {cards.all.length === 0 && (
        <p class="quiet-ink">Nothing waits for you. Approvals, plans and failures appear here.</p>
      )}
      <ul ref={list} class="needs" onInput={cards.onInput} onFocusOut={cards.onFocusOut}>
        {cards.all.map(({ key, need, over }, i) => (
          <NeedCard
            key={key}
            need={need}
            over={over}
            isFirst={i === 0}
            isShut={areShut}
            mayAnswer={mayAnswer}
            onAnswer={(answer) => {
              cards.answered(key, answer);
              setSaid({ title: need.title, answer });
            }}
            onDismiss={() => cards.dismiss(key)}
            onKeys={(keys) => keysOf.current.set(key, keys)}
          />
        ))}
      </ul>
      {shown.length < needs.length && (
        <button type="button" class="small" onClick={() => setAllShown(true)}>
          Show {(needs.length - shown.length).toLocaleString("en-US")} more
        </button>
      )}
    </section>
  );
}
