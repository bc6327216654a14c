// The rows of shared data in the order and with the filter that a reader chose.
import type { DataRow } from "../../../context-api.ts";

export interface DataOrder {
  by: "key" | "at" | "bytes" | "by";
  isDown: boolean;
}

export function sortedData(rows: readonly DataRow[], { by, isDown }: DataOrder, filter: string): DataRow[] {
  const wanted = filter.toLocaleLowerCase();
  const found = rows.filter((row) =>
    [row.key, row.preview, row.by].some((text) => text.toLocaleLowerCase().includes(wanted)),
  );
  const sign = isDown ? -1 : 1;
  return found.sort((a, b) => sign * compared(a[by], b[by]) || compared(a.key, b.key));
}

const compared = (a: string | number, b: string | number): number =>
  typeof a === "number" && typeof b === "number"
    ? a - b
    : String(a).localeCompare(String(b), undefined, { numeric: true });
