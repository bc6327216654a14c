// The rows of a long list that are kept: pages around what is looked at. Bounded; what nobody looks at any more is not waited for.

/** Contract: gives the rows from position `from` on, at most `count`, at once or later; `signal` ends what is not wanted any more. */
export type FetchWindow<Row> = (
  from: number,
  count: number,
  signal: AbortSignal,
) => readonly Row[] | Promise<readonly Row[]>;

interface Wanted<Row> {
  from: number;
  /** Behind the last. */
  to: number;
  total: number;
  /** Rows of another edition are shown until those of this one are there. */
  edition: string | number;
  fetchWindow: FetchWindow<Row>;
}

export interface RowWindows<Row> {
  at(position: number): Row | undefined;
  /** Asks for what is missing there, and for nothing else any more. */
  want(wanted: Wanted<Row>): void;
  clear(): void;
}

const PAGE = 50;
/** 2,000 rows: some screens to each side of several places. */
const KEPT_PAGES = 40;
const AGAIN_MS = 1000;

interface Page<Row> {
  rows: readonly Row[];
  /** How many there were in all when it was asked for: a page that is short is asked for again only when there are others. */
  total: number;
  edition: string | number;
}

/** Contract: `onChange` is called when rows came later, or when it is time to ask again for what failed. */
export function createRowWindows<Row>(onChange: () => void): RowWindows<Row> {
  const pages = new Map<number, Page<Row>>();
  const asked = new Map<number, AbortController>();

  function keep(index: number, page: Page<Row>): void {
    pages.delete(index);
    pages.set(index, page);
    for (const oldest of pages.keys()) {
      if (pages.size <= KEPT_PAGES) return;
      pages.delete(oldest);
    }
  }

  async function arrives(index: number, coming: Promise<Page<Row>>, end: AbortController) {
    try {
      const page = await coming;
      if (end.signal.aborted) return;
      asked.delete(index);
      keep(index, page);
      onChange();
    } catch {
      if (end.signal.aborted) return;
      setTimeout(() => {
        if (asked.get(index) !== end) return;
        asked.delete(index);
        onChange();
      }, AGAIN_MS);
    }
  }

  function ask(index: number, { total, edition, fetchWindow }: Wanted<Row>): void {
    const end = new AbortController();
    const from = index * PAGE;
    const rows = fetchWindow(from, Math.min(PAGE, total - from), end.signal);
    if (!(rows instanceof Promise)) {
      keep(index, { rows, total, edition });
      return;
    }
    asked.set(index, end);
    const coming = rows.then((whole) => ({ rows: whole, total, edition }));
    void arrives(index, coming, end);
  }

  function drop(index: number): void {
    asked.get(index)?.abort();
    asked.delete(index);
  }

  return {
    at: (position) => pages.get(Math.floor(position / PAGE))?.rows[position % PAGE],
    want(wanted) {
      const first = Math.floor(wanted.from / PAGE);
      const last = Math.floor((Math.min(wanted.to, wanted.total) - 1) / PAGE);
      for (const index of asked.keys()) if (index < first || index > last) drop(index);
      for (let index = first; index <= last; index++) {
        const expected = Math.min(PAGE, wanted.total - index * PAGE);
        const page = pages.get(index);
        if (page) keep(index, page);
        const isWhole = page && (page.rows.length >= expected || page.total === wanted.total);
        const isFresh = isWhole && page.edition === wanted.edition;
        // One question at a time for each page: rows that come quicker than answers must not cancel every answer.
        if (!isFresh && !asked.has(index)) ask(index, wanted);
      }
    },
    clear() {
      pages.clear();
      for (const index of [...asked.keys()]) drop(index);
    },
  };
}
