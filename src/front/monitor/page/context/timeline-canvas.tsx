// The drawing of a timeline, as wide as its place and in the colours of the page.
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Timeline } from "../../context-api.ts";
import { moment as clock, duration } from "../format.ts";
import { useNow } from "../parts.tsx";
import { freshBrush, useColours, useSize } from "./canvas.ts";
import { draw } from "./timeline-draw.ts";
import { type Pointed, useHands } from "./timeline-hands.ts";
import { heightOf, type Layout } from "./timeline-lanes.ts";
import type { Range } from "./timeline-range.ts";

interface TimelineCanvasProps {
  timeline: Timeline | undefined;
  /** All that there is, and the part that is shown. */
  whole: Range | undefined;
  range: Range | undefined;
  /** Where what is not over ends. */
  now: number;
  moment: number | undefined;
  chosen: number | undefined;
  onWidth(width: number): void;
  onRange(range: Range | undefined): void;
  onChoose(seq: number): void;
}

/** Narrower than this, names get less room. */
const NARROW = 600;

export function TimelineCanvas(props: TimelineCanvasProps) {
  const { timeline, whole, range, now, moment, chosen, onWidth, onRange, onChoose } = props;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { width, scale } = useSize(box);
  const colours = useColours(box);
  const agents = timeline?.agents ?? [];
  const height = heightOf(agents.length);
  const layout: Layout | undefined = range && { left: width < NARROW ? 64 : 120, width, range, agents, now };
  const drawn = timeline && layout && whole && { timeline, layout, whole };
  const { pointed, handlers } = useHands({ box, drawn, onRange, onChoose });

  useLayoutEffect(() => onWidth(width), [width, onWidth]);

  // Drawn when one of these is another: the layout is made of them.
  useLayoutEffect(() => {
    const brush = drawn && colours && freshBrush(canvas.current, { width, scale, height });
    if (brush) draw(brush, { ...drawn, height, colours, moment, chosen });
  }, [timeline, width, scale, height, range?.from, range?.to, now, moment, chosen, colours]);

  return (
    <div
      ref={box}
      class="timeline-canvas"
      role="application"
      aria-label="Timeline. Left and right move, plus and minus zoom, 0 shows all, up and down go from stretch to stretch, Enter opens one. The same stands below as a table."
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it is moved and zoomed by keys
      tabIndex={0}
      {...handlers}
    >
      <canvas ref={canvas} />
      {pointed && <Tip pointed={pointed} width={width} />}
      {timeline && agents.length === 0 && <p class="alone quiet-ink">Nothing was done yet.</p>}
    </div>
  );
}

function Tip({ pointed: { thing, x, y }, width }: { pointed: Pointed; width: number }) {
  const now = useNow();
  const side = x > width / 2 ? { right: `${Math.max(0, width - x + 8)}px` } : { left: `${x + 8}px` };
  return (
    <div class="tip" aria-hidden="true" style={{ top: `${y + 12}px`, ...side }}>
      <b class="others">{thing.kind === "mark" ? thing.mark.title : thing.span.title}</b>
      <span class="others quiet-ink">{tipFacts(thing, now).join(" · ")}</span>
    </div>
  );
}

function tipFacts(thing: Pointed["thing"], now: number): string[] {
  if (thing.kind === "mark") return [thing.mark.kind, clock(thing.mark.at, now)];
  const { agent, kind, from, to, failed } = thing.span;
  const length = to === undefined ? "not over" : duration(to - from);
  return [agent, kind, clock(from, now), length, ...(failed ? ["failed"] : [])];
}
