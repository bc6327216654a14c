// Which contexts are listed, in which order, and what they come to together. Pure.
import type { ContextRow, RowStatus, TokenCounts } from "../../api.ts";
import { tokensIn } from "../format.ts";
import { keyOfContext } from "../overview.ts";

export const STATUSES: readonly RowStatus[] = [
  ...(["waiting", "running", "interrupted", "failed", "paused", "idle", "completed"] as const),
];

export const SORTS = [
  ...(["status", "title", "project", "updated", "events", "data", "rounds", "tokens", "cost"] as const),
  ...(["ttl", "host", "backup"] as const),
];
export type Sort = (typeof SORTS)[number];

/** What is asked of the list: it stands in the address. */
export interface ListQuery {
  /** None: all. */
  statuses: readonly RowStatus[];
  project: string | undefined;
  words: string;
  sort: Sort;
  direction: "ascending" | "descending";
}

export const FIRST_QUERY: ListQuery = {
  ...{ statuses: [], project: undefined, words: "" },
  ...{ sort: "updated", direction: "descending" },
};

/** What one looks for first under that heading: the newest, the most; of names the first. */
export const firstDirection = (sort: Sort): ListQuery["direction"] =>
  sort === "status" || sort === "title" || sort === "project" || sort === "host" || sort === "ttl"
    ? "ascending"
    : "descending";

export function queryOf(address: string): ListQuery {
  const asked = new URLSearchParams(address.split("?", 2)[1] ?? "");
  const names = asked.get("status")?.split(",") ?? [];
  const sort = SORTS.find((one) => one === asked.get("sort")) ?? FIRST_QUERY.sort;
  const given = (["ascending", "descending"] as const).find((one) => one === asked.get("order"));
  return {
    statuses: STATUSES.filter((one) => names.includes(one)),
    project: asked.get("project") ?? undefined,
    words: asked.get("find") ?? "",
    ...{ sort, direction: given ?? firstDirection(sort) },
  };
}

export function addressOfQuery({ statuses, project, words, sort, direction }: ListQuery): string {
  const asked = new URLSearchParams();
  if (statuses.length > 0) asked.set("status", statuses.join(","));
  if (project !== undefined) asked.set("project", project);
  if (words !== "") asked.set("find", words);
  if (sort !== FIRST_QUERY.sort) asked.set("sort", sort);
  if (direction !== firstDirection(sort)) asked.set("order", direction);
  return asked.size > 0 ? `#/?${asked}` : "#/";
}

/** Full and half width, large and small letters are the same. */
const plain = (given: string): string => given.normalize("NFKC").toLowerCase();

export function isListed(row: ContextRow, { statuses, project, words }: ListQuery): boolean {
  if (statuses.length > 0 && !statuses.includes(row.status)) return false;
  return isFound(row, { project, words });
}

/** Without regard to its status: what the chips count. */
export function isFound(row: ContextRow, { project, words }: Pick<ListQuery, "project" | "words">): boolean {
  if (project !== undefined && row.project !== project) return false;
  if (words.trim() === "") return true;
  const where = plain(`${row.title}\n${row.context}\n${row.folder}`);
  return plain(words)
    .split(/\s+/)
    .every((word) => where.includes(word));
}

/** What a column compares by. Undefined, what is not known, comes last in both directions. */
function sortValue(row: ContextRow, sort: Sort, nameOf: (project: string) => string): string | number | undefined {
  switch (sort) {
    case "status":
      return STATUSES.indexOf(row.status);
    case "title":
      return plain(row.title);
    case "project":
      return plain(nameOf(row.project));
    case "updated":
      return row.updatedAt;
    case "events":
      return row.events;
    case "data":
      return row.dataBytes;
    case "rounds":
      return row.rounds;
    case "tokens":
      return row.tokens && tokensIn(row.tokens) + row.tokens.output;
    case "cost":
      return row.cost?.usd;
    case "ttl":
      return ttlEndOf(row);
    case "host":
      return row.host && `${row.host.machine} ${row.host.pid}`;
    case "backup":
      return row.backup?.lag;
  }
}

/** When it may be removed; undefined: never. */
export const ttlEndOf = ({ ttlMs, updatedAt }: ContextRow): number | undefined =>
  ttlMs === undefined ? undefined : updatedAt + ttlMs;

/** Contract: those that are the same by the column stand newest first, then by id: nothing changes places by chance. */
export function sorted(
  rows: readonly ContextRow[],
  { sort, direction }: Pick<ListQuery, "sort" | "direction">,
  nameOf: (project: string) => string,
): ContextRow[] {
  const sign = direction === "ascending" ? 1 : -1;
  return rows
    .map((row) => ({ row, value: sortValue(row, sort, nameOf) }))
    .sort((a, b) => compared(a.value, b.value, sign) || newerFirst(a.row, b.row))
    .map(({ row }) => row);
}

/** As a reader expects it: 9 before 10. */
const byName = new Intl.Collator(undefined, { numeric: true });

function compared(a: string | number | undefined, b: string | number | undefined, sign: 1 | -1): number {
  if (a === b) return 0;
  if (a === undefined) return 1;
  if (b === undefined) return -1;
  const areNumbers = typeof a === "number" && typeof b === "number";
  return (areNumbers ? a - b : byName.compare(String(a), String(b))) * sign;
}

const newerFirst = (a: ContextRow, b: ContextRow): number =>
  b.updatedAt - a.updatedAt || (keyOfContext(a) < keyOfContext(b) ? 1 : -1);

export interface Sums {
  tokens: TokenCounts;
  usd: number;
  unpriced: number;
  /** Of so many it is not known yet. */
  missing: number;
}

export function sumsOf(rows: readonly ContextRow[]): Sums {
  const sums: Sums = {
    ...{ tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, usd: 0, unpriced: 0, missing: 0 },
  };
  for (const { tokens, cost } of rows) {
    if (!tokens) sums.missing++;
    for (const name of ["input", "output", "cacheRead", "cacheWrite"] as const)
      sums.tokens[name] += tokens?.[name] ?? 0;
    sums.usd += cost?.usd ?? 0;
    sums.unpriced += cost?.unpriced ?? 0;
  }
  return sums;
}
