// Text cut to the columns of a terminal, measured as pi-tui measures everything that stands on our screen.
import { visibleWidth } from "@earendil-works/pi-tui/dist/utils.js";

/** Rows of a text without styles: every character stays, a row ends where the columns do. */
export function hardWrapped(line: string, columns: number): string[] {
  if (visibleWidth(line) <= columns) return [line];
  const rows: string[] = [];
  let row = "";
  let taken = 0;
  for (const { segment } of new Intl.Segmenter().segment(line)) {
    const width = visibleWidth(segment);
    if (taken + width > columns && row !== "") {
      rows.push(row);
      row = "";
      taken = 0;
    }
    row += segment;
    taken += width;
  }
  return [...rows, row];
}

/** A text without styles on one row; what is longer ends in `…`. */
export const onRow = (text: string, columns: number): string =>
  visibleWidth(text) <= columns
    ? text
    : `${columns < 2 ? "" : hardWrapped(text, columns - 1)[0]}…`.slice(0, columns > 0 ? undefined : 0);

/** Filled up with blanks. */
export const filledRow = (text: string, columns: number): string =>
  text + " ".repeat(Math.max(0, columns - visibleWidth(text)));
