// The list of contexts: its order, what narrows it, which columns fit, what it comes to.
import { expect, test } from "vitest";
import type { ContextRow } from "../../../../src/front/monitor/api.ts";
import { fittingColumns, templateOf, usedColumns } from "../../../../src/front/monitor/page/home/columns.ts";
import {
  addressOfQuery,
  FIRST_QUERY,
  isListed,
  type ListQuery,
  queryOf,
  type Sort,
  sorted,
  sumsOf,
} from "../../../../src/front/monitor/page/home/list-order.ts";

const row = (context: string, more: Partial<ContextRow> = {}): ContextRow => ({
  ...{ project: "p", context, title: context, folder: "/code/api", status: "completed" },
  ...{ createdAt: 0, updatedAt: 1, events: 10 },
  ...more,
});

const used = { input: 100, output: 10, cacheRead: 1_000, cacheWrite: 5 };
const ROWS = [
  row("ctx_a", { title: "Fix the ＡＰＩ", updatedAt: 3, cost: { usd: 0.5, unpriced: 0 }, tokens: used }),
  row("ctx_b", { title: "整理する", status: "waiting", updatedAt: 9, project: "q", cost: { usd: 2, unpriced: 1 } }),
  row("ctx_c", { title: "cancel nothing", status: "failed", updatedAt: 5, events: 99, folder: "/code/web" }),
  row("ctx_d", { title: "Another", updatedAt: 3, host: { pid: 7, machine: "m", here: true, alive: true } }),
];

const order = (sort: Sort, direction: ListQuery["direction"]) =>
  sorted(ROWS, { sort, direction }, (id) => (id === "p" ? "web" : "api")).map(({ context }) => context.slice(4));

test("contexts are sorted by a column; what is not known comes last both ways, equals are newest first", () => {
  expect(order("updated", "descending")).toEqual(["b", "c", "d", "a"]);
  expect(order("cost", "descending")).toEqual(["b", "a", "c", "d"]);
  expect(order("cost", "ascending")).toEqual(["a", "b", "c", "d"]);
  expect(order("status", "ascending")).toEqual(["b", "c", "d", "a"]);
  expect(order("title", "ascending")).toEqual(["d", "c", "a", "b"]);
  expect(order("project", "ascending")).toEqual(["b", "c", "d", "a"]);
  expect(order("host", "ascending")[0]).toBe("d");
});

const found = (query: Partial<ListQuery>) =>
  ROWS.filter((one) => isListed(one, { ...FIRST_QUERY, ...query })).map(({ context }) => context.slice(4));

test("words are looked for in title, id and folder, whatever their width and case; all of them must be there", () => {
  expect(found({ words: "api" })).toEqual(["a", "b", "d"]);
  expect(found({ words: "fix api" })).toEqual(["a"]);
  expect(found({ words: "整理" })).toEqual(["b"]);
  expect(found({ words: "CTX_C" })).toEqual(["c"]);
  expect(found({ words: "  " })).toEqual(["a", "b", "c", "d"]);
});

test("statuses and a project narrow the list together", () => {
  expect(found({ statuses: ["completed", "failed"] })).toEqual(["a", "c", "d"]);
  expect(found({ statuses: ["completed"], project: "q" })).toEqual([]);
  expect(found({ project: "q" })).toEqual(["b"]);
});

test("what is asked of the list stands in the address and is read from it again", () => {
  const query: ListQuery = {
    ...{ statuses: ["waiting", "failed"], project: "a/b?", words: "整理 &=#" },
    ...{ sort: "cost", direction: "ascending" },
  };
  expect(queryOf(addressOfQuery(query))).toEqual(query);
  expect(addressOfQuery(FIRST_QUERY)).toBe("#/");
  expect(queryOf("#/?sort=<b>&order=up&status=nothing")).toEqual(FIRST_QUERY);
});

test("columns without anything to show are left out, and the least that is worth showing where there is no room", () => {
  const names = (width: number, rows = ROWS) => fittingColumns(width, usedColumns(rows, 2)).map(({ sort }) => sort);
  expect(names(1280)).toEqual([...["status", "title", "project", "updated", "events", "tokens", "cost", "host"]]);
  expect(names(800)).toEqual(["status", "title", "updated", "events", "tokens", "cost"]);
  expect(names(640)).toEqual(["status", "title", "updated", "tokens", "cost"]);
  expect(names(100)).toEqual(["title"]);
  expect(usedColumns([row("ctx_x")], 1)).toEqual(["status", "title", "updated", "events"]);
  expect(templateOf(fittingColumns(500, ["status", "title"]))).toBe("96px minmax(0, 1fr)");
});

test("what the listed contexts come to, and of how many that is not known", () => {
  expect(sumsOf(ROWS)).toEqual({ tokens: used, usd: 2.5, unpriced: 1, missing: 3 });
});
