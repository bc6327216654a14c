// Small parts that several tabs are made of: a list with what is chosen beside it, moments, a diff.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { counted, moment } from "../../format.ts";
import { useNow } from "../../parts.tsx";
import type { DiffLine } from "./diff-lines.ts";

export interface ListAndDetailProps {
  list: ComponentChildren;
  detail: ComponentChildren;
  /** Of the detail, for who cannot see it. */
  label: string;
}

export function ListAndDetail({ list, detail, label }: ListAndDetailProps) {
  return (
    <div class="split">
      <div class="split-list">{list}</div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must be reached by keys */}
      <section class="split-detail" aria-label={label} tabIndex={0}>
        {detail}
      </section>
    </div>
  );
}

export const Hint = ({ children }: { children: ComponentChildren }) => <p class="view-hint quiet-ink">{children}</p>;

export function AtTime({ at }: { at: number }) {
  return <time dateTime={new Date(at).toISOString()}>{moment(at, useNow())}</time>;
}

/** What everything here is as of; nothing: now. */
export const AsOf = ({ seq, what }: { seq: number | undefined; what: string }) =>
  seq === undefined ? null : (
    <span class="as-of">
      {what} as of event {seq.toLocaleString("en-US")}
    </span>
  );

/** `40 %`; what is not nothing is never written as nothing, nor what is not all as all. */
export function percent(share: number): string {
  const whole = Math.round(100 * share);
  if (share > 0 && whole === 0) return "<1 %";
  return share < 1 && whole === 100 ? ">99 %" : `${whole} %`;
}

const LINES_SHOWN = 400;
const CLASSES: Record<DiffLine["sign"], string> = { "+": "is-added", "-": "is-removed", " ": "", "@": "is-about" };

export function DiffTable({ lines, label }: { lines: readonly DiffLine[]; label: string }) {
  const [shown, setShown] = useState(LINES_SHOWN);
  const rest = lines.length - shown;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll, and keys must reach that */}
      <section class="diff-box code" aria-label={`Diff: ${label}`} tabIndex={0}>
        <table class="diff-table">
          <tbody>
            {lines.slice(0, shown).map(({ sign, text, before, after }, i) => (
              <tr key={i} class={CLASSES[sign]}>
                <td class="line-number">{before}</td>
                <td class="line-number">{after}</td>
                <td class="line-sign">{sign === "@" ? "" : sign}</td>
                <td class="line-text">{text}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rest > 0 && (
        <button type="button" onClick={() => setShown(shown + LINES_SHOWN)}>
          show {counted(Math.min(rest, LINES_SHOWN), "more line")} of {rest.toLocaleString("en-US")}
        </button>
      )}
    </>
  );
}

/** `+12 −3`. */
export function DiffSize({ lines }: { lines: readonly DiffLine[] }) {
  const count = (wanted: DiffLine["sign"]) => lines.filter(({ sign }) => sign === wanted).length;
  return (
    <span class="diff-size">
      <span class="good-ink">+{count("+")}</span> <span class="bad-ink">−{count("-")}</span>
    </span>
  );
}

/** Wider than a narrow window: it scrolls by itself. */
export const FiguresTable = ({ label, children }: { label: string; children: ComponentChildren }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must be reached by keys
  <section class="figures-box" aria-label={label} tabIndex={0}>
    {children}
  </section>
);

/** A choice of a few, as a row of buttons. */
export function ChoiceRow<Value extends string>(props: {
  label: string;
  value: NoInfer<Value>;
  of: Readonly<Record<Value, string>>;
  onChoose(value: NoInfer<Value>): void;
}) {
  const { label, value, of, onChoose } = props;
  return (
    <fieldset class="choice">
      <legend class="unseen">{label}</legend>
      {(Object.entries(of) as [Value, string][]).map(([name, says]) => (
        <button key={name} type="button" aria-pressed={name === value} onClick={() => onChoose(name)}>
          {says}
        </button>
      ))}
    </fieldset>
  );
}
