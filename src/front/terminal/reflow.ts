// Where the live lines are after the terminal got another size: terminals break long lines anew, and take the cursor along in their own ways.
import { broken } from "./cells.ts";
import type { Caret, Size } from "./view.ts";

/**
 * What a terminal does with lines that are too long for its new width.
 * - `none`: cuts them (xterm, the Linux console, GNU screen).
 * - `whole`: breaks all of them; the cursor stays on its character (tmux, VTE, kitty, and most others).
 * - `xterm.js`: breaks all but the cursor's own line, and moves the cursor down by all rows that came, those below it too.
 * - `unknown`: breaks them, one way or the other.
 */
export type Reflow = "none" | "whole" | "xterm.js" | "unknown";

export interface Stood {
  lines: readonly string[];
  cursor: Caret;
  size: Size;
}

/**
 * How many rows the cursor is below the first live line now. Contract: never more than there are, so that nothing of the user's is erased;
 * where it cannot be known, the fewest: then a live line may be left behind.
 */
export function rowsAboveCursor(stood: Stood, size: Size, reflow: Reflow): number {
  if (size.columns >= stood.size.columns || reflow === "none") return stood.cursor.row;
  if (reflow === "whole") return inWhole(stood, size);
  if (reflow === "xterm.js") return inXtermJs(stood, size);
  return Math.min(inWhole(stood, size), inXtermJs(stood, size));
}

function inWhole({ lines, cursor }: Stood, { columns }: Size): number {
  const above = lines.slice(0, cursor.row).reduce((sum, line) => sum + broken(line, columns).rows, 0);
  return above + broken(lines[cursor.row] ?? "", columns).rowOf(cursor.column);
}

function inXtermJs({ lines, cursor, size: before }: Stood, size: Size): number {
  const rows = lines.map((line) => broken(line, size.columns).rows);
  const below = lines.length - 1 - cursor.row;
  // A lower screen first drops rows below the cursor; how many of ours depends on how many empty ones there are below.
  const mostDropped = Math.min(below, Math.max(0, before.rows - size.rows));
  const possible = Array.from({ length: mostDropped + 1 }, (_, dropped) =>
    afterBreaking(rows.slice(0, rows.length - dropped), cursor.row),
  );
  return Math.min(...possible);
}

/** It goes from the last line up, and compares each with where the cursor has got to by then. */
function afterBreaking(rows: readonly number[], cursorRow: number): number {
  return rows.reduceRight((cursor, count, line) => (cursor === line ? cursor : cursor + count - 1), cursorRow);
}

type Environment = Record<string, string | undefined>;

/** By what the terminal answered to the question for its name (XTVERSION), or by what it set for its children. */
export function reflowOf(env: Environment, name?: string): Reflow {
  if (name !== undefined) {
    if (/^xterm\.js/i.test(name)) return "xterm.js";
    return /^xterm/i.test(name) ? "none" : "whole";
  }
  if (env.TMUX) return "whole";
  if (/^(?:linux|screen|st|vt\d|dumb)/.test(env.TERM ?? "") || env.STY) return "none";
  if (env.TERM_PROGRAM === "vscode") return "xterm.js";
  if (env.XTERM_VERSION) return "none";
  if (env.TERM_PROGRAM || env.VTE_VERSION || env.KITTY_WINDOW_ID || env.WT_SESSION || env.KONSOLE_VERSION)
    return "whole";
  return /^(?:alacritty|foot|xterm-kitty|xterm-ghostty|wezterm)/.test(env.TERM ?? "") ? "whole" : "unknown";
}
