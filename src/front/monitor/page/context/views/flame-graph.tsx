// The flame graph of costs: boxes as wide as what they cost. A click zooms; on what is zoomed already, or on a round, it goes to the event.
import { useMemo, useRef, useState } from "preact/hooks";
import type { Costs } from "../../../context-api.ts";
import { duration, money, tokens } from "../../format.ts";
import {
  amountOf,
  boxBeside,
  type CostMeasure,
  cachedShare,
  type FlameBox,
  flameBoxes,
  inputOf,
  nodeAt,
} from "./flame.ts";
import { percent } from "./pieces.tsx";

const BOX_HEIGHT = 30;
/** Narrower boxes have no room for a word. */
const WORD_PX = 34;

interface FlameGraphProps {
  costs: Costs;
  measure: CostMeasure;
  onOpen(seq: number): void;
}

const sameBox = (a: FlameBox, path: readonly number[]): boolean => a.path.join() === path.join();

export function FlameGraph({ costs, measure, onOpen }: FlameGraphProps) {
  const { tree } = costs;
  const [asked, setZoom] = useState<readonly number[]>([]);
  const [active, setActive] = useState<readonly number[]>([]);
  const frame = useRef<HTMLFieldSetElement>(null);
  const zoom = nodeAt(tree, asked) ? asked : [];
  const boxes = useMemo(() => flameBoxes(tree, { measure, zoom }), [tree, measure, zoom]);
  const marks = useMemo(() => marksOf(costs), [costs]);
  const whole = amountOf(tree, measure);
  const depth = Math.max(...boxes.map((box) => box.depth)) + 1;
  const current = boxes.find((box) => sameBox(box, active)) ?? boxes.find((box) => sameBox(box, zoom));
  const width = frame.current?.clientWidth ?? 1000;

  const press = (box: FlameBox) => {
    setActive(box.path);
    const isLeaf = box.node.children.length === 0 && box.count === 1;
    if (isLeaf || (box.path.length > 0 && sameBox(box, zoom))) onOpen(box.node.seq);
    else setZoom(box.count > 1 ? box.path.slice(0, -1) : box.path);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = current && boxBeside(boxes, current, event.key);
    if (event.key === "Escape" && zoom.length > 0) {
      setZoom(zoom.slice(0, -1));
      event.preventDefault();
      event.stopPropagation();
    }
    if (!next) return;
    event.preventDefault();
    setActive(next.path);
    frame.current?.querySelector<HTMLElement>(`[data-box="${next.path.join("-")}"]`)?.focus();
  };

  return (
    <section class="flame" aria-label="Costs by agent, turn and round">
      <fieldset ref={frame} class="flame-frame" style={{ height: `${depth * BOX_HEIGHT}px` }} onKeyDown={onKeyDown}>
        <legend class="unseen">Arrows move, Enter zooms in and then goes to the event, Escape zooms out</legend>
        {boxes.map((box) => (
          <Box
            key={box.path.join("-")}
            box={box}
            mark={box.count === 1 ? marks.get(box.node.seq) : undefined}
            says={saysOf(box, { measure, whole })}
            isActive={box === current}
            isWordy={box.width * width > WORD_PX}
            onPress={() => press(box)}
            onFocus={() => setActive(box.path)}
          />
        ))}
      </fieldset>
      <p class="flame-says">
        {current && <span class="others">{saysOf(current, { measure, whole })}</span>}
        {current && marks.has(current.node.seq) && current.count === 1 && (
          <span class="warn-ink"> · {marks.get(current.node.seq)}</span>
        )}
      </p>
      <p class="quiet-ink tiny flame-key">
        <span class="key-cached" aria-hidden="true" /> the part of the input that was cached{" "}
        <span class="key-break" aria-hidden="true" /> the cached prefix broke, or an epoch begins
      </p>
    </section>
  );
}

interface BoxProps {
  box: FlameBox;
  mark: string | undefined;
  says: string;
  isActive: boolean;
  isWordy: boolean;
  onPress(): void;
  onFocus(): void;
}

function Box({ box, mark, says, isActive, isWordy, onPress, onFocus }: BoxProps) {
  const { node, path, left, width, depth, count } = box;
  return (
    <button
      type="button"
      class={`flame-box is-${node.kind}${count > 1 ? " is-many" : ""}${mark === undefined ? "" : " is-marked"}`}
      data-box={path.join("-")}
      aria-label={mark === undefined ? says : `${says}; ${mark}`}
      tabIndex={isActive ? 0 : -1}
      style={{ left: `${100 * left}%`, width: `${100 * width}%`, top: `${depth * BOX_HEIGHT}px` }}
      onClick={onPress}
      onFocus={onFocus}
      onMouseEnter={onFocus}
    >
      {isWordy && <span class="others">{count > 1 ? `${count} more` : node.name}</span>}
      {count === 1 && <i class="cached-part" style={{ width: `${100 * cachedShare(node.tokens)}%` }} />}
    </button>
  );
}

const WRITTEN: Record<CostMeasure, (amount: number) => string> = { usd: money, tokens, ms: duration };

function saysOf(
  { node, count, amount }: FlameBox,
  { measure, whole }: { measure: CostMeasure; whole: number },
): string {
  const share = whole > 0 ? `, ${percent(amount / whole)} of all` : "";
  const written = WRITTEN[measure](amount);
  if (count > 1) return `${count} of them: ${written}${share}`;
  const { usd, tokens: used, ms } = node;
  const input = `${tokens(inputOf(used))} in, ${percent(cachedShare(used))} cached, ${tokens(used.output)} out`;
  return `${node.name}: ${written}${share} · ${money(usd)} · ${input} · ${duration(ms)}`;
}

/** What happened at a round, by its event: the prefix broke, or an epoch began before it. */
function marksOf({ tree, breaks, epochs }: Costs): ReadonlyMap<number, string> {
  const marks = new Map(breaks.map(({ seq, cause }) => [seq, `the prefix broke: ${cause}`]));
  for (const { agent, seq } of epochs) {
    const rounds = tree.children.find(({ name }) => name === agent)?.children.flatMap(({ children }) => children);
    const first = rounds?.find((round) => round.seq > seq);
    if (first && !marks.has(first.seq)) marks.set(first.seq, "an epoch begins");
  }
  return marks;
}
