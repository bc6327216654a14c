// What a hand or keys do in a timeline: move, zoom, point, choose.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Timeline } from "../../context-api.ts";
import { useParts } from "../parts.tsx";
import { boxOf, type Layout, spansIn, type Thing, thingAt, timeAt } from "./timeline-lanes.ts";
import { lengthOf, moved, type Range, zoomed } from "./timeline-range.ts";

interface HandsOptions {
  box: { readonly current: HTMLElement | null };
  /** Undefined: nothing is drawn yet. */
  drawn: { timeline: Timeline; layout: Layout; whole: Range } | undefined;
  /** Undefined: all of it. */
  onRange(range: Range | undefined): void;
  onChoose(seq: number): void;
}

/** What is pointed at, and where its words go. */
export interface Pointed {
  thing: Thing;
  x: number;
  y: number;
}

export interface Hands {
  pointed: Pointed | undefined;
  handlers: {
    onPointerDown(event: PointerEvent): void;
    onPointerMove(event: PointerEvent): void;
    onPointerUp(event: PointerEvent): void;
    onPointerLeave(): void;
    onBlur(): void;
    onKeyDown(event: KeyboardEvent): void;
  };
}

const STEP = 0.2;
const CLOSER = 0.7;
const DRAG_FROM_PX = 4;

const seqOf = (thing: Thing): number => (thing.kind === "span" ? thing.span.seq : thing.mark.seq);

export function useHands({ box, drawn, onRange, onChoose }: HandsOptions): Hands {
  const [pointed, setPointed] = useState<Pointed | undefined>(undefined);
  const drag = useRef<{ x: number; range: Range; isMoving: boolean } | undefined>(undefined);
  const onKeyDown = useTimelineKeys({ drawn, onRange, onChoose }, pointed, setPointed);
  useWheelZoom({ box, drawn, onRange });

  const placeOf = (event: PointerEvent) => {
    const { left, top } = box.current?.getBoundingClientRect() ?? { left: 0, top: 0 };
    return { x: event.clientX - left, y: event.clientY - top };
  };
  const point = (event: PointerEvent): Pointed | undefined => {
    const { x, y } = placeOf(event);
    const thing = drawn && thingAt({ x, y }, drawn.timeline, drawn.layout);
    return thing && { thing, x, y };
  };
  return {
    pointed,
    handlers: {
      onPointerDown(event) {
        if (event.button !== 0 || !drawn) return;
        drag.current = { x: placeOf(event).x, range: drawn.layout.range, isMoving: false };
        box.current?.setPointerCapture(event.pointerId);
      },
      onPointerMove(event) {
        const held = drag.current;
        if (!held || !drawn) {
          setPointed(point(event));
          return;
        }
        const by = held.x - placeOf(event).x;
        held.isMoving ||= Math.abs(by) > DRAG_FROM_PX;
        if (!held.isMoving) return;
        setPointed(undefined);
        const { left, width } = drawn.layout;
        onRange(moved(held.range, (by / (width - left)) * lengthOf(held.range), drawn.whole));
      },
      onPointerUp(event) {
        const held = drag.current;
        drag.current = undefined;
        const under = held && !held.isMoving ? point(event) : undefined;
        if (under) onChoose(seqOf(under.thing));
      },
      onPointerLeave: () => setPointed(undefined),
      onBlur: () => setPointed(undefined),
      onKeyDown,
    },
  };
}

function useTimelineKeys(
  { drawn, onRange, onChoose }: Omit<HandsOptions, "box">,
  pointed: Pointed | undefined,
  setPointed: (pointed: Pointed) => void,
): (event: KeyboardEvent) => void {
  const { announce } = useParts();
  const pointNext = (by: 1 | -1) => {
    if (!drawn) return;
    const { timeline, layout } = drawn;
    const all = spansIn(timeline, layout.range, layout.now);
    const before = pointed?.thing.kind === "span" ? all.indexOf(pointed.thing.span) : -1;
    const span = all[Math.max(0, Math.min(all.length - 1, before + by))];
    const place = span && boxOf(span, layout);
    if (!span || !place) return;
    setPointed({ thing: { kind: "span", span }, x: place.x, y: place.y + place.height });
    announce(`${span.agent}, ${span.kind}: ${span.title}${span.failed ? ", failed" : ""}`);
  };
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !drawn) return;
    const { layout, whole } = drawn;
    const { range } = layout;
    const at = pointed ? timeAt(pointed.x, layout) : (range.from + range.to) / 2;
    const zoom = (factor: number) => onRange(zoomed(range, { factor, at, all: whole }));
    const acts: Record<string, () => void> = {
      ArrowLeft: () => onRange(moved(range, -STEP * lengthOf(range), whole)),
      ArrowRight: () => onRange(moved(range, STEP * lengthOf(range), whole)),
      ArrowDown: () => pointNext(1),
      ArrowUp: () => pointNext(-1),
      Enter: () => pointed && onChoose(seqOf(pointed.thing)),
      "+": () => zoom(CLOSER),
      "=": () => zoom(CLOSER),
      "-": () => zoom(1 / CLOSER),
      "0": () => onRange(undefined),
    };
    const act = Object.hasOwn(acts, event.key) ? acts[event.key] : undefined;
    if (!act) return;
    event.preventDefault();
    act();
  };
}

/** With Ctrl, as a map: without it the page scrolls. */
function useWheelZoom({ box, drawn, onRange }: Pick<HandsOptions, "box" | "drawn" | "onRange">): void {
  const newest = useRef({ drawn, onRange });
  newest.current = { drawn, onRange };
  // A page may not listen to the wheel and keep it, unless it says so first.
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const onWheel = (event: WheelEvent) => {
      const { drawn: now, onRange: show } = newest.current;
      if (!event.ctrlKey || !now) return;
      event.preventDefault();
      const at = timeAt(event.clientX - element.getBoundingClientRect().left, now.layout);
      show(zoomed(now.layout.range, { factor: Math.exp(event.deltaY / 300), at, all: now.whole }));
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, [box]);
}
