// Draws one chart on a canvas: marks, lines, how much there may be, the moment that is looked at, the cursor.
import type { ColourName, Colours } from "../canvas.ts";
import { lengthOf, type Range } from "../timeline-range.ts";
import type { ChartLine } from "./chart-data.ts";
import { type Across, largestIn, placeUpTo, rangeOf, roundMarks } from "./chart-scale.ts";

export const HEIGHT = 160;
/** The same for all: the cursor stands at one place in charts above each other. */
const LEFT = 56;
const RIGHT = 12;
const TOP = 8;
const BOTTOM = 24;
const FLOOR = HEIGHT - BOTTOM;

/** Told apart by colour, and without colours too. */
export const STROKES: readonly { colour: ColourName; dash: readonly number[] }[] = [
  { colour: "accent", dash: [] },
  { colour: "good", dash: [6, 3] },
  { colour: "warn", dash: [2, 2] },
  { colour: "bad", dash: [10, 3, 2, 3] },
  { colour: "ink", dash: [1, 4] },
  { colour: "quiet", dash: [12, 4] },
];
export const MOST_DASH: readonly number[] = [3, 3];

export interface ChartDrawing {
  across: Across;
  lines: readonly ChartLine[];
  /** Sums hold until the next point; a measure of each round goes from one to the next. */
  shape: "step" | "line";
  /** How much there may be: a line across that is no series. */
  most: number | undefined;
  format(value: number): string;
  /** What two marks must differ by to be written differently. */
  least: number;
  /** Places of points. */
  moment: number | undefined;
  cursor: number | undefined;
}

interface Frame extends ChartDrawing {
  brush: CanvasRenderingContext2D;
  colours: Colours;
  width: number;
  range: Range;
  high: number;
  x(place: number): number;
  y(value: number): number;
}

const right = (width: number): number => Math.max(LEFT + 1, width - RIGHT);

/** Where on the axis that is: for a pointer. */
export function pointAt(x: number, points: readonly number[], width: number): number {
  const range = rangeOf(points);
  return range.from + ((x - LEFT) / (right(width) - LEFT)) * lengthOf(range);
}

export function drawChart(
  brush: CanvasRenderingContext2D,
  drawing: ChartDrawing,
  { width, colours }: { width: number; colours: Colours },
): void {
  const { points } = drawing.across;
  const range = rangeOf(points);
  const { most } = drawing;
  const high = Math.max(largestIn(drawing.lines), most ?? 0);
  const frame: Frame = {
    ...drawing,
    ...{ brush, colours, width, range, high },
    x: (place) => xOf(points[place] ?? range.from, width, range),
    y: (value) => FLOOR - (value / (high * 1.06 || 1)) * (FLOOR - TOP),
  };
  brush.font = `11px ${colours.face}`;
  brush.textBaseline = "middle";
  drawMarks(frame);
  drawBelow(frame);
  for (const i of drawing.lines.keys()) drawLine(frame, i);
  if (most !== undefined) drawMost(frame, most);
  drawMoment(frame);
  drawCursor(frame);
}

const xOf = (at: number, width: number, { from, to }: Range): number =>
  LEFT + ((at - from) / (to - from)) * (right(width) - LEFT);

function drawMarks({ brush, colours, width, high, least, format, y }: Frame): void {
  brush.textAlign = "right";
  for (const value of roundMarks({ from: 0, to: high }, { most: 4, least })) {
    brush.fillStyle = value === 0 ? colours.strong : colours.line;
    brush.fillRect(LEFT, Math.round(y(value)), right(width) - LEFT, 1);
    brush.fillStyle = colours.quiet;
    brush.fillText(format(value), LEFT - 8, y(value));
  }
}

/** Times or events below; the cursor's first: what it would hide is not written. */
function drawBelow({ brush, colours, width, range, across, cursor, x }: Frame): void {
  const taken: Range[] = [];
  const write = (says: string, at: number, colour: string) => {
    const half = brush.measureText(says).width / 2 + 4;
    const middle = Math.max(half, Math.min(at, width - half));
    if (taken.some(({ from, to }) => middle - half < to && middle + half > from)) return;
    taken.push({ from: middle - half, to: middle + half });
    brush.fillStyle = colour;
    brush.fillText(says, middle, FLOOR + 14);
  };
  brush.textAlign = "center";
  if (cursor !== undefined) write(across.says(cursor), x(cursor), colours.ink);
  for (const { at, says } of across.ticks(range, Math.max(1, (width - LEFT) / 80))) {
    const place = xOf(at, width, range);
    brush.fillStyle = colours.strong;
    brush.fillRect(Math.round(place), FLOOR, 1, 4);
    write(says, place, colours.quiet);
  }
}

type Dot = [x: number, y: number];

function drawLine({ brush, colours, lines, shape, x, y, width }: Frame, index: number): void {
  const { colour, dash } = STROKES[index % STROKES.length]!;
  const dots: Dot[] = [];
  brush.beginPath();
  lines[index]!.values.forEach((value, place) => {
    if (value === null) return;
    const before = dots.at(-1);
    const dot: Dot = [x(place), y(value)];
    if (before && shape === "step") brush.lineTo(dot[0], before[1]);
    brush.lineTo(...dot);
    dots.push(dot);
  });
  brush.strokeStyle = brush.fillStyle = colours[colour];
  brush.lineWidth = 1.75;
  brush.lineJoin = "round";
  brush.setLineDash([...dash]);
  brush.stroke();
  brush.setLineDash([]);
  if (lines.length === 1) fillBelow(brush, dots);
  if (width / dots.length > 14) for (const dot of dots) drawDot(brush, dot, 2.5);
}

/** Closes what was drawn last along the floor. */
function fillBelow(brush: CanvasRenderingContext2D, dots: readonly Dot[]): void {
  brush.lineTo(dots.at(-1)?.[0] ?? LEFT, FLOOR);
  brush.lineTo(dots[0]?.[0] ?? LEFT, FLOOR);
  brush.globalAlpha = 0.1;
  brush.fill();
  brush.globalAlpha = 1;
}

function drawDot(brush: CanvasRenderingContext2D, [x, y]: Dot, radius: number): void {
  brush.beginPath();
  brush.arc(x, y, radius, 0, 2 * Math.PI);
  brush.fill();
}

function drawMost({ brush, colours, width, y }: Frame, most: number): void {
  brush.strokeStyle = colours.ink;
  brush.lineWidth = 1;
  brush.setLineDash([...MOST_DASH]);
  brush.beginPath();
  brush.moveTo(LEFT, Math.round(y(most)) + 0.5);
  brush.lineTo(right(width), Math.round(y(most)) + 0.5);
  brush.stroke();
  brush.setLineDash([]);
}

/** As on the timeline: what came after the moment that is looked at is veiled. */
function drawMoment({ brush, colours, width, moment, x }: Frame): void {
  if (moment === undefined) return;
  const from = Math.round(x(moment));
  brush.globalAlpha = 0.7;
  brush.fillStyle = colours.ground;
  brush.fillRect(from, 0, width - from, FLOOR);
  brush.globalAlpha = 1;
  brush.fillStyle = colours.accent;
  brush.fillRect(from - 1, 0, 2, FLOOR);
}

function drawCursor({ brush, colours, lines, cursor, x, y }: Frame): void {
  if (cursor === undefined) return;
  brush.fillStyle = colours.ink;
  brush.fillRect(Math.round(x(cursor)), 0, 1, FLOOR + 4);
  lines.forEach(({ values }, i) => {
    const place = placeUpTo(values, cursor);
    if (place < 0) return;
    const dot: Dot = [x(place), y(values[place]!)];
    brush.fillStyle = colours.ground;
    drawDot(brush, dot, 5);
    brush.fillStyle = colours[STROKES[i % STROKES.length]!.colour];
    drawDot(brush, dot, 3.5);
  });
}
