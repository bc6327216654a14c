// The tree of a POML template, as the parser builds it and the renderer walks it.
import type { Condition, Loop } from "./control.ts";
import type { TextPiece } from "./expression.ts";
import type { ListStyle, Tag } from "./poml-tags.ts";

interface Text {
  tag: "text";
  pieces: TextPiece[];
}

export interface Element {
  tag: Tag;
  at: number;
  when?: Condition;
  each?: Loop;
  caption?: TextPiece[];
  lang?: TextPiece[];
  src?: string;
  name?: string;
  style?: ListStyle;
  /** A block of its own; otherwise part of a line. */
  block: boolean;
  body: PomlPart[];
}

/** What flows in lines: text, emphasis, code, and <let>, which leaves no trace. */
export interface Lines {
  tag: "lines";
  nodes: Node[];
}

export type Node = Text | Element;
export type PomlPart = Lines | Element;
