// One chart: lines of one unit, drawn on a canvas, with their values at the cursor in words. Pointed at or moved by keys; what it shows for eyes, a table says.
import { useLayoutEffect, useRef } from "preact/hooks";
import { cssColour, freshBrush, useColours, useSize } from "../canvas.ts";
import { type ChartDrawing, drawChart, HEIGHT, MOST_DASH, pointAt, STROKES } from "./chart-draw.ts";
import { largestIn, nearest, placeUpTo } from "./chart-scale.ts";

export interface ChartProps extends Omit<ChartDrawing, "most"> {
  title: string;
  most?: { label: string; value: number } | undefined;
  /** The cursor is one for all charts of a view; undefined: nobody points. */
  onCursor(place: number | undefined): void;
  onPick(place: number): void;
}

export function Chart(props: ChartProps) {
  const { title, across, lines, most, format, moment, cursor, onCursor, onPick } = props;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { width, scale } = useSize(box);
  const colours = useColours(box);
  // A limit far above would press the lines to the floor: then only words say it.
  const line = most && largestIn(lines) > most.value / 5 ? most.value : undefined;
  const last = across.points.length - 1;
  const place = Math.min(cursor ?? moment ?? last, last);

  useLayoutEffect(() => {
    const brush = colours && width > 0 ? freshBrush(canvas.current, { width, scale, height: HEIGHT }) : undefined;
    if (colours && brush) drawChart(brush, { ...props, most: line }, { width, colours });
  }, [width, scale, colours, across, lines, line, moment, cursor]);

  const written = lines.map(({ label, values }) => {
    const value = values[placeUpTo(values, place)] ?? undefined;
    return { label, says: value === undefined ? "–" : format(value) };
  });
  const onPointer = (event: PointerEvent) => {
    const left = box.current?.getBoundingClientRect().left ?? 0;
    onCursor(nearest(across.points, pointAt(event.clientX - left, across.points, width)));
  };
  return (
    <figure class="chart">
      <figcaption>
        <h2>{title}</h2>
        <ul class="chart-legend">
          {written.map(({ label, says }, i) => (
            <li key={i}>
              <Swatch {...STROKES[i % STROKES.length]!} />
              <span class="others">{label}</span> <b>{says}</b>
            </li>
          ))}
          {most && (
            <li>
              {line !== undefined && <Swatch colour="ink" dash={MOST_DASH} />}
              {most.label} {format(most.value)}
            </li>
          )}
        </ul>
      </figcaption>
      <div
        ref={box}
        class="chart-box"
        role="slider"
        tabIndex={0}
        aria-label={`${title}: left and right move, Enter goes to the event`}
        aria-valuemin={1}
        aria-valuemax={last + 1}
        aria-valuenow={place + 1}
        aria-valuetext={[across.says(place), ...written.map(({ label, says }) => `${label} ${says}`)].join(", ")}
        onPointerDown={onPointer}
        onPointerMove={onPointer}
        onPointerLeave={() => onCursor(undefined)}
        onFocus={() => onCursor(place)}
        onBlur={() => onCursor(undefined)}
        onClick={() => onPick(place)}
        onKeyDown={(event) => {
          const next = placeFor(event, place, last);
          if (next === undefined) return;
          event.preventDefault();
          onCursor(next);
          if (event.key === "Enter") onPick(next);
        }}
      >
        <canvas ref={canvas} />
      </div>
    </figure>
  );
}

const Swatch = ({ colour, dash }: (typeof STROKES)[number]) => (
  <svg class="chart-swatch" width="22" height="8" aria-hidden="true" style={{ stroke: cssColour(colour) }}>
    <path d="M0 4h22" stroke-dasharray={dash.join(" ")} />
  </svg>
);

/** Undefined: not a key of charts. */
function placeFor({ key, ctrlKey, metaKey, altKey }: KeyboardEvent, place: number, last: number): number | undefined {
  if (ctrlKey || metaKey || altKey) return undefined;
  const far = Math.ceil(last / 10);
  const places: Record<string, number> = {
    ...{ ArrowLeft: place - 1, ArrowRight: place + 1, PageDown: place - far, PageUp: place + far },
    ...{ Home: 0, End: last, Enter: place },
  };
  const found = Object.hasOwn(places, key) ? places[key] : undefined;
  return found === undefined ? undefined : Math.max(0, Math.min(last, found));
}
