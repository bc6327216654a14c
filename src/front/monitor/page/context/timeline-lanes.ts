// Where everything of a timeline is drawn: a lane for each agent, in it the turn around its model calls, tools, jobs and waits. And what is at a point.
import type { Span, SpanKind, Timeline } from "../../context-api.ts";
import type { Range } from "./timeline-range.ts";

export const AXIS = 24;
export const MARKS = 18;
export const LANE = 58;
const GAP = 6;

/** Inside a lane: from its top, and how high. A turn stands around the others. */
const ROWS: Readonly<Record<SpanKind, { top: number; height: number }>> = {
  turn: { top: 0, height: LANE },
  model: { top: 6, height: 13 },
  tool: { top: 22, height: 13 },
  wait: { top: 22, height: 13 },
  many: { top: 22, height: 13 },
  job: { top: 38, height: 13 },
};

export interface Layout {
  /** Where the lanes begin: left of it are the names. */
  left: number;
  width: number;
  range: Range;
  agents: readonly string[];
  /** Where a span that is not over ends. */
  now: number;
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export type Mark = Timeline["marks"][number];

/** What can be pointed at. */
export type Thing = { kind: "span"; span: Span } | { kind: "mark"; mark: Mark };

export const laneTop = (index: number): number => AXIS + MARKS + index * (LANE + GAP);
export const heightOf = (agents: number): number => laneTop(Math.max(1, agents)) + GAP;

export function xOf(at: number, { left, width, range }: Layout): number {
  return left + ((at - range.from) / Math.max(1, range.to - range.from)) * (width - left);
}

export function timeAt(x: number, { left, width, range }: Layout): number {
  return range.from + ((x - left) / Math.max(1, width - left)) * (range.to - range.from);
}

/** Undefined: outside of what is shown. Always wide enough to be seen. */
export function boxOf(span: Span, layout: Layout): Box | undefined {
  const lane = layout.agents.indexOf(span.agent);
  const [start, end] = [xOf(span.from, layout), xOf(span.to ?? layout.now, layout)];
  if (lane < 0 || end < layout.left || start > layout.width) return undefined;
  const { top, height } = ROWS[span.kind];
  const x = Math.max(layout.left, start);
  const width = Math.max(span.kind === "turn" ? 1 : 2, Math.min(layout.width, end) - x);
  return { x, y: laneTop(lane) + top, width, height };
}

const NEAR = 3;

/** The innermost thing there: a mark, then what is inside a turn, then the turn. */
export function thingAt({ x, y }: { x: number; y: number }, timeline: Timeline, layout: Layout): Thing | undefined {
  if (y < AXIS + MARKS) {
    const near = timeline.marks.filter((mark) => Math.abs(xOf(mark.at, layout) - x) <= 2 * NEAR);
    const mark = near.toSorted((a, b) => Math.abs(xOf(a.at, layout) - x) - Math.abs(xOf(b.at, layout) - x))[0];
    return mark && { kind: "mark", mark };
  }
  let turn: Span | undefined;
  let found: { span: Span; off: number } | undefined;
  for (const span of timeline.spans) {
    const box = boxOf(span, layout);
    if (!box || y < box.y || y > box.y + box.height) continue;
    const off = Math.max(box.x - x, x - box.x - box.width, 0);
    if (off > NEAR) continue;
    if (span.kind === "turn") turn = span;
    else if (!found || off < found.off) found = { span, off };
  }
  const span = found?.span ?? turn;
  return span && { kind: "span", span };
}

/** Those in sight, in order of time: for keys and for the table. */
export const spansIn = ({ spans }: Timeline, { from, to }: Range, now: number): Span[] =>
  spans
    .filter((span) => span.from <= to && (span.to ?? now) >= from)
    .toSorted((a, b) => a.from - b.from || a.seq - b.seq);
