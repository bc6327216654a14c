// Where the boxes of a flame graph stand: as wide as what they cost, never more of them than a page can hold.
import type { TokenCounts } from "../../../api.ts";
import type { CostNode } from "../../../context-api.ts";

export type CostMeasure = "usd" | "tokens" | "ms";

export interface FlameBox {
  /** Which child of which, from the root. Of several in one: of the first. */
  path: readonly number[];
  depth: number;
  /** Parts of the whole width. */
  left: number;
  width: number;
  node: CostNode;
  /** So many neighbours, each too narrow to be seen, are this one; 1: it is itself. */
  count: number;
  /** Of the measure. */
  amount: number;
}

const MOST_BOXES = 280;
/** Narrower ones are joined, to begin with. */
const NARROWEST = 1 / 400;

export const inputOf = ({ input, cacheRead, cacheWrite }: TokenCounts): number => input + cacheRead + cacheWrite;

/** Of what went in, the part that the provider had. */
export function cachedShare(tokens: TokenCounts): number {
  const all = inputOf(tokens);
  return all === 0 ? 0 : tokens.cacheRead / all;
}

export function amountOf({ usd, tokens, ms }: CostNode, measure: CostMeasure): number {
  if (measure === "usd") return usd;
  return measure === "ms" ? ms : inputOf(tokens) + tokens.output;
}

/** Undefined: there is no such place any more. */
export const nodeAt = (root: CostNode, path: readonly number[]): CostNode | undefined =>
  path.reduce<CostNode | undefined>((node, place) => node?.children[place], root);

/** `zoom`: what takes the whole width, with all above it. */
export function flameBoxes(root: CostNode, { measure, zoom }: { measure: CostMeasure; zoom: readonly number[] }) {
  for (let narrowest = NARROWEST; ; narrowest *= 1.5) {
    const boxes = boxesOf(root, { measure, zoom, narrowest });
    if (boxes.length <= MOST_BOXES) return boxes;
  }
}

interface Laying {
  measure: CostMeasure;
  zoom: readonly number[];
  narrowest: number;
}

function boxesOf(root: CostNode, { measure, zoom, narrowest }: Laying): FlameBox[] {
  const boxes: FlameBox[] = [];
  const add = (box: Omit<FlameBox, "depth" | "amount">, amount = amountOf(box.node, measure)) =>
    boxes.push({ ...box, depth: box.path.length, amount });

  function lay(node: CostNode, path: readonly number[], { left, width }: { left: number; width: number }): void {
    add({ path, left, width, node, count: 1 });
    const sum = node.children.reduce((all, child) => all + amountOf(child, measure), 0);
    if (sum === 0) return;
    let at = left;
    let narrow:
      | { path: readonly number[]; left: number; width: number; node: CostNode; count: number; sum: number }
      | undefined;
    const join = () => {
      if (narrow) {
        const { sum: amount, ...box } = narrow;
        add(box, amount);
      }
      narrow = undefined;
    };
    node.children.forEach((child, i) => {
      const amount = amountOf(child, measure);
      const wide = (amount / sum) * width;
      if (wide === 0) return;
      if (wide >= narrowest) {
        join();
        lay(child, [...path, i], { left: at, width: wide });
      } else {
        narrow ??= { path: [...path, i], left: at, width: 0, node: child, count: 0, sum: 0 };
        narrow.width += wide;
        narrow.count++;
        narrow.sum += amount;
        if (narrow.width >= narrowest) join();
      }
      at += wide;
    });
    join();
  }

  zoom.forEach((_, i) => {
    const path = zoom.slice(0, i);
    const node = nodeAt(root, path);
    if (node) add({ path, left: 0, width: 1, node, count: 1 });
  });
  const zoomed = nodeAt(root, zoom);
  if (zoomed) lay(zoomed, zoom, { left: 0, width: 1 });
  return boxes;
}

const ends = ({ left, width }: FlameBox): number => left + width;
const NEARLY = 1e-9;

/** Where an arrow leads from a box: to its neighbours, what it is part of, its first part. */
export function boxBeside(boxes: readonly FlameBox[], from: FlameBox, key: string): FlameBox | undefined {
  const onLevel = (depth: number) => boxes.filter((box) => box.depth === depth).sort((a, b) => a.left - b.left);
  const level = onLevel(from.depth);
  const place = level.indexOf(from);
  switch (key) {
    case "ArrowRight":
      return level[place + 1];
    case "ArrowLeft":
      return level[place - 1];
    case "ArrowUp":
      return onLevel(from.depth - 1).findLast((box) => box.left <= from.left + NEARLY);
    case "ArrowDown":
      return onLevel(from.depth + 1).find((box) => box.left >= from.left - NEARLY && box.left < ends(from));
    default:
      return undefined;
  }
}
