// White space in POML: indentation and edges that belong to the file go; values are never touched.
import type { TextPiece } from "./expression.ts";
import type { Lines, Node, PomlPart } from "./poml-tree.ts";

type Cut = (text: string) => string;

// The wide space of Japanese text (U+3000) is ink here: it is an author's indentation.
const cutStart: Cut = (text) => text.replace(/^[ \t\n]+/, "");
const firstBreak: Cut = (text) => text.replace(/^[ \t]*\n/, "");
const lastBreak: Cut = (text) => text.replace(/\n[ \t]*$/, "");
function cutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && " \t\n".includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** Children of an element that holds blocks: neighbours that flow in lines are put together. */
export function layoutBlocks(nodes: Node[]): PomlPart[] {
  const parts: PomlPart[] = [];
  let lines: Node[] = [];
  const flush = (): void => {
    const laid = layoutLines(lines);
    if (laid.nodes.length > 0) parts.push(laid);
    lines = [];
  };
  for (const node of nodes) {
    if (node.tag === "text" || !node.block) {
      lines.push(node);
      continue;
    }
    flush();
    parts.push(node);
  }
  flush();
  return parts;
}

/** Lines lose the indentation they share, and the white space at both ends. */
export function layoutLines(nodes: Node[]): Lines {
  return { tag: "lines", nodes: trim(dedent(nodes), cutStart, cutEnd) };
}

/** What stands inside a line: every run of white space is one space. */
export function layoutInline(nodes: Node[]): Lines {
  return {
    tag: "lines",
    nodes: trim(
      literals(nodes, (text) => text.replace(/[ \t\n]+/g, " ")),
      cutStart,
      cutEnd,
    ),
  };
}

/** A block of code keeps its lines and loses the indentation they share. */
export function layoutCode(nodes: Node[]): Lines {
  return { tag: "lines", nodes: trim(dedent(nodes), firstBreak, lastBreak) };
}

export function trimPieces(pieces: TextPiece[]): TextPiece[] {
  const [text] = trim([{ tag: "text", pieces }], cutStart, cutEnd);
  return text?.tag === "text" ? text.pieces : [];
}

function dedent(nodes: Node[]): Node[] {
  let indent = Number.POSITIVE_INFINITY;
  nodes.forEach((node, n) => {
    if (node.tag !== "text") return;
    node.pieces.forEach((piece, p) => {
      if (typeof piece !== "string") return;
      const last = n === nodes.length - 1 && p === node.pieces.length - 1;
      for (const found of piece.matchAll(/\n([ \t]*)(?=([^\n])?)/g)) {
        const [whole, spaces = "", next] = found;
        const ends = found.index + whole.length === piece.length;
        const blank = next === undefined && (!ends || last);
        if (!blank) indent = Math.min(indent, spaces.length);
      }
    });
  });
  const cut = Number.isFinite(indent) ? indent : 0;
  return literals(nodes, (text) =>
    text.replace(/\n([ \t]*)(?=(\n)?)/g, (_, w: string, n) => `\n${n ? "" : w.slice(cut)}`),
  );
}

function literals(nodes: Node[], change: (text: string) => string): Node[] {
  return nodes.map((node) =>
    node.tag !== "text"
      ? node
      : { ...node, pieces: node.pieces.map((piece) => (typeof piece === "string" ? change(piece) : piece)) },
  );
}

/** Cuts at both ends of the literals, up to the first thing that is no literal; <let> does not count. */
function trim(nodes: Node[], start: Cut, end: Cut): Node[] {
  const kept = nodes.map((node) => (node.tag === "text" ? { ...node, pieces: [...node.pieces] } : node));
  cutFrom(kept, start, (list) => [...list.keys()]);
  cutFrom(kept, end, (list) => [...list.keys()].reverse());
  return kept
    .map((node) => (node.tag === "text" ? { ...node, pieces: node.pieces.filter((piece) => piece !== "") } : node))
    .filter((node) => node.tag !== "text" || node.pieces.length > 0);
}

function cutFrom(nodes: Node[], cut: Cut, order: (list: unknown[]) => number[]): void {
  for (const n of order(nodes)) {
    const node = nodes[n];
    if (!node || node.tag === "let") continue;
    if (node.tag !== "text") return;
    for (const p of order(node.pieces)) {
      const piece = node.pieces[p];
      if (typeof piece !== "string") return;
      node.pieces[p] = cut(piece);
      if (node.pieces[p] !== "") return;
    }
  }
}
