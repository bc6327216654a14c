// All contexts of all projects: a list that is sorted, narrowed and opened, however long it is.
import type { VNode } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ContextRow, RowStatus } from "../../api.ts";
import { Cost, Tokens } from "../components/figures.tsx";
import { counted } from "../format.ts";
import { goTo } from "../navigation.ts";
import { type Known, keyOfContext } from "../overview.ts";
import { useKeys } from "../parts.tsx";
import { VirtualList } from "../virtual-list.tsx";
import { type Column, fittingColumns, NARROW, templateOf, usedColumns } from "./columns.ts";
import { ContextCells, ContextLines } from "./context-cells.tsx";
import { firstDirection, isFound, isListed, type ListQuery, type Sort, sorted, sumsOf } from "./list-order.ts";
import { ListTools } from "./list-tools.tsx";

const HEAD_HEIGHT = 30;
const ROW_HEIGHT = 44;
const NARROW_ROW_HEIGHT = 56;

interface ContextListProps {
  known: Known;
  query: ListQuery;
  onQuery(query: ListQuery): void;
  /** j and k move in it wherever the focus is. */
  isMain: boolean;
}

export function ContextList({ known, query, onQuery, isMain }: ContextListProps) {
  const { contexts, projects } = known;
  const [box, width] = useWidth();
  const [selected, setSelected] = useState<string | undefined>(undefined);
  const names = useMemo(() => new Map(projects.map(({ id, name }) => [id, name])), [projects]);
  const nameOf = (project: string) => names.get(project) ?? project;
  const all = useMemo(() => [...contexts.values()], [contexts]);
  const counts = useMemo(() => statusCounts(all, query), [all, query]);
  const used = useMemo(() => usedColumns(all, projects.length), [all, projects.length]);
  const list = useList(all, query, nameOf);
  const isNarrow = width < NARROW;
  const columns = useMemo(() => (isNarrow ? [] : fittingColumns(width, used)), [isNarrow, width, used]);
  const rendered = useRendered(columns, names);
  useKeys([{ keys: "/", says: "find a context", run: () => document.getElementById("find")?.focus() }]);
  const open = (_: number, row: ContextRow | undefined) =>
    row && goTo({ kind: "context", project: row.project, context: row.context, view: "transcript" });
  return (
    <section id="contexts" class="contexts" aria-labelledby="contexts-title" tabIndex={-1}>
      <div class="section-title">
        <h2 id="contexts-title">Contexts</h2>
        <ListTools {...{ query, counts, projects, onChange: onQuery }} sorts={isNarrow ? used : undefined} />
      </div>
      <div
        ref={box}
        class={isNarrow ? "contexts-list narrow" : "contexts-list"}
        style={{ "--columns": templateOf(columns) }}
      >
        <VirtualList<ContextRow>
          label="Contexts"
          total={list.rows.length}
          rowHeight={isNarrow ? NARROW_ROW_HEIGHT : ROW_HEIGHT}
          version={`${list.version} ${isNarrow}`}
          fetchWindow={(from, count) => list.rows.slice(from, from + count)}
          keyOf={keyOfContext}
          positionOf={(key) => list.positions.get(key)}
          selected={selected === undefined ? undefined : list.positions.get(selected)}
          onSelect={(_, row) => setSelected(row && keyOfContext(row))}
          onOpen={open}
          opensOnClick
          isMain={isMain}
          grid={{
            height: isNarrow ? 0 : HEAD_HEIGHT,
            columns: isNarrow ? 1 : columns.length,
            head: isNarrow ? undefined : <Head columns={columns} query={query} onQuery={onQuery} />,
          }}
          renderRow={rendered}
        />
        {list.rows.length === 0 && (
          <Nothing
            isNarrowed={all.length > 0}
            onAll={() => onQuery({ ...query, statuses: [], project: undefined, words: "" })}
          />
        )}
      </div>
      <Foot rows={list.rows} known={known} />
    </section>
  );
}

interface List {
  rows: ContextRow[];
  positions: ReadonlyMap<string, number>;
  /** Another number for other rows. */
  version: number;
}

function useList(all: readonly ContextRow[], query: ListQuery, nameOf: (project: string) => string): List {
  const version = useRef(0);
  return useMemo(() => {
    const rows = sorted(
      all.filter((row) => isListed(row, query)),
      query,
      nameOf,
    );
    version.current++;
    return { rows, positions: new Map(rows.map((row, i) => [keyOfContext(row), i])), version: version.current };
  }, [all, query]);
}

/** A row that is the same is not compared again, cell by cell, with each step of scrolling. */
function useRendered(columns: readonly Column[], names: ReadonlyMap<string, string>): (row: ContextRow) => VNode {
  const kept = useMemo(() => new WeakMap<ContextRow, VNode>(), [columns, names]);
  return (row) => {
    const known = kept.get(row);
    if (known) return known;
    const cell = { row, projectName: names.get(row.project) ?? row.project };
    const made = columns.length === 0 ? <ContextLines {...cell} /> : <ContextCells {...cell} columns={columns} />;
    kept.set(row, made);
    return made;
  };
}

function statusCounts(all: readonly ContextRow[], query: ListQuery): Map<RowStatus, number> {
  const counts = new Map<RowStatus, number>();
  for (const row of all) if (isFound(row, query)) counts.set(row.status, (counts.get(row.status) ?? 0) + 1);
  return counts;
}

/** Of the place that the list has. */
function useWidth() {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(() => innerWidth);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const seen = new ResizeObserver(() => setWidth(element.clientWidth));
    seen.observe(element);
    setWidth(element.clientWidth);
    return () => seen.disconnect();
  }, []);
  return [box, width] as const;
}

interface HeadProps {
  columns: readonly Column[];
  query: ListQuery;
  onQuery(query: ListQuery): void;
}

function Head({ columns, query, onQuery }: HeadProps) {
  const sortBy = (sort: Sort) => {
    const turned = query.direction === "ascending" ? "descending" : "ascending";
    onQuery({ ...query, sort, direction: sort === query.sort ? turned : firstDirection(sort) });
  };
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: its buttons have the focus
    // biome-ignore lint/a11y/useSemanticElements: rows of a list that is not whole in the document are no table
    <div class="list-head context-cells" role="row" aria-rowindex={1}>
      {columns.map(({ sort, heading, title, isNumber }) => (
        // biome-ignore lint/a11y/useFocusableInteractive: its button has the focus
        // biome-ignore lint/a11y/useSemanticElements: no table, as its row
        <div
          key={sort}
          role="columnheader"
          aria-sort={sort === query.sort ? query.direction : "none"}
          class={isNumber ? "number" : ""}
        >
          <button type="button" class="quiet" title={title} onClick={() => sortBy(sort)}>
            {heading}
            <span class="direction" aria-hidden="true">
              {sort !== query.sort ? "" : query.direction === "ascending" ? "↑" : "↓"}
            </span>
          </button>
        </div>
      ))}
    </div>
  );
}

function Nothing({ isNarrowed, onAll }: { isNarrowed: boolean; onAll(): void }) {
  return (
    <div class="nothing">
      {isNarrowed ? (
        <>
          <p>No context fits.</p>
          <button type="button" onClick={onAll}>
            Show all
          </button>
        </>
      ) : (
        <p>
          Nothing has run here yet. Start with <code>holdfast -p "…"</code> in a project: it appears here at once.
        </p>
      )}
    </div>
  );
}

function Foot({ rows, known }: { rows: readonly ContextRow[]; known: Known }) {
  const sums = useMemo(() => sumsOf(rows), [rows]);
  const isAll = rows.length === known.total;
  return (
    <p class="list-foot">
      <span>
        {isAll
          ? counted(rows.length, "context")
          : `${rows.length.toLocaleString("en-US")} of ${counted(known.total, "context")}`}
      </span>
      {rows.length > sums.missing && (
        <>
          <span>
            tokens <Tokens counts={sums.tokens} both />
          </span>
          <span>
            <Cost usd={sums.usd} unpriced={sums.unpriced} />
          </span>
          {sums.missing > 0 && (
            <span class="quiet-ink">without {sums.missing.toLocaleString("en-US")} not read yet</span>
          )}
        </>
      )}
    </p>
  );
}
