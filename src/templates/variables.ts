// The question which values a template asks for, answered without rendering it.
import type { Document } from "./document.ts";
import type { Path, TextPiece } from "./expression.ts";
import type { Library } from "./library.ts";
import type { Element, Node, PomlPart } from "./poml-tree.ts";

export interface Variable {
  /** As the template writes it: `context.topic`. */
  name: string;
  line: number;
  file: string;
  /** It has a default, or only an `if` decides whether it is asked for. */
  optional: boolean;
}

interface Asked extends Variable {
  root: string;
}

/** The names that loops and <let> give at a place. */
interface Bound {
  names: Set<string>;
  above?: Bound;
}

function isBound(name: string, bound: Bound | undefined): boolean {
  for (let at = bound; at; at = at.above) if (at.names.has(name)) return true;
  return false;
}

/** In the order of the text, each name once for a line. With a library, what is included is looked at too. */
export function variablesOf(document: Document, library: Library | undefined): Variable[] {
  const known = new Map<Document, Asked[]>();
  const asked = askedBy([document], library, known);
  return asked.map(({ name, line, file, optional }) => ({ name, line, file, optional }));
}

/** Asked for twice in a line, it is optional only where both are. */
function note(found: Map<string, Asked>, asked: Asked): void {
  const key = `${asked.line}\0${asked.file}\0${asked.name}`;
  const same = found.get(key);
  if (same) same.optional &&= asked.optional;
  else found.set(key, { ...asked });
}

function askedBy(chain: readonly Document[], library: Library | undefined, known: Map<Document, Asked[]>): Asked[] {
  const document = chain.at(-1)!;
  const before = known.get(document);
  if (before) return before;
  const { source, content } = document;
  const found = new Map<string, Asked>();

  const add = (asked: Asked, bound: Bound): void => {
    if (!isBound(asked.root, bound)) note(found, asked);
  };
  const path = ({ keys, name, at }: Path, bound: Bound, optional: boolean): void =>
    add({ name, line: source.line(at), file: source.file, optional, root: String(keys[0]) }, bound);
  const text = (pieces: readonly TextPiece[], bound: Bound, maybe: boolean): void => {
    for (const piece of pieces) {
      if (typeof piece === "string") continue;
      path(piece.path, bound, maybe || piece.filters.some((filter) => filter.name === "default"));
    }
  };

  const element = (at: Element, bound: Bound, maybe: boolean): void => {
    const within: Bound = at.tag === "let" ? bound : { names: new Set(), above: bound };
    if (at.each) {
      path(at.each.list, bound, maybe);
      within.names.add(at.each.name).add("loop");
    }
    if (at.when) path(at.when.path, within, true);
    const perhaps = maybe || at.when !== undefined;
    text(at.caption ?? [], within, perhaps);
    text(at.lang ?? [], within, perhaps);
    if (at.tag === "include" && library) {
      for (const asked of askedBy([...chain, library.template(chain, at)], library, known)) {
        add({ ...asked, optional: asked.optional || perhaps }, within);
      }
    }
    parts(at.body, within, perhaps);
    // What an `if` may leave undefined has to come from the values.
    if (at.tag === "let" && !at.when && at.name !== undefined) bound.names.add(at.name);
  };
  const nodes = (list: readonly Node[], bound: Bound, maybe: boolean): void => {
    for (const node of list) {
      if (node.tag === "text") text(node.pieces, bound, maybe);
      else element(node, bound, maybe);
    }
  };
  const parts = (list: readonly PomlPart[], bound: Bound, maybe: boolean): void => {
    for (const part of list) {
      if (part.tag === "lines") nodes(part.nodes, bound, maybe);
      else element(part, bound, maybe);
    }
  };

  if (content.kind === "markdown") text(content.pieces, { names: new Set() }, false);
  else parts(content.root.body, { names: new Set() }, false);
  const asked = [...found.values()];
  known.set(document, asked);
  return asked;
}
