// What waits for a person, over all projects and machines: one card each, answered in place, with the mouse or with keys alone.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ActionAnswer, Need } from "../../api.ts";
import { ActionAnswerLine } from "../components/action-answer.tsx";
import { keyOfNeed } from "../overview.ts";
import { useKeys, useParts } from "../parts.tsx";
import { type CardKeys, NeedCard } from "./need-card.tsx";
import { useSettled } from "./settled.ts";
import { shownNeeds } from "./shown-needs.ts";

/** The newest answer: its card is gone by the time it is read. */
interface Said {
  title: string;
  answer: ActionAnswer;
}

const TOO_SOON: ActionAnswer = { ok: false, says: "it has only just come here. Look, then answer again." };

export function Needs({ needs }: { needs: readonly Need[] }) {
  const list = useRef<HTMLUListElement>(null);
  const settled = useSettled(list);
  const { announce } = useParts();
  const [isAllShown, setAllShown] = useState(false);
  const [said, setSaid] = useState<Said | undefined>(undefined);
  const keysOf = useRef(new Map<string, CardKeys>());
  const shown = isAllShown ? needs : shownNeeds(needs);
  useFocusThatStays(list, shown.map(keyOfNeed));

  const cards = () => [...(list.current?.querySelectorAll<HTMLElement>("[data-need]") ?? [])];
  const focused = () => cards().find((card) => card.contains(document.activeElement));
  const step = (by: 1 | -1) => {
    const all = cards();
    const at = all.findIndex((card) => card.contains(document.activeElement));
    const next = all[at < 0 ? 0 : Math.max(0, Math.min(all.length - 1, at + by))];
    next?.focus();
  };
  const mayAnswer = (key: string): boolean => {
    if (settled.has(key)) return true;
    setSaid({ title: "", answer: TOO_SOON });
    announce(TOO_SOON.says);
    return false;
  };
  const press = (which: keyof CardKeys) => keysOf.current.get(focused()?.dataset.need ?? "")?.[which]?.();
  useKeys(
    needs.length === 0
      ? []
      : [
          { keys: "j", says: "the next that needs you", run: () => step(1) },
          { keys: "k", says: "the one before", run: () => step(-1) },
          { keys: "a", says: "yes, this once, to the card with the focus", isOnce: true, run: () => press("yes") },
          { keys: "x", says: "no, to the card with the focus", isOnce: true, run: () => press("no") },
        ],
  );

  return (
    <section id="needs" class="needs-part" aria-labelledby="needs-title" tabIndex={-1}>
      <div class="section-title">
        <h2 id="needs-title">
          Needs you {needs.length > 0 && <span class="count">{needs.length.toLocaleString("en-US")}</span>}
        </h2>
        <div class="said">{said && <ActionAnswerLine answer={said.answer} of={said.title} />}</div>
      </div>
      {needs.length === 0 && <p class="quiet-ink">Nothing waits for you. Approvals, plans and failures appear here.</p>}
      <ul ref={list} class="needs">
        {shown.map((need, i) => (
          <NeedCard
            key={keyOfNeed(need)}
            need={need}
            isFirst={i === 0}
            mayAnswer={mayAnswer}
            onAnswer={({ title }, answer) => setSaid({ title, answer })}
            onKeys={(key, keys) => keysOf.current.set(key, keys)}
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

/** When the card with the focus goes, the one that takes its place has it: a reader by keys does not fall out of the list. */
function useFocusThatStays(list: { current: HTMLElement | null }, keys: readonly string[]): void {
  const last = useRef<{ key: string; at: number } | undefined>(undefined);
  const names = keys.join("\n");
  useLayoutEffect(() => {
    const { key, at } = last.current ?? { key: "", at: 0 };
    if (key !== "" && !keys.includes(key) && document.activeElement === document.body) {
      const cards = list.current?.querySelectorAll<HTMLElement>("[data-need]");
      const next = cards?.[Math.min(at, cards.length - 1)];
      (next ?? document.getElementById("needs"))?.focus();
    }
    const note = () => {
      const card = document.activeElement?.closest<HTMLElement>("[data-need]");
      const name = card?.dataset.need ?? "";
      last.current = card ? { key: name, at: keys.indexOf(name) } : undefined;
    };
    note();
    document.addEventListener("focusin", note);
    return () => document.removeEventListener("focusin", note);
  }, [names]);
}
