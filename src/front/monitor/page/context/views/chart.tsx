// One chart over time (uPlot), in the colours of the page, with its cursor on every other chart too. What it shows for eyes, a table says.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { axisTime, type ChartLine } from "./chart-data.ts";

export interface ChartProps {
  title: string;
  /** Milliseconds, growing. */
  at: readonly number[];
  lines: readonly ChartLine[];
  /** A line across that is no series: how much there may be. */
  most?: { label: string; value: number } | undefined;
  format(value: number): string;
  /** The place of the moment that is looked at. */
  moment: number | undefined;
  onPick(place: number): void;
}

const HEIGHT = 150;
type Plot = typeof uPlot;
/** As large as half of the page: it comes when the first chart is looked at, and stays. */
let loaded: Plot | undefined;

function usePlot(): Plot | undefined {
  const [plot, setPlot] = useState(() => loaded);
  useEffect(() => {
    if (loaded) return;
    void import("uplot").then((module) => {
      loaded = module.default;
      setPlot(() => loaded);
    });
  }, []);
  return plot;
}
const COLOURS = ["--accent", "--good", "--warn", "--bad", "--ink", "--ink-quiet"];
/** Told apart without colours too. */
const DASHES = [[], [6, 3], [2, 3], [10, 3, 2, 3], [1, 4], [4, 4]];

export function Chart(props: ChartProps) {
  const { title, at, lines, most, format } = props;
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | undefined>(undefined);
  const [cursor, setCursor] = useState<number | undefined>(undefined);
  const theme = useTheme();
  const Plot = usePlot();
  const newest = useRef(props);
  newest.current = props;
  const isMostShown = most !== undefined && largestIn(lines) > most.value / 5;
  const shape = `${theme} ${lines.map(({ label }) => label).join("\n")} ${isMostShown}`;
  const drawn = isMostShown ? [...lines, { label: most.label, values: at.map(() => most.value) }] : lines;
  const data = [at.map((ms) => ms / 1000), ...drawn.map(({ values }) => values)] as unknown as uPlot.AlignedData;

  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !Plot) return;
    const made = new Plot(
      optionsOf({ width: element.clientWidth, count: drawn.length, isMostShown, newest, setCursor }),
      data,
      element,
    );
    chart.current = made;
    const seen = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    seen.observe(element);
    return () => {
      seen.disconnect();
      made.destroy();
      chart.current = undefined;
    };
  }, [Plot, shape]);

  useEffect(() => chart.current?.setData(data), [at, lines]);
  useEffect(() => chart.current?.redraw(false), [props.moment]);

  const place = cursor ?? props.moment ?? at.length - 1;
  return (
    <figure class="chart">
      <figcaption>
        <h2>{title}</h2>
        <ul class="chart-legend">
          {lines.map(({ label, values }, i) => (
            <li key={label}>
              <span class={`chart-swatch line-${i}`} aria-hidden="true" />
              <span class="others">{label}</span> <b>{valueAt(values, place, format)}</b>
            </li>
          ))}
          {most && (
            <li class="quiet-ink">
              {most.label} {format(most.value)}
            </li>
          )}
        </ul>
      </figcaption>
      <div ref={box} class="chart-box" aria-hidden="true" />
    </figure>
  );
}

/** The newest up to there: lines of several agents have gaps. */
function valueAt(values: readonly (number | null)[], place: number, format: (value: number) => string): string {
  for (let i = place; i >= 0; i--) {
    const value = values[i];
    if (value !== null && value !== undefined) return format(value);
  }
  return "–";
}

const largestIn = (lines: readonly ChartLine[]): number =>
  lines.reduce((most, { values }) => values.reduce<number>((all, one) => Math.max(all, one ?? 0), most), 0);

interface Making {
  width: number;
  count: number;
  isMostShown: boolean;
  newest: { current: ChartProps };
  setCursor(place: number | undefined): void;
}

function optionsOf({ width, count, isMostShown, newest, setCursor }: Making): uPlot.Options {
  const colour = coloursOf();
  const quiet = colour("--ink-quiet");
  const axis = {
    stroke: quiet,
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
    font: "11px system-ui",
  };
  const line = (i: number): uPlot.Series =>
    isMostShown && i === count - 1
      ? { stroke: quiet, width: 1, dash: [4, 4], points: { show: false } }
      : {
          stroke: colour(COLOURS[i] ?? "--ink"),
          width: 1.75,
          dash: DASHES[i] ?? [],
          spanGaps: true,
          points: { size: 4 },
        };
  return {
    ...{ width: Math.max(80, width), height: HEIGHT, legend: { show: false }, padding: [8, 12, 0, 0] },
    cursor: { sync: { key: "usage" }, drag: { x: false, y: false }, points: { size: 7 }, y: false },
    scales: { y: { range: (_, low, high) => [Math.min(0, low ?? 0), high > 0 ? high * 1.08 : 1] } },
    axes: [
      {
        ...axis,
        space: 70,
        size: 26,
        values: (self, splits) => {
          const { min = 0, max = 0 } = self.scales.x ?? {};
          return splits.map((second) => axisTime(second * 1000, ((max ?? 0) - (min ?? 0)) * 1000));
        },
      },
      { ...axis, size: 62, space: 36, values: (_, splits) => splits.map((value) => newest.current.format(value)) },
    ],
    series: [{}, ...Array.from({ length: count }, (_, i) => line(i))],
    hooks: {
      setCursor: [(self) => setCursor(self.cursor.idx ?? undefined)],
      draw: [(self) => drawMoment(self, newest.current, colour("--bad"))],
      ready: [
        (self) =>
          self.over.addEventListener("click", () => {
            if (typeof self.cursor.idx === "number") newest.current.onPick(self.cursor.idx);
          }),
      ],
    },
  };
}

function drawMoment(self: uPlot, { at, moment }: ChartProps, stroke: string): void {
  const when = moment === undefined ? undefined : at[moment];
  if (when === undefined) return;
  const { ctx, bbox } = self;
  const x = self.valToPos(when / 1000, "x", true);
  ctx.save();
  ctx.setLineDash([]);
  ctx.strokeStyle = stroke;
  ctx.lineWidth = devicePixelRatio;
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
}

/** What a name of the style sheet is now: a canvas does not know names. */
function coloursOf(): (name: string) => string {
  const style = getComputedStyle(document.body);
  const known = new Map<string, string>();
  const before = document.body.style.outlineColor;
  return (name) => {
    let found = known.get(name);
    if (found === undefined) {
      document.body.style.outlineColor = `var(${name})`;
      found = style.outlineColor;
      document.body.style.outlineColor = before;
      known.set(name, found);
    }
    return found;
  };
}

const DARK = "(prefers-color-scheme: dark)";

function useTheme(): "dark" | "light" {
  const [isDark, setDark] = useState(() => matchMedia(DARK).matches);
  useEffect(() => {
    const query = matchMedia(DARK);
    const look = () => setDark(query.matches);
    query.addEventListener("change", look);
    return () => query.removeEventListener("change", look);
  }, []);
  return isDark ? "dark" : "light";
}
