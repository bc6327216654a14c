// What stands on the terminal, as data: finished lines that are the terminal's own from then on, and a few live lines below them.

export interface Size {
  columns: number;
  rows: number;
}

/** Where the caret is: a row of the view's own lines, and a column of it. */
export interface Caret {
  row: number;
  column: number;
}

/** Contract: every line fits its columns; styles are closed at its end. */
export interface View {
  lines: string[];
  caret?: Caret;
}

/** A part of what is live. */
export interface LivePart {
  render(size: Size): View;
}

/** A part that takes keys while it stands in front: a question, a list to choose from, the prompt. */
export interface Panel extends LivePart {
  /** One key as the terminal sends it, whole, or what was pasted. Contract: true when it was taken. */
  key(key: TypedKey): boolean;
}

export type TypedKey = { kind: "key"; data: string } | { kind: "paste"; text: string };
