// A list of any length of which only what is looked at is in the document. Rows have one height; they come by position.
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useKeys } from "./parts.tsx";
import { createRowWindows, type FetchWindow } from "./row-windows.ts";

export interface VirtualListProps<Row> {
  /** For who cannot see it. */
  label: string;
  total: number;
  rowHeight: number;
  fetchWindow: FetchWindow<Row>;
  /** Another one (another filter, another order): what was kept is dropped. Rows added at the end need none, only a larger `total`. */
  version: string | number;
  /** The same rows as of another moment: those that are there are shown until the new ones are. */
  edition?: string | number;
  keyOf(row: Row): string;
  renderRow(row: Row, position: number): ComponentChildren;
  classOf?(row: Row): string;
  selected?: number | undefined;
  onSelect?(position: number, row: Row | undefined): void;
  /** Enter and a double click; with `opensOnClick` a click too. */
  onOpen?(position: number, row: Row | undefined): void;
  opensOnClick?: boolean;
  /** When it becomes another position, that one is brought into view. */
  reveal?: number | undefined;
  /** Begins at the end, and stays there while rows are added, as long as the reader is there. */
  followsEnd?: boolean;
  /** Told when the reader comes to the end, or leaves it. */
  onAtEnd?(isAtEnd: boolean): void;
  /** Where a row is now: with it the list keeps its place when rows come or go above what is looked at. */
  positionOf?(key: string): number | undefined;
  /** Rows are cells under headings (`role="gridcell"`); the headings stay in sight while rows move below them. */
  grid?: { head: ComponentChildren; height: number; columns: number } | undefined;
  /** j and k move in this one wherever the focus is. */
  isMain?: boolean;
  children?: ComponentChildren;
}

const MARGIN_ROWS = 8;
/** Whatever the height of the window: rows of all lists together stay far below what a browser lays out without being noticed. */
const MOST_ROWS = 130;

export function VirtualList<Row>(props: VirtualListProps<Row>) {
  const { total, rowHeight, fetchWindow, version, selected, reveal, grid, followsEnd = false, edition = 0 } = props;
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const [first, setFirst] = useState(0);
  const [height, setHeight] = useState(600);
  const [, setTick] = useState(0);
  const windows = useMemo(() => createRowWindows<Row>(() => setTick((n) => n + 1)), []);
  const isAtEnd = useRef(followsEnd);
  const anchor = useRef<{ key: string; position: number } | undefined>(undefined);
  const moved = useRef(false);
  const kept = useRef(version);

  if (kept.current !== version) {
    kept.current = version;
    windows.clear();
  }
  const shown = Math.min(Math.ceil(height / rowHeight) + 1, MOST_ROWS - 2 * MARGIN_ROWS);
  const from = Math.max(0, Math.min(first, total - 1) - MARGIN_ROWS);
  const to = Math.min(total, first + shown + MARGIN_ROWS);
  windows.want({ from, to, total, edition, fetchWindow });

  const look = () => {
    const element = box.current;
    if (!element) return;
    const isAtEndNow = element.scrollTop + element.clientHeight >= element.scrollHeight - rowHeight;
    if (isAtEndNow !== isAtEnd.current) props.onAtEnd?.(isAtEndNow);
    isAtEnd.current = isAtEndNow;
    const top = Math.floor(element.scrollTop / rowHeight);
    setFirst(top);
    const row = windows.at(top);
    anchor.current =
      row === undefined || element.scrollTop === 0 ? undefined : { key: props.keyOf(row), position: top };
  };

  const bringIntoView = (position: number) => {
    const element = box.current;
    if (!element) return;
    const top = position * rowHeight;
    const seen = element.clientHeight - (grid?.height ?? 0);
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + seen) element.scrollTop = top + rowHeight - seen;
    look();
  };

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const seen = new ResizeObserver(() => {
      setHeight(element.clientHeight);
      if (followsEnd && isAtEnd.current) element.scrollTop = element.scrollHeight;
    });
    seen.observe(element);
    setHeight(element.clientHeight);
    return () => {
      seen.disconnect();
      windows.clear();
    };
  }, [windows, followsEnd]);

  // when rows are added or change places, and only then
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    if (followsEnd && isAtEnd.current) element.scrollTop = element.scrollHeight;
    const { key, position } = anchor.current ?? { key: "", position: 0 };
    const now = anchor.current && props.positionOf?.(key);
    if (now !== undefined && now !== position) element.scrollTop += (now - position) * rowHeight;
    look();
  }, [total, version]);

  // when another is to be shown
  useLayoutEffect(() => {
    if (reveal !== undefined) bringIntoView(reveal);
  }, [reveal]);

  // after a key moved the selection, not when rows move below it
  useLayoutEffect(() => {
    if (moved.current && selected !== undefined) bringIntoView(selected);
    moved.current = false;
  }, [selected]);

  const select = (position: number) => {
    const within = Math.max(0, Math.min(total - 1, position));
    if (total === 0) return;
    moved.current = within !== selected;
    props.onSelect?.(within, windows.at(within));
  };
  const step = (by: number) => {
    box.current?.focus({ preventScroll: true });
    select(selected === undefined ? (followsEnd && isAtEnd.current ? total - 1 : first) : selected + by);
  };
  const open = () => selected !== undefined && props.onOpen?.(selected, windows.at(selected));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(height / rowHeight) - 1);
    const moves: Record<string, () => void> = {
      ArrowDown: () => step(1),
      ArrowUp: () => step(-1),
      j: () => step(1),
      k: () => step(-1),
      PageDown: () => step(page),
      PageUp: () => step(-page),
      Home: () => select(0),
      End: () => select(total - 1),
      Enter: open,
    };
    const move = Object.hasOwn(moves, event.key) ? moves[event.key] : undefined;
    if (!move) return;
    event.preventDefault();
    move();
  };
  useKeys(
    props.isMain
      ? [
          { keys: "j", says: "the next row", run: () => step(1) },
          { keys: "k", says: "the row before", run: () => step(-1) },
          ...(props.onOpen ? [{ keys: "Enter", says: "open the row" }] : []),
        ]
      : [],
  );

  const rows = [];
  for (let position = from; position < to; position++) {
    const row = windows.at(position);
    const isSelected = position === selected;
    const classes = `row${isSelected ? " selected" : ""}${row === undefined ? " absent" : ` ${props.classOf?.(row) ?? ""}`}`;
    rows.push(
      // biome-ignore lint/a11y/useKeyWithClickEvents: keys are the list's own
      // biome-ignore lint/a11y/noStaticElementInteractions: it is a row or an option
      // biome-ignore lint/a11y/useAriaPropsSupportedByRole: of each role what it has
      <div
        key={row === undefined ? `at ${position}` : props.keyOf(row)}
        id={`${id}-${position}`}
        aria-selected={isSelected}
        role={grid ? "row" : "option"}
        aria-rowindex={grid && position + 2}
        aria-posinset={grid ? undefined : position + 1}
        aria-setsize={grid ? undefined : total}
        class={classes}
        style={{ height: `${rowHeight}px` }}
        onClick={() => {
          select(position);
          if (props.opensOnClick) props.onOpen?.(position, row);
        }}
        onDblClick={() => props.onOpen?.(position, row)}
      >
        {row === undefined ? "…" : props.renderRow(row, position)}
      </div>,
    );
  }
  const isActiveShown = selected !== undefined && selected >= from && selected < to;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it is a grid or a list box
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: of each role what it has
    <div
      ref={box}
      class="virtual-list"
      role={total === 0 ? "group" : grid ? "grid" : "listbox"}
      aria-rowcount={grid && total + 1}
      aria-colcount={grid?.columns}
      aria-label={props.label}
      tabIndex={0}
      aria-activedescendant={isActiveShown ? `${id}-${selected}` : undefined}
      onScroll={look}
      onKeyDown={onKeyDown}
    >
      {grid?.head}
      {total === 0 && props.children}
      <div class="rows-all" role="presentation" style={{ height: `${total * rowHeight}px` }}>
        <div class="rows-shown" role="presentation" style={{ transform: `translateY(${from * rowHeight}px)` }}>
          {rows}
        </div>
      </div>
    </div>
  );
}
