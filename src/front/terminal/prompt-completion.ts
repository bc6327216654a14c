// What the prompt offers while one types: `/commands` at its start, `@files` at the start of a word.
import type { AutocompleteItem, AutocompleteProvider } from "@earendil-works/pi-tui/dist/autocomplete.js";
import { fuzzyFilter } from "@earendil-works/pi-tui/dist/fuzzy.js";
import { printable } from "../presentation/printable.ts";

export interface Completions {
  commands(): { name: string; help: string }[];
  files(query: string, signal: AbortSignal): Promise<string[]>;
}

const COMMAND = /^\/\S*$/;
/** `@` after a letter is an address; after Japanese, which has no blanks between words, it begins a word. */
const FILE =
  /(?:^|[^\p{L}\p{N}_.@/-]|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])(@(?:"(?<quoted>[^"]*)|(?<bare>[^\s"]*)))$/u;

type Wanted = { kind: "command"; prefix: string } | { kind: "file"; prefix: string; query: string };

/** What is being typed before the caret that could be completed. */
export function wantedAt(line: string, caret: { line: number; column: number }): Wanted | undefined {
  const before = line.slice(0, caret.column);
  if (caret.line === 0 && COMMAND.test(before)) return { kind: "command", prefix: before };
  const file = FILE.exec(before);
  if (!file) return undefined;
  return { kind: "file", prefix: file[1]!, query: file.groups?.quoted ?? file.groups?.bare ?? "" };
}

export interface PromptCompletion extends AutocompleteProvider {
  /** Whether the list that was made last is one for this text before the caret. Lists come later than keys. */
  isFor(before: string): boolean;
}

export function createPromptCompletion(complete: Completions): PromptCompletion {
  let madeFor: string | undefined;
  const commands = (prefix: string): AutocompleteItem[] =>
    fuzzyFilter(complete.commands(), prefix.slice(1), ({ name }) => name).map(({ name, help }) => ({
      value: `/${name}`,
      label: `/${printable(name)}`,
      description: printable(help),
    }));

  const files = async (query: string, signal: AbortSignal): Promise<AutocompleteItem[]> => {
    // The editor does not wait for it: an error here would be nobody's.
    const paths = await complete.files(query, signal).catch(() => []);
    return paths.map((path) => ({ value: /[\s"]/.test(path) ? `@"${path}"` : `@${path}`, label: printable(path) }));
  };

  return {
    isFor: (before) => before === madeFor,
    async getSuggestions(lines, line, column, { signal }) {
      const wanted = wantedAt(lines[line] ?? "", { line, column });
      if (!wanted) return null;
      const items = wanted.kind === "command" ? commands(wanted.prefix) : await files(wanted.query, signal);
      if (items.length === 0 || signal.aborted) return null;
      madeFor = (lines[line] ?? "").slice(0, column);
      return { items, prefix: wanted.prefix };
    },
    applyCompletion(lines, line, column, item, prefix) {
      const text = lines[line] ?? "";
      // A folder goes on: what is in it is asked for by the next letter.
      const inserted = item.value.endsWith("/") ? item.value : `${item.value} `;
      const before = text.slice(0, column - prefix.length) + inserted;
      const after = text.slice(column).replace(/^ /, "");
      return { lines: lines.with(line, before + after), cursorLine: line, cursorCol: before.length };
    },
  };
}
