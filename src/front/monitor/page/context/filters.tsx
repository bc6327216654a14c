// Which rows of the transcript are shown: by kind, agent and text.
import { useEffect, useRef, useState } from "preact/hooks";
import { useKeys } from "../parts.tsx";
import { ALL_KINDS, KINDS } from "./kinds.ts";
import { filterQuery, NO_FILTER, type RowFilter, withKind } from "./row-filter.ts";

interface FiltersProps {
  filter: RowFilter;
  agents: readonly string[];
  /** Rows of kind `other` that are left out, where that is known. */
  hidden: number | undefined;
  /** None is left out now. */
  isWhole: boolean;
  onChange(filter: RowFilter): void;
}

/** The whole ledger is looked through for a text: not for each letter. */
const TYPED_MS = 250;

export function Filters({ filter, agents, hidden, isWhole, onChange }: FiltersProps) {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(filter.text);
  useKeys([{ keys: "/", says: "look for a text", run: () => field.current?.focus() }]);
  // A while after the last letter.
  useEffect(() => {
    if (text === filter.text) return;
    const timer = setTimeout(() => onChange({ ...filter, text }), TYPED_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const clear = () => {
    setText("");
    onChange(NO_FILTER);
  };
  return (
    <div class="filters">
      <input
        ref={field}
        type="search"
        aria-label="Rows with this text"
        placeholder="Search  /"
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      {agents.length > 1 && (
        <select
          aria-label="Rows of this agent"
          value={filter.agent}
          onChange={({ currentTarget }) => onChange({ ...filter, agent: currentTarget.value })}
        >
          <option value="">all agents</option>
          {agents.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      )}
      <fieldset class="kind-chips">
        <legend class="unseen">Rows of these kinds</legend>
        {ALL_KINDS.map((kind) => (
          <button
            key={kind}
            type="button"
            class="kind-chip"
            disabled={isWhole && kind === "other"}
            aria-pressed={kind === "other" ? filter.withOther : filter.kinds.includes(kind)}
            onClick={() => onChange(withKind(filter, kind))}
          >
            <span class={`kind kind-${kind}`} aria-hidden="true">
              {KINDS[kind].sign}
            </span>
            {KINDS[kind].word}
            {kind === "other" && hidden !== undefined && hidden > 0 && ` (${hidden.toLocaleString("en-US")} hidden)`}
          </button>
        ))}
      </fieldset>
      {!isWhole && filterQuery(filter) !== filterQuery(NO_FILTER) && (
        <button type="button" class="quiet" onClick={clear}>
          Show all
        </button>
      )}
    </div>
  );
}
