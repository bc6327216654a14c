// A list to choose from: typing filters it, arrows move, a preview of the chosen one stands below.
import { fuzzyFilter } from "@earendil-works/pi-tui/dist/fuzzy.js";
import { getKeybindings } from "@earendil-works/pi-tui/dist/keybindings.js";
import { isKeyRelease } from "@earendil-works/pi-tui/dist/keys.js";
import { oneLine, printable } from "../presentation/printable.ts";
import type { Style } from "../presentation/style.ts";
import { lineWidth } from "./cells.ts";
import { cutRow, paddedRow } from "./rows.ts";
import { typedText } from "./typed-text.ts";
import type { Panel, Size, TypedKey, View } from "./view.ts";

export interface ListChoice {
  label: string;
  detail?: string;
  /** Asked for once, when it is chosen among the others. One that fails shows nothing. */
  preview?: () => Promise<string[]>;
}

export interface ChoiceList extends Panel {
  /** Down by so many, or up. */
  move(by: number): void;
}

export interface ChoiceListOptions<C extends ListChoice> {
  title: string;
  items: readonly C[];
  /** Undefined: it was left. */
  onChoose: (item: C | undefined) => void;
  changed: () => void;
  style: Style;
  /** `fuzzy`, the best first, unless it says `words`: each word as it is written, in the order of the items. */
  matching?: "fuzzy" | "words";
  /** At most so many entries are shown at a time. */
  most?: number;
}

const MOST_SHOWN = 10;
const PREVIEW_ROWS = 8;
/** The title and what was typed. */
const HEAD_ROWS = 2;

export function createChoiceList<C extends ListChoice>(opts: ChoiceListOptions<C>): ChoiceList {
  const { style, changed } = opts;
  let query = "";
  let found: readonly C[] = opts.items;
  let at = 0;
  let page = MOST_SHOWN;
  const previews = new Map<C, string[]>();
  const hasPreviews = opts.items.some((item) => item.preview !== undefined);

  function select(index: number): void {
    at = Math.max(0, Math.min(found.length - 1, index));
    void loadPreview(found[at]);
    changed();
  }

  async function loadPreview(item: C | undefined): Promise<void> {
    if (!item?.preview || previews.has(item)) return;
    previews.set(item, []);
    const lines = await item.preview().catch(() => []);
    previews.set(
      item,
      lines.flatMap((line) => printable(line).replaceAll("\t", "    ").split("\n")),
    );
    changed();
  }

  function filter(next: string): void {
    query = next;
    found = matching(opts.items, query, opts.matching ?? "fuzzy");
    select(0);
  }

  function entry(item: C, isChosen: boolean, columns: { all: number; label: number }): string {
    const label = cutRow(oneLine(item.label, 400), columns.label);
    const room = columns.all - 2 - columns.label - 2;
    const detail = item.detail !== undefined && room >= 6 ? cutRow(oneLine(item.detail, 400), room) : "";
    const before = detail === "" ? label : `${paddedRow(label, columns.label)}  `;
    return isChosen ? style.cyan(`› ${before}${detail}`) : `  ${before}${detail === "" ? "" : style.dim(detail)}`;
  }

  function entries({ columns, rows }: Size): string[] {
    const from = Math.max(0, Math.min(at - Math.floor(rows / 2), found.length - rows));
    const shown = found.slice(from, from + rows);
    const widest = Math.max(0, ...shown.map((item) => lineWidth(oneLine(item.label, 400))));
    const hasDetails = shown.some((item) => item.detail !== undefined);
    const most = hasDetails ? Math.max(8, Math.floor(columns / 2)) : columns - 2;
    const widths = { all: columns, label: Math.max(1, Math.min(widest, most, columns - 2)) };
    return shown.map((item, i) => entry(item, from + i === at, widths));
  }

  function preview({ columns, rows }: Size): string[] {
    const item = found[at];
    const lines = (item && previews.get(item)) ?? [];
    return lines.slice(0, rows).map((line) => style.dim(`  ${cutRow(line, Math.max(1, columns - 2))}`));
  }

  function keyPressed(data: string): boolean {
    const keys = getKeybindings();
    if (keys.matches(data, "tui.select.cancel")) opts.onChoose(undefined);
    else if (keys.matches(data, "tui.select.confirm")) found[at] && opts.onChoose(found[at]);
    else if (keys.matches(data, "tui.select.up")) select(at === 0 ? found.length - 1 : at - 1);
    else if (keys.matches(data, "tui.select.down")) select(at === found.length - 1 ? 0 : at + 1);
    else if (keys.matches(data, "tui.select.pageUp")) select(at - page);
    else if (keys.matches(data, "tui.select.pageDown")) select(at + page);
    else if (keys.matches(data, "tui.editor.deleteCharBackward")) filter(withoutLast(query));
    else if (keys.matches(data, "tui.editor.deleteWordBackward")) filter(query.replace(/\S*\s*$/, ""));
    else if (keys.matches(data, "tui.editor.deleteToLineStart")) filter("");
    else {
      const typed = typedText(data);
      if (typed === undefined) return false;
      filter(query + typed);
    }
    return true;
  }

  void loadPreview(found[0]);
  return {
    move: (by) => select(at + by),
    key(key: TypedKey) {
      if (key.kind === "paste") filter(query + oneLine(key.text, 200));
      else if (!isKeyRelease(key.data)) return keyPressed(key.data);
      return true;
    },
    render({ columns, rows }: Size): View {
      const room = Math.max(3, rows - HEAD_ROWS - 1);
      const previewRows = hasPreviews && room > 8 ? Math.min(PREVIEW_ROWS, Math.floor(room / 2)) : 0;
      page = Math.max(1, Math.min(opts.most ?? MOST_SHOWN, room - previewRows));
      const count = ` ${found.length === 0 ? "none" : at + 1} of ${found.length}`;
      const title = cutRow(oneLine(opts.title, 400), Math.max(1, columns - lineWidth(count)));
      const typed = lastColumns(query, Math.max(1, columns - 3));
      return {
        lines: [
          style.bold(title) + style.dim(cutRow(count, Math.max(0, columns - lineWidth(title)))),
          `> ${typed}`.trimEnd(),
          ...entries({ columns, rows: page }),
          ...preview({ columns, rows: previewRows }),
        ],
        caret: { row: 1, column: 2 + lineWidth(typed) },
      };
    },
  };
}

function matching<C extends ListChoice>(items: readonly C[], query: string, how: "fuzzy" | "words"): readonly C[] {
  const shown = (item: C) => `${item.label} ${item.detail ?? ""}`;
  if (how === "fuzzy") return fuzzyFilter([...items], query, shown);
  const words = query.toLowerCase().split(/\s+/);
  return items.filter((item) => {
    const within = shown(item).toLowerCase();
    return words.every((word) => within.includes(word));
  });
}

const characters = (text: string): string[] => [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);

const withoutLast = (text: string): string => characters(text).slice(0, -1).join("");

/** The end of what was typed is where the caret is. */
function lastColumns(text: string, columns: number): string {
  const all = characters(text);
  while (lineWidth(all.join("")) > columns) all.shift();
  return all.join("");
}
