// Draws a timeline on a canvas, with the colours of the page.
import type { Span, Timeline } from "../../context-api.ts";
import type { Colours } from "./canvas.ts";
import { AXIS, boxOf, LANE, type Layout, laneTop, MARKS, type Mark, xOf } from "./timeline-lanes.ts";
import { ticks } from "./timeline-range.ts";

export interface Drawing {
  timeline: Timeline;
  layout: Layout;
  height: number;
  colours: Colours;
  /** The moment that is looked at. */
  moment: number | undefined;
  /** The event that is chosen. */
  chosen: number | undefined;
}

export function draw(brush: CanvasRenderingContext2D, drawing: Drawing): void {
  const { timeline, layout, height, colours } = drawing;
  brush.font = `12px ${colours.face}`;
  brush.textBaseline = "middle";
  drawAxis(brush, drawing);
  drawLanes(brush, drawing);
  brush.save();
  brush.beginPath();
  brush.rect(layout.left, 0, layout.width - layout.left, height);
  brush.clip();
  for (const span of timeline.spans) if (span.kind === "turn") drawSpan(brush, span, drawing);
  for (const span of timeline.spans) if (span.kind !== "turn") drawSpan(brush, span, drawing);
  drawMarks(brush, drawing);
  drawMoment(brush, drawing);
  brush.restore();
}

function line(
  brush: CanvasRenderingContext2D,
  x: number,
  { top, height, colour, width = 1 }: { top: number; height: number; colour: string; width?: number },
): void {
  brush.fillStyle = colour;
  brush.fillRect(Math.round(x), top, width, height - top);
}

function drawAxis(brush: CanvasRenderingContext2D, { layout, height, colours }: Drawing): void {
  const most = Math.max(2, Math.floor((layout.width - layout.left) / 90));
  for (const { at, says } of ticks(layout.range, most)) {
    const x = xOf(at, layout);
    line(brush, x, { top: AXIS - 4, height, colour: colours.line });
    brush.fillStyle = colours.quiet;
    brush.textAlign = x > layout.width - 30 ? "right" : "center";
    brush.fillText(says, x, AXIS / 2);
  }
}

function drawLanes(brush: CanvasRenderingContext2D, { layout, colours }: Drawing): void {
  brush.textAlign = "left";
  layout.agents.forEach((agent, i) => {
    const top = laneTop(i);
    brush.fillStyle = colours.line;
    brush.fillRect(0, top - 4, layout.width, 1);
    brush.fillStyle = colours.ink;
    brush.save();
    brush.beginPath();
    brush.rect(0, top, layout.left - 8, LANE);
    brush.clip();
    brush.fillText(agent, 8, top + LANE / 2);
    brush.restore();
  });
}

const colourOf = ({ kind, failed }: Span, colours: Colours): string => {
  if (failed) return colours.bad;
  const own: Partial<Record<Span["kind"], string>> = {
    model: colours.accent,
    tool: colours.good,
    job: colours.quiet,
    wait: colours.warn,
  };
  return own[kind] ?? colours.strong;
};

function drawSpan(brush: CanvasRenderingContext2D, span: Span, { layout, colours, chosen }: Drawing): void {
  const box = boxOf(span, layout);
  if (!box) return;
  const { x, y, width, height } = box;
  const isChosen = span.seq === chosen;
  if (span.kind === "turn") {
    brush.fillStyle = colours.turn;
    brush.fillRect(x, y, width, height);
    if (span.failed || isChosen) {
      brush.strokeStyle = isChosen ? colours.ink : colours.bad;
      brush.strokeRect(x + 0.5, y + 0.5, Math.max(0, width - 1), height - 1);
    }
    return;
  }
  brush.fillStyle = colourOf(span, colours);
  if (span.kind === "wait") hatch(brush, box);
  else brush.fillRect(x, y, width, height);
  if (span.to === undefined) {
    // It is not over: its end is open.
    brush.fillStyle = colours.ground;
    for (let at = y; at < y + height; at += 4) brush.fillRect(x + width - 3, at, 3, 2);
  }
  if (!isChosen) return;
  brush.strokeStyle = colours.ink;
  brush.lineWidth = 2;
  brush.strokeRect(x - 1, y - 1, width + 2, height + 2);
  brush.lineWidth = 1;
}

/** Waits look other than work, also without colours. */
function hatch(
  brush: CanvasRenderingContext2D,
  { x, y, width, height }: { x: number; y: number; width: number; height: number },
) {
  brush.fillRect(x, y, width, 2);
  brush.fillRect(x, y + height - 2, width, 2);
  for (let at = x; at < x + width; at += 5) brush.fillRect(at, y, 2, height);
}

const SIGNS: Readonly<Record<Mark["kind"], string>> = {
  epoch: "↯",
  checkpoint: "◆",
  takeover: "⇄",
  fork: "Y",
  restore: "↶",
};

export const signOf = (kind: Mark["kind"]): string => SIGNS[kind];

/** Checkpoints stand at every prompt: nearer than this they are one. */
const APART_PX = 9;

function drawMarks(brush: CanvasRenderingContext2D, { timeline, layout, height, colours }: Drawing): void {
  brush.textAlign = "center";
  let last = Number.NEGATIVE_INFINITY;
  for (const { at, kind } of timeline.marks) {
    const x = xOf(at, layout);
    if (kind === "checkpoint") {
      if (x - last < APART_PX) continue;
      last = x;
      diamond(brush, x, colours.quiet);
      continue;
    }
    line(brush, x, { top: AXIS + MARKS, height, colour: colours.warn });
    brush.fillText(signOf(kind), x, AXIS + MARKS / 2);
  }
}

function diamond(brush: CanvasRenderingContext2D, x: number, colour: string): void {
  const y = AXIS + MARKS / 2;
  brush.fillStyle = colour;
  brush.beginPath();
  brush.moveTo(x, y - 4);
  brush.lineTo(x + 4, y);
  brush.lineTo(x, y + 4);
  brush.lineTo(x - 4, y);
  brush.fill();
}

/** What came after the moment that is looked at is veiled: then it had not happened. */
function drawMoment(brush: CanvasRenderingContext2D, { moment, layout, height, colours }: Drawing): void {
  if (moment === undefined) return;
  const x = Math.max(layout.left, xOf(moment, layout));
  brush.globalAlpha = 0.7;
  brush.fillStyle = colours.ground;
  brush.fillRect(x, AXIS, Math.max(0, layout.width - x), height);
  brush.globalAlpha = 1;
  line(brush, x, { top: AXIS, height, colour: colours.accent, width: 2 });
}
