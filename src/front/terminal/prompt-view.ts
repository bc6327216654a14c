// The prompt as lines: a mark instead of frames, and the caret where the terminal's cursor is to stand.
import { CURSOR_MARKER } from "@earendil-works/pi-tui/dist/tui.js";
import { visibleWidth } from "@earendil-works/pi-tui/dist/utils.js";
import { isPlainStyle, type Style } from "../presentation/style.ts";
import type { FramelessEditor } from "./frameless-editor.ts";
import type { Caret, Size, View } from "./view.ts";

const MARK_COLUMNS = 2;

/** The text of the prompt takes at most a third of the screen. */
export const mostPromptRows = ({ rows }: Size): number => Math.max(1, Math.floor(rows / 3));

/** The text with its mark, scrolled to the caret, and the completions below it. */
export function promptView(editor: FramelessEditor, size: Size, style: Style): View {
  const { text, list } = editor.parts(Math.max(4, size.columns - MARK_COLUMNS));
  const rows = text.map(withCaret);
  const all = { lines: rows.map(({ line }) => line), caret: caretIn(rows), above: editor.above, below: editor.below };
  const shown = marked(windowed(all, mostPromptRows(size)), { isShell: editor.getText().startsWith("!"), style });
  // Cut entries end in a reset, whatever the theme says.
  const listed = isPlainStyle(style) ? list.map((line) => line.replace(/\u001b\[[\d;]*m/g, "")) : list;
  return { lines: [...shown.lines, ...listed.map((line) => `  ${line}`.trimEnd())], caret: shown.caret };
}

interface Shown {
  lines: string[];
  caret: Caret;
  /** Lines out of sight. */
  above: number;
  below: number;
}

/** The editor draws a caret of its own, after a mark for the terminal's: both go out, and where the mark stood is the column. */
function withCaret(line: string): { line: string; column?: number } {
  const at = line.indexOf(CURSOR_MARKER);
  if (at < 0) return { line: line.trimEnd() };
  const before = line.slice(0, at);
  const after = line.slice(at + CURSOR_MARKER.length).replace(/^\u001b\[7m([\s\S]*?)\u001b\[0m/, "$1");
  return { line: (before + after).trimEnd(), column: visibleWidth(before) };
}

function caretIn(lines: { column?: number }[]): Caret {
  const row = Math.max(
    0,
    lines.findIndex(({ column }) => column !== undefined),
  );
  return { row, column: lines[row]?.column ?? 0 };
}

/** The editor shows five lines at least; a low screen has room for fewer. */
function windowed({ lines, caret, above, below }: Shown, most: number): Shown {
  const from = Math.max(0, Math.min(caret.row - most + 1, lines.length - most));
  const shown = lines.slice(from, from + most);
  return {
    lines: shown,
    caret: { row: caret.row - from, column: caret.column },
    above: above + from,
    below: below + lines.length - from - shown.length,
  };
}

/** `> ` before the text, room before its other lines, an arrow where it goes on out of sight. The `!` of a command is its own mark. */
function marked({ lines, caret, above, below }: Shown, { isShell, style }: { isShell: boolean; style: Style }): View {
  const isMarkOfText = isShell && above === 0;
  const drawnLines = lines.map((line, row) => {
    if (row === 0 && isMarkOfText) return `${style.yellow("!")} ${line.slice(1)}`;
    if (row === 0 && above > 0) return `${style.dim("↑")} ${line}`;
    if (row === lines.length - 1 && below > 0) return `${style.dim("↓")} ${line}`;
    return `${row === 0 ? style.cyan(">") : " "} ${line}`;
  });
  const shift = caret.row === 0 && isMarkOfText ? (caret.column === 0 ? 0 : MARK_COLUMNS - 1) : MARK_COLUMNS;
  return { lines: drawnLines.map((line) => line.trimEnd()), caret: { row: caret.row, column: caret.column + shift } };
}
