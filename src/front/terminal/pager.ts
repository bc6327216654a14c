// Many lines in a part of the screen, to look through: a transcript, a diff, help.
import { stripTerminalSequences } from "@earendil-works/pi-tui";
import type { Style } from "../presentation/style.ts";
import { pressed } from "./key-name.ts";
import { createLineInput, type LineInput } from "./line-input.ts";
import { cutRow } from "./rows.ts";
import { createScroll, type LineSource, scrollBy, shownLines } from "./scroll.ts";
import type { Panel, Size, View } from "./view.ts";

export interface PagerOptions {
  title: string;
  /** Asked for only where they are shown or searched. */
  lines: LineSource;
  style: Style;
  /** Where it opens; default: at the start. */
  from?: "start" | "end";
  /** What else can be pressed, for the last row. */
  keys?: string;
  changed: () => void;
  left: () => void;
}

export interface Pager extends Panel {
  /** What is searched for is being typed: every letter is meant for that. */
  readonly isTyping: boolean;
}

interface Search {
  pattern: RegExp;
  says: string;
}

const KEYS = "↑↓ PgUp PgDn Home End · / search · q back";

/** Contract: Ctrl-C is not taken. */
export function createPager(opts: PagerOptions): Pager {
  const { lines, style, changed } = opts;
  let search: Search | undefined;
  let input: LineInput | undefined;
  let found: number | undefined;
  let note = "";
  let first = 0;
  let isOpened = false;

  const textAt = (i: number): string => stripTerminalSequences(lines.line(i));

  /** The line that was found, with what was searched for marked in it. */
  const shown: LineSource = {
    get length() {
      return lines.length;
    },
    line(i) {
      const line = lines.line(i);
      if (!search) return line;
      const text = stripTerminalSequences(line);
      return text.search(search.pattern) < 0
        ? line
        : text.replace(new RegExp(search.pattern, `${search.pattern.flags}g`), (hit) => style.bold(style.yellow(hit)));
    },
  };
  const scroll = createScroll(shown);

  function find(by: 1 | -1): void {
    if (!search) return;
    const start = found ?? (by === 1 ? first - 1 : first + 1);
    for (let i = 1; i <= lines.length; i++) {
      const at = (start + by * i + 2 * lines.length) % lines.length;
      if (textAt(at).search(search.pattern) < 0) continue;
      const isAround = by === 1 ? at <= start : at >= start;
      note = isAround ? (by === 1 ? "from the top again" : "from the end again") : "";
      found = at;
      scroll.toLine(at);
      return;
    }
    note = `nothing fits ${search.says}`;
  }

  function searchKey(typing: LineInput, data: string): boolean {
    const { name } = pressed(data);
    if (name === "escape" || (name === "backspace" && typing.value === "")) input = undefined;
    else if (name === "enter") {
      input = undefined;
      const says = typing.value;
      search = says === "" ? undefined : { says, pattern: patternFor(says) };
      [found, note] = [undefined, ""];
      scroll.reread();
      find(1);
    } else return typing.key({ kind: "key", data });
    return true;
  }

  function pageKey(data: string): boolean {
    const { name, text } = pressed(data);
    if (name === "escape" || name === "q") opts.left();
    else if (name === "/") input = createLineInput();
    else if (name === "n" || name === "N") find(name === "n" ? 1 : -1);
    else if (scrollBy(scroll, name)) [found, note] = [undefined, ""];
    else return text !== undefined;
    return true;
  }

  function render({ columns, rows }: Size): View {
    const room = { columns, rows: Math.max(1, rows - 2) };
    if (!isOpened && opts.from === "end") scroll.toLine(lines.length);
    isOpened = true;
    const now = scroll.view(room);
    first = Math.max(0, now.first - 1);
    const body = [style.bold(cutRow(opts.title, columns)), ...now.rows];
    if (input) {
      const { row, column } = input.render("/", columns);
      return { lines: [...body, row], caret: { row: body.length, column } };
    }
    const parts = [shownLines(now, lines.length), note, opts.keys, search ? `n N ${KEYS}` : KEYS];
    const foot = cutRow(parts.filter(Boolean).join(" · "), columns);
    return { lines: [...body, style.dim(foot)] };
  }

  return {
    render,
    get isTyping() {
      return input !== undefined;
    },
    key(key) {
      const isTaken =
        key.kind === "paste" ? (input?.key(key) ?? false) : input ? searchKey(input, key.data) : pageKey(key.data);
      if (isTaken) changed();
      return isTaken;
    },
  };
}

/** As it is written; capitals count where there are any. */
const patternFor = (text: string): RegExp =>
  new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), /\p{Lu}/u.test(text) ? "u" : "iu");
