// What a template file is once read: pieces of Markdown or a tree of POML.
import { parsePieces, type TextPiece } from "./expression.ts";
import { splitFrontMatter } from "./front-matter.ts";
import { parsePoml } from "./poml-parse.ts";
import type { Element } from "./poml-tree.ts";
import { createSource, type Source } from "./source.ts";

export type TemplateKind = "markdown" | "poml";

export interface Document {
  source: Source;
  /** Where it is, seen from the directory of the first template. */
  path: string;
  front: Record<string, unknown>;
  content: { kind: "markdown"; pieces: TextPiece[] } | { kind: "poml"; root: Element };
}

/** Contract: throws HoldfastError with file, line and column when the text is not a template. */
export function parseDocument(input: { text: string; file: string; path: string; kind?: TemplateKind }): Document {
  const source = createSource(input.file, input.text);
  const kind = input.kind ?? (/\.poml$/i.test(input.file) ? "poml" : "markdown");
  if (kind === "poml") return { source, path: input.path, front: {}, content: { kind, root: parsePoml(source) } };
  const { front, body } = splitFrontMatter(source);
  const pieces = parsePieces(source, body, source.text.length, (raw) => raw);
  return { source, path: input.path, front, content: { kind, pieces } };
}
