// The prompt: pi-tui's editor with a mark instead of frames, its caret where the terminal's cursor is, pastes, history, completion.
import { getKeybindings, type Keybinding, TUI_KEYBINDINGS } from "@earendil-works/pi-tui/dist/keybindings.js";
import { isKeyRelease, matchesKey } from "@earendil-works/pi-tui/dist/keys.js";
import { printable } from "../presentation/printable.ts";
import type { Style } from "../presentation/style.ts";
import { type ChoiceList, createChoiceList } from "./choice-list.ts";
import { createFramelessEditor } from "./frameless-editor.ts";
import { createPastedTexts } from "./pasted-texts.ts";
import { type Completions, createPromptCompletion, wantedAt } from "./prompt-completion.ts";
import { mostPromptRows, promptView } from "./prompt-view.ts";
import { typedText } from "./typed-text.ts";
import type { Panel, Size, TypedKey, View } from "./view.ts";

export interface PromptEditor extends Panel {
  /** All of it, pastes included. */
  text(): string;
  set(text: string): void;
  clear(): void;
  readonly isEmpty: boolean;
  /** At the caret. */
  insert(text: string): void;
  /** What was sent otherwise than by Enter, the oldest first. */
  remember(sent: readonly string[]): void;
  /** A list of completions or of the history is open: Esc closes that. */
  readonly hasList: boolean;
}

export interface PromptEditorOptions {
  /** What was sent before, the oldest first. */
  history: readonly string[];
  complete: Completions;
  /** Contract: the text is not empty; the prompt is, by then. */
  onSubmit: (text: string) => void;
  changed: () => void;
  size: () => Size;
  style: Style;
}

/** Entries of a list at a time, of completions and of the history. */
const MOST_LISTED = 8;
/** Longer ones are not offered again: the editor wraps all of a text at each key. */
const MOST_REMEMBERED = 50_000;

export function createPromptEditor(opts: PromptEditorOptions): PromptEditor {
  const { style, changed } = opts;
  const pastes = createPastedTexts();
  const worthy = (all: readonly string[]) => all.map(printable).filter((text) => text.length <= MOST_REMEMBERED);
  const history = worthy(opts.history);
  const completion = createPromptCompletion(opts.complete);
  const editor = createFramelessEditor({
    style,
    changed,
    completion,
    mostRows: () => mostPromptRows(opts.size()),
    mostListed: MOST_LISTED,
  });
  let search: ChoiceList | undefined;

  editor.onSubmit = (shown) => {
    const text = pastes.restored(shown);
    pastes.clear();
    if (text === "") return;
    if (text.length <= MOST_REMEMBERED) {
      history.push(printable(text));
      editor.addToHistory(printable(text));
    }
    opts.onSubmit(text);
  };
  for (const text of history) editor.addToHistory(text);

  function paste(text: string): void {
    const clean = printable(text).replace(/[\ufdd0-\ufdef]/g, "");
    const standIn = pastes.standIn(clean);
    if (standIn === undefined) editor.insertTextAtCursor(clean);
    else editor.handleInput(`\u001b[200~${standIn}\u001b[201~`);
  }

  function openSearch(): void {
    const items = [...new Set(history.toReversed())].map((label) => ({ label }));
    const onChoose = (item: { label: string } | undefined): void => {
      search = undefined;
      if (item) editor.setText(item.label);
      changed();
    };
    const title = "History: type to search, Enter takes it";
    search = createChoiceList({ title, items, onChoose, changed, style, matching: "words", most: MOST_LISTED });
  }

  /** Keys that mean nothing to a text are for whoever else listens: Esc, Ctrl-C, Tab where nothing can be completed. */
  function isForEditor(data: string): boolean {
    const keys = getKeybindings();
    if (editor.isShowingAutocomplete() && keys.matches(data, "tui.select.cancel")) return true;
    if (keys.matches(data, "tui.input.copy")) return false;
    if (keys.matches(data, "tui.input.tab")) return editor.isShowingAutocomplete() || canComplete();
    if (matchesKey(data, "ctrl+d")) return !isEmpty();
    return (
      EDITING.some((binding) => keys.matches(data, binding)) || /[\r\n]/.test(data) || typedText(data) !== undefined
    );
  }

  const isEmpty = (): boolean => editor.getText() === "";

  /** The line of the caret, as far as it. */
  function beforeCaret(): { before: string; line: number } {
    const { line, col } = editor.getCursor();
    return { before: (editor.getLines()[line] ?? "").slice(0, col), line };
  }

  function canComplete(): boolean {
    const { before, line } = beforeCaret();
    return wantedAt(before, { line, column: before.length }) !== undefined;
  }

  function keyPressed(data: string): boolean {
    if (isKeyRelease(data)) return true;
    if (search) {
      if (matchesKey(data, "ctrl+r")) search.move(1);
      else search.key({ kind: "key", data });
      return true;
    }
    if (matchesKey(data, "ctrl+r") && history.length > 0) openSearch();
    else if (isForEditor(data)) toEditor(data);
    else return false;
    changed();
    return true;
  }

  function toEditor(data: string): void {
    const keys = getKeybindings();
    const isTaken = keys.matches(data, "tui.select.confirm") || keys.matches(data, "tui.input.tab");
    // Who types faster than lists come means what was typed, not what an old list has.
    const isOld = isTaken && editor.isShowingAutocomplete() && !completion.isFor(beforeCaret().before);
    // Ctrl-C closes the list as Esc does; the editor leaves that key to others.
    const isLeft = editor.isShowingAutocomplete() && keys.matches(data, "tui.select.cancel");
    if (isOld || isLeft) editor.handleInput("\u001b");
    if (!isLeft) editor.handleInput(data);
  }

  return {
    text: () => pastes.restored(editor.getExpandedText()),
    set(text) {
      editor.setText(printable(text));
      changed();
    },
    clear() {
      editor.setText("");
      changed();
    },
    insert(text) {
      editor.insertTextAtCursor(printable(text));
      changed();
    },
    get isEmpty() {
      return isEmpty();
    },
    get hasList() {
      return search !== undefined || editor.isShowingAutocomplete();
    },
    remember(sent) {
      const more = worthy(sent);
      history.push(...more);
      for (const text of more) editor.addToHistory(text);
    },
    key(key: TypedKey) {
      if (key.kind === "key") return keyPressed(key.data);
      if (search) return search.key(key);
      paste(key.text);
      changed();
      return true;
    },
    render(size): View {
      const prompt = promptView(editor, size, style);
      if (!search) return prompt;
      const above = search.render({ columns: size.columns, rows: size.rows - prompt.lines.length });
      return { lines: [...above.lines, ...prompt.lines], caret: above.caret };
    },
  };
}

const EDITING = (Object.keys(TUI_KEYBINDINGS) as Keybinding[]).filter((name) => /^tui\.(?:editor|input)\./.test(name));
