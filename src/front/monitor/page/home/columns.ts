// The columns of the list of contexts: which have something to show, and which of those fit. Pure.
import type { ContextRow } from "../../api.ts";
import { SORTS, type Sort } from "./list-order.ts";

export interface Column {
  sort: Sort;
  heading: string;
  /** What the heading means, where that is not plain. */
  title?: string;
  /** Pixels; 0: what the others leave. */
  width: number;
  isNumber: boolean;
}

const COLUMNS: Readonly<Record<Sort, Omit<Column, "sort">>> = {
  status: { heading: "Status", width: 96, isNumber: false },
  title: { heading: "Context", width: 0, isNumber: false },
  project: { heading: "Project", width: 112, isNumber: false },
  updated: { heading: "Updated", width: 64, isNumber: true },
  events: { heading: "Events", title: "its size", width: 60, isNumber: true },
  data: { heading: "Data", title: "bytes of shared data", width: 64, isNumber: true },
  rounds: { heading: "Rounds", title: "model calls", width: 58, isNumber: true },
  tokens: { heading: "Tokens", title: "in and out, cached too", width: 62, isNumber: true },
  cost: { heading: "Cost", width: 68, isNumber: true },
  ttl: { heading: "TTL", title: "how long until it may be removed", width: 56, isNumber: true },
  host: { heading: "Host", title: "the process that runs it", width: 124, isNumber: false },
  backup: { heading: "Backup", title: "events that are not in the last backup yet", width: 60, isNumber: true },
};

/** What is left out last stands first; the title never is. */
const BY_WORTH: readonly Sort[] = [
  ...(["status", "updated", "cost", "tokens", "events", "project", "host"] as const),
  ...(["data", "rounds", "ttl", "backup"] as const),
];

/** As in context-list.css. */
const COLUMN_GAP = 12;
const PADDING = 16;
const LEAST_TITLE = 260;
/** Narrower, a context takes two lines, and there are no headings. */
export const NARROW = 640;

/** Whether there is anything to show under that heading. */
function isUsed(sort: Sort, rows: readonly ContextRow[], projects: number): boolean {
  switch (sort) {
    case "project":
      return projects > 1;
    case "data":
      return rows.some(({ dataBytes }) => dataBytes !== undefined && dataBytes > 0);
    case "rounds":
      return rows.some(({ rounds }) => rounds !== undefined);
    case "tokens":
    case "cost":
      return rows.some(({ tokens }) => tokens !== undefined);
    case "ttl":
      return rows.some(({ ttlMs }) => ttlMs !== undefined);
    case "host":
      return rows.some(({ host }) => host !== undefined);
    case "backup":
      return rows.some(({ backup }) => backup !== undefined);
    default:
      return true;
  }
}

export function usedColumns(rows: readonly ContextRow[], projects: number): Sort[] {
  return SORTS.filter((sort) => isUsed(sort, rows, projects));
}

/** Contract: in the order of the list; the least that is worth showing is left out first. */
export function fittingColumns(width: number, used: readonly Sort[]): Column[] {
  let left = width - 2 * PADDING - LEAST_TITLE;
  const fits = new Set<Sort>(["title"]);
  for (const sort of BY_WORTH) {
    if (!used.includes(sort)) continue;
    left -= COLUMNS[sort].width + COLUMN_GAP;
    if (left < 0) break;
    fits.add(sort);
  }
  return SORTS.filter((sort) => fits.has(sort)).map((sort) => ({ sort, ...COLUMNS[sort] }));
}

export const headingOf = (sort: Sort): string => COLUMNS[sort].heading;

/** For `grid-template-columns`. */
export const templateOf = (columns: readonly Column[]): string =>
  columns.map(({ width }) => (width === 0 ? "minmax(0, 1fr)" : `${width}px`)).join(" ");
