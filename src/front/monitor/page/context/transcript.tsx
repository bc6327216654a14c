// Every event of a context as a line: any number of them, filtered, up to the moment that is looked at; what is chosen is shown in full.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { EventRow, RowsWindow } from "../../context-api.ts";
import { contextPath } from "../client.ts";
import { counted } from "../format.ts";
import { useAnswer, useParts } from "../parts.tsx";
import { VirtualList } from "../virtual-list.tsx";
import { EventLine, lineClass } from "./event-line.tsx";
import { EVENT_PANEL, EventPanel } from "./event-panel.tsx";
import { Filters } from "./filters.tsx";
import type { LiveContext } from "./live.ts";
import { filterQuery, isByKind, isPlain, kindsOf, NO_FILTER, type RowFilter } from "./row-filter.ts";
import type { TabProps } from "./tab.ts";
import { useEvery } from "./use-every.ts";
import { useNarrow } from "./use-narrow.ts";

const COUNT_EVERY_MS = 300;

interface Chosen {
  seq: number;
  /** Where it stands in the filter, where that is known. */
  position: number | undefined;
  /** It is shown in full. */
  isOpen: boolean;
}

export function Transcript({ project, context, seq, page, live, goTo }: TabProps) {
  const { client } = useParts();
  const isNarrow = useNarrow();
  const [given, setFilter] = useState<RowFilter>(NO_FILTER);
  const [chosen, setChosen] = useState<Chosen | undefined>(undefined);
  const [isAtEnd, setAtEnd] = useState(true);
  const [reveal, setReveal] = useState<number | undefined>(undefined);
  const upTo = seq === undefined ? "" : `&upTo=${seq}`;
  // A restore leaves rows behind that are here already.
  const edition = seq ?? `now ${live.last.checkpoint}`;
  const rows = `${contextPath({ project, context })}/rows`;
  const isFirst = filterQuery(given) === filterQuery(NO_FILTER);
  const all = { ...given, withOther: true };
  const path = `${rows}?from=0&count=1${filterQuery(given)}${upTo}`;
  const { total: found, isFresh } = useTotal({ path, filter: isFirst && seq !== undefined ? all : given, seq, live });
  // Every event is a moment: where one is looked at, it has its row. And a long context shows its rows before they are counted.
  const isWhole = isFirst && (seq !== undefined || !isFresh);
  const filter = isWhole ? all : given;
  const query = filterQuery(filter);
  const total = isWhole ? (seq ?? live.head) : found;
  const seen = useSeen(total, isAtEnd || seq !== undefined);

  const fetchWindow = useCallback(
    async (from: number, count: number, signal: AbortSignal) =>
      (await client.get<RowsWindow>(`${rows}?from=${from}&count=${count}${query}${upTo}`, signal)).rows,
    [client, rows, query, upTo],
  );
  // The moment's own event is the last row then: it is chosen, and shown.
  useEffect(() => {
    if (seq === undefined) return;
    setChosen((before) => ({ seq, position: undefined, isOpen: before?.isOpen ?? !isNarrow }));
  }, [seq, isNarrow]);
  const atMoment = seq !== undefined && isFresh && chosen?.seq === seq ? total - 1 : undefined;
  const position = atMoment ?? (isPlain(filter) && chosen ? chosen.seq - 1 : chosen?.position);
  const choose = (at: number, row: EventRow | undefined) => {
    const known = row?.seq ?? (isPlain(filter) ? at + 1 : undefined);
    if (known !== undefined) setChosen({ seq: known, position: at, isOpen: true });
  };
  const filtered = (next: RowFilter) => {
    setFilter(next);
    setChosen((before) => before && { ...before, position: undefined });
  };
  return (
    <div class={`transcript${chosen?.isOpen ? " with-panel" : ""}`}>
      <Filters
        filter={filter}
        agents={page.agents.map(({ name }) => name)}
        isWhole={isWhole}
        hidden={isFirst && !isWhole ? (seq ?? live.head) - total : undefined}
        onChange={filtered}
      />
      <div class="list-place">
        <VirtualList<EventRow>
          label="Events"
          total={total}
          rowHeight={isNarrow ? 46 : 26}
          fetchWindow={fetchWindow}
          version={query}
          edition={edition}
          keyOf={(row) => String(row.seq)}
          renderRow={(row) => <EventLine row={row} />}
          classOf={lineClass}
          selected={position}
          onSelect={choose}
          onOpen={() => document.getElementById(EVENT_PANEL)?.focus()}
          reveal={atMoment ?? reveal}
          followsEnd
          onAtEnd={setAtEnd}
          isMain
        >
          <p class="alone quiet-ink">No row is like that.</p>
        </VirtualList>
        {seen < total && (
          <button type="button" class="main news" onClick={() => setReveal(total - 1)}>
            {counted(total - seen, "new row")} ↓
          </button>
        )}
      </div>
      {chosen?.isOpen && (
        <EventPanel
          project={project}
          context={context}
          seq={chosen.seq}
          moment={seq}
          goTo={goTo}
          onClose={() => setChosen({ ...chosen, isOpen: false })}
        />
      )}
    </div>
  );
}

interface TotalOptions {
  path: string;
  filter: RowFilter;
  seq: number | undefined;
  live: LiveContext;
}

/** Rows of the filter in all. Without one that is known; with one it is asked, and anew when something came in. `isFresh`: it is of this filter and moment. */
function useTotal({ path, filter, seq, live }: TotalOptions): { total: number; isFresh: boolean } {
  const plain = isPlain(filter);
  const { value, of, again } = useAnswer<RowsWindow>(plain ? undefined : path);
  const isFresh = of === path && value !== undefined;
  const isOld = !plain && seq === undefined && isFresh && value.head < live.head;
  useEvery(COUNT_EVERY_MS, isOld, again);
  if (plain) return { total: seq ?? live.head, isFresh: true };
  return { total: (value?.total ?? 0) + (isOld ? cameSince(value.head, filter, live) : 0), isFresh };
}

/** What came in meanwhile is shown at once, not when it was counted. */
function cameSince(head: number, filter: RowFilter, { recent }: LiveContext): number {
  const kinds = kindsOf(filter);
  if (!isByKind(filter) || (recent[0]?.seq ?? Number.POSITIVE_INFINITY) > head + 1) return 0;
  return recent.filter(({ seq, kind }) => seq > head && (!kinds || kinds.includes(kind))).length;
}

/** How many rows there were when the reader was last at the end. */
function useSeen(total: number, isAtEnd: boolean): number {
  const seen = useRef(total);
  if (isAtEnd || total < seen.current) seen.current = total;
  return seen.current;
}
