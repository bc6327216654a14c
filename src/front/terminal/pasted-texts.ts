// Long pastes: the editor shows `[paste #1 +99 lines]` and keeps a stand-in; the text itself is kept here, untouched.

export interface PastedTexts {
  /** What the editor is given for the text. Undefined: it is short, and stands in the prompt as it is. */
  standIn(text: string): string | undefined;
  /** Stand-ins replaced by the texts they stand for. */
  restored(text: string): string;
  clear(): void;
}

/** From here on the editor shows a placeholder (pi-tui's own bounds). */
const MOST_LINES = 10;
const MOST_CHARACTERS = 1000;

/** Code points that no text has. */
const [OPEN, CLOSE] = ["\ufdd0", "\ufdd1"];

/**
 * The editor counts lines and characters of what it is given, makes blanks of its tabs, and copies all of it with each step that can be
 * undone. A stand-in has as many lines, or characters, and is cheap; the text is sent with its tabs.
 */
export function createPastedTexts(): PastedTexts {
  const kept = new Map<string, string>();
  let count = 0;
  return {
    standIn(text) {
      const lines = text.split("\n").length;
      if (lines <= MOST_LINES && text.length <= MOST_CHARACTERS) return undefined;
      count += 1;
      const head = `${OPEN}${count}`;
      const filling =
        lines > MOST_LINES ? "\n".repeat(lines - 1) : "x".repeat(Math.max(0, text.length - head.length - 1));
      const standIn = `${head}${filling}${CLOSE}`;
      kept.set(standIn, text);
      return standIn;
    },
    restored: (text) =>
      text.includes(OPEN!) ? text.replace(/\ufdd0[^\ufdd1]*\ufdd1/g, (standIn) => kept.get(standIn) ?? "") : text,
    clear: () => kept.clear(),
  };
}
