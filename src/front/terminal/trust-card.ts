// The one question of a first start: whether what this folder brings is used. Everything it names is shown, and only its own keys answer.
import { escapedName } from "../presentation/printable.ts";
import type { Style } from "../presentation/style.ts";
import { pressed } from "./key-name.ts";
import { wordRows } from "./rows.ts";
import { createScroll, scrollBy, shownLines } from "./scroll.ts";
import type { Panel } from "./view.ts";

export interface TrustCardOptions {
  /** Files that are read, and what of them would run. */
  files: readonly string[];
  runs: readonly string[];
  style: Style;
  shownAt: number;
  now: () => number;
  /** Contract: called once. */
  answered: (isTrusted: boolean) => void;
}

/** It stands there when a program starts: whoever types ahead means the prompt. */
const UNREAD_MS = 1_500;

/** Contract: Esc is no; nothing that is typed or pasted before it could be read answers. */
export function createTrustCard({ files, runs, style, shownAt, now, answered }: TrustCardOptions): Panel {
  let typedAt = shownAt;
  let wasRead = false;
  const lines = [
    style.bold("This folder brings its own instructions and settings:"),
    ...files.map((file) => `  ${escapedName(file)}`),
    ...(runs.length === 0 ? [] : [style.yellow("Of them these run commands, or may:")]),
    ...runs.map((one) => `  ${escapedName(one)}`),
    "They change what the agent does. Use them, as they are now? A change asks again.",
  ];
  const scroll = createScroll({ length: lines.length, line: (i) => lines[i] ?? "" });
  return {
    render({ columns, rows }) {
      const shown = scroll.view({ columns, rows: Math.max(3, rows - 3) });
      wasRead ||= shown.isEnd;
      const place = shown.first > 1 || shown.last < lines.length ? ` · ${shownLines(shown, lines.length)} · ↑↓` : "";
      const keys = wasRead ? "[y] yes, use them · [n] no, go on without" : "[n] no · read it to its end to say yes";
      return { lines: [...shown.rows, ...wordRows(`${keys}${place}`, columns)] };
    },
    key(key) {
      const isEarly = now() - typedAt < UNREAD_MS;
      if (isEarly || key.kind === "paste") {
        typedAt = now();
        return key.kind === "paste" || pressed(key.data).name !== "escape";
      }
      const { name = "" } = pressed(key.data);
      if (scrollBy(scroll, name)) return true;
      if (name === "y" && wasRead) answered(true);
      else if (name === "n" || name === "escape") answered(false);
      return true;
    },
  };
}
