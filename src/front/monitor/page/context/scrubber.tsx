// The scrubber: any event of the context, by dragging, by keys, by prompts. It never waits for what it shows.
import { useRef } from "preact/hooks";
import type { ContextKey } from "../../api.ts";
import type { EventRow, RowsWindow } from "../../context-api.ts";
import { contextPath } from "../client.ts";
import { moment } from "../format.ts";
import { useKeys, useNow, useParts } from "../parts.tsx";
import { KindSign } from "./kind-sign.tsx";
import { KINDS } from "./kinds.ts";
import type { Moment } from "./use-moment.ts";

interface ScrubberProps extends ContextKey {
  head: number;
  looked: Moment;
}

/** A hundred presses of Page Up cross any context. */
const largeStep = (head: number): number => Math.max(10, Math.round(head / 100));

export function Scrubber({ project, context, head, looked }: ScrubberProps) {
  const { client, announce } = useParts();
  const now = useNow();
  const stepping = useRef<AbortController | undefined>(undefined);
  const value = looked.wanted ?? head;
  const row = looked.wanted === looked.row?.seq ? looked.row : undefined;
  const goTo = (seq: number) => looked.goTo(seq >= head ? undefined : Math.max(1, seq));

  /** To a prompt, or where a turn begins or ends. */
  const stepTo = async (direction: "before" | "after") => {
    stepping.current?.abort();
    const own = new AbortController();
    stepping.current = own;
    const rows = `${contextPath({ project, context })}/rows?kinds=prompt,turn&count=1`;
    const ask = (query: string) => client.get<RowsWindow>(`${rows}&${query}`, own.signal);
    try {
      const upTo = direction === "before" ? value - 1 : value;
      const { rows: last, total } = await ask(`from=-1&upTo=${upTo}`);
      const found = direction === "before" ? last[0] : (await ask(`from=${total}`)).rows[0];
      if (own.signal.aborted) return;
      if (found) {
        goTo(found.seq);
        announce(spoken(found.seq, head, found));
      } else announce(direction === "before" ? "there is none before it" : "there is none after it");
    } catch {
      if (!own.signal.aborted) announce("the monitor does not answer");
    }
  };
  useKeys([
    { keys: "[", says: "the moment of the prompt or turn before", run: () => void stepTo("before") },
    { keys: "]", says: "the moment of the next prompt or turn", run: () => void stepTo("after") },
  ]);
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === "PageUp" ? -1 : event.key === "PageDown" ? 1 : 0;
    if (by === 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    goTo(value + by * largeStep(head));
  };
  return (
    <div class="scrubber">
      <button
        type="button"
        class="quiet"
        aria-label="The prompt or turn before"
        title="The prompt or turn before  ["
        disabled={value <= 1}
        onClick={() => void stepTo("before")}
      >
        ◂
      </button>
      <input
        type="range"
        aria-label="Moment: an event of this context"
        aria-valuetext={spoken(value, head, row)}
        min={1}
        max={Math.max(1, head)}
        step={1}
        value={value}
        onInput={({ currentTarget }) => goTo(Number(currentTarget.value))}
        onKeyDown={onKeyDown}
      />
      <button
        type="button"
        class="quiet"
        aria-label="The next prompt or turn"
        title="The next prompt or turn  ]"
        disabled={value >= head}
        onClick={() => void stepTo("after")}
      >
        ▸
      </button>
      <span class="scrubber-says" aria-hidden="true">
        <b>{value.toLocaleString("en-US")}</b>
        <span class="quiet-ink"> of {head.toLocaleString("en-US")}</span>
        {row && (
          <>
            <span class="quiet-ink"> {moment(row.at, now)} </span>
            <KindSign kind={row.kind} /> <span class="others">{row.title}</span>
          </>
        )}
        {looked.wanted === undefined && (
          <span class="quiet-ink"> · now. Drag, or press [ to look at a moment before.</span>
        )}
      </span>
    </div>
  );
}

function spoken(value: number, head: number, row: EventRow | undefined): string {
  if (value >= head) return `now, event ${head}`;
  return row
    ? `event ${value} of ${head}, ${KINDS[row.kind].word} of ${row.agent}: ${row.title}`
    : `event ${value} of ${head}`;
}
