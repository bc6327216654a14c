// pi-tui's editor without its frames: what it needs of a terminal, its list of completions, what is scrolled out of sight.
import type { AutocompleteProvider } from "@earendil-works/pi-tui/dist/autocomplete.js";
import { Editor } from "@earendil-works/pi-tui/dist/components/editor.js";
import type { TUI } from "@earendil-works/pi-tui/dist/tui.js";
import type { Style } from "../presentation/style.ts";

/** Stands where the text ends and the list of completions begins: a code point that no text has. */
const BOTTOM = "\ufdd3";

/** No frames: long lines break in two when a terminal gets narrower. What is scrolled out of sight is kept for the marks. */
export class FramelessEditor extends Editor {
  above = 0;
  below = 0;
  protected override renderTopBorder(_width: number, hidden: number): string {
    this.above = hidden;
    return "";
  }
  protected override renderBottomBorder(_width: number, hidden: number): string {
    this.below = hidden;
    return BOTTOM;
  }
  /** What is in sight of the text, and the list of completions, if one is offered. */
  parts(width: number): { text: string[]; list: string[] } {
    const lines = this.render(width);
    const end = lines.indexOf(BOTTOM);
    return { text: lines.slice(1, end), list: lines.slice(end + 1) };
  }
}

interface FramelessOptions {
  style: Style;
  changed: () => void;
  completion: AutocompleteProvider;
  /** How high the text may be. */
  mostRows: () => number;
  /** Completions at a time. */
  mostListed: number;
}

export function createFramelessEditor(opts: FramelessOptions): FramelessEditor {
  const { style, changed, mostRows, mostListed } = opts;
  // The editor takes 30 % of the rows it is told; a third is meant.
  const terminal = {
    get rows() {
      return Math.ceil(mostRows() / 0.3);
    },
  };
  // Of the whole interface it uses these two.
  const tui = { terminal, requestRender: changed } as unknown as TUI;
  const list = {
    selectedPrefix: style.cyan,
    selectedText: style.cyan,
    description: style.dim,
    scrollInfo: style.dim,
    noMatch: style.dim,
  };
  const editor = new FramelessEditor(
    tui,
    { borderColor: (text) => text, selectList: list },
    { autocompleteMaxVisible: mostListed },
  );
  editor.focused = true;
  editor.setAutocompleteProvider(opts.completion);
  return editor;
}
