// What every drawing on a canvas needs: how wide its place is, how sharp the screen, the colours of the page, a brush that counts in the page's pixels.
import { useLayoutEffect, useState } from "preact/hooks";

type Place = { readonly current: HTMLElement | null };

/** Names of the style sheet. */
const COLOURS = {
  ground: "--ground",
  turn: "--ground-selected",
  line: "--line",
  strong: "--line-strong",
  ink: "--ink",
  quiet: "--ink-quiet",
  accent: "--accent",
  good: "--good",
  bad: "--bad",
  warn: "--warn",
} as const;

export type ColourName = keyof typeof COLOURS;
export type Colours = Readonly<Record<ColourName | "face", string>>;

/** For what the style sheet paints beside a drawing in the same colour. */
export const cssColour = (name: ColourName): string => `var(${COLOURS[name]})`;

/** As they are now: light or dark. A canvas does not know `light-dark()`: the browser resolves it on an element. */
function coloursOf(element: HTMLElement): Colours {
  const probe = document.createElement("span");
  probe.hidden = true;
  element.append(probe);
  const style = getComputedStyle(probe);
  const colour = (name: string) => {
    probe.style.color = `var(${name})`;
    return style.color;
  };
  const found = Object.entries(COLOURS).map(([name, variable]) => [name, colour(variable)] as const);
  const colours = Object.fromEntries([...found, ["face", style.fontFamily]]);
  probe.remove();
  return colours as Colours;
}

/** Anew when the reader's system turns dark or light. */
export function useColours(of: Place): Colours | undefined {
  const [colours, setColours] = useState<Colours | undefined>(undefined);
  useLayoutEffect(() => {
    const query = matchMedia("(prefers-color-scheme: dark)");
    const look = () => of.current && setColours(coloursOf(of.current));
    look();
    query.addEventListener("change", look);
    return () => query.removeEventListener("change", look);
  }, [of]);
  return colours;
}

/** In pixels of the page, and how many of the screen's each is: another after a zoom, or on another screen. */
export interface Size {
  width: number;
  scale: number;
}

export function useSize(of: Place): Size {
  const [width, setWidth] = useState(0);
  const [scale, setScale] = useState(devicePixelRatio);
  useLayoutEffect(() => {
    const element = of.current;
    if (!element) return;
    const look = () => {
      setWidth(element.clientWidth);
      setScale(devicePixelRatio);
    };
    const seen = new ResizeObserver(look);
    seen.observe(element);
    addEventListener("resize", look);
    look();
    return () => {
      seen.disconnect();
      removeEventListener("resize", look);
    };
  }, [of]);
  return { width, scale };
}

/** Contract: the canvas is empty and as large as said; the brush counts in pixels of the page. */
export function freshBrush(
  canvas: HTMLCanvasElement | null,
  { width, scale, height }: Size & { height: number },
): CanvasRenderingContext2D | undefined {
  const brush = canvas?.getContext("2d");
  if (!canvas || !brush) return undefined;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  brush.setTransform(scale, 0, 0, scale, 0, 0);
  return brush;
}
