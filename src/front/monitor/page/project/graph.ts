// Where each task of the board stands in the picture: those that wait for others to their right, lines between them. Pure.
import type { BoardTask } from "../../api.ts";

/** More are listed, not drawn: a picture of more says nothing. */
export const MOST_DRAWN = 200;
export const NODE_WIDTH = 190;
export const NODE_HEIGHT = 44;
const COLUMN_GAP = 56;
const ROW_GAP = 12;
const MARGIN = 8;

export interface GraphNode {
  task: BoardTask;
  layer: number;
  x: number;
  y: number;
}

interface GraphEdge {
  from: string;
  to: string;
  /** Of an SVG path. */
  path: string;
  /** What it waited for is done. */
  isOver: boolean;
}

export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
  width: number;
  height: number;
}

/** Contract: a task stands right of everything it waits for; where tasks wait for each other in a circle, one of those waits is not counted. */
export function layersOf(tasks: readonly BoardTask[]): Map<string, number> {
  const known = new Map(tasks.map((task) => [task.id, task]));
  const layers = new Map<string, number>();
  const open = new Set<string>();
  const layer = (task: BoardTask): number => {
    const found = layers.get(task.id);
    if (found !== undefined) return found;
    open.add(task.id);
    let deepest = -1;
    for (const id of task.blockedBy) {
      const before = known.get(id);
      if (before && !open.has(id)) deepest = Math.max(deepest, layer(before));
    }
    open.delete(task.id);
    layers.set(task.id, deepest + 1);
    return deepest + 1;
  };
  for (const task of tasks) layer(task);
  return layers;
}

/** Only tasks that wait for others or are waited for are drawn: the rest would be a column without lines. */
export function graphOf(tasks: readonly BoardTask[]): Graph {
  const ids = new Set(tasks.map(({ id }) => id));
  const blockers = (task: BoardTask) => task.blockedBy.filter((id) => ids.has(id));
  const waitedFor = new Set(tasks.flatMap(blockers));
  const drawn = tasks.filter((task) => waitedFor.has(task.id) || blockers(task).length > 0).slice(0, MOST_DRAWN);
  const columns = columnsOf(drawn);
  const tallest = Math.max(0, ...columns.map(heightOf));
  const slots = new Map<string, Slot & Point>();
  const nodes: GraphNode[] = [];
  for (const [layer, column] of columns.entries()) {
    const x = MARGIN + layer * (NODE_WIDTH + COLUMN_GAP);
    let y = MARGIN + (tallest - heightOf(column)) / 2;
    for (const slot of column) {
      slots.set(slot.id, { ...slot, x, y: y + slot.height / 2 });
      if (slot.task) nodes.push({ task: slot.task, layer, x, y });
      y += slot.height + ROW_GAP;
    }
  }
  return {
    ...{ nodes, edges: edgesOf(drawn, slots) },
    width: 2 * MARGIN + columns.length * NODE_WIDTH + Math.max(0, columns.length - 1) * COLUMN_GAP,
    height: 2 * MARGIN + tallest,
  };
}

/** A task's place in a column, or that of the lines that go past it to what is further right. */
interface Slot {
  id: string;
  task?: BoardTask;
  height: number;
  /** What it is drawn after: it stands at their height. */
  before: string[];
}

interface Point {
  x: number;
  y: number;
}

const LANE_HEIGHT = 4;
/** Of more, lines go the straight way: nobody follows them one by one. */
const MOST_LANED = 400;

const heightOf = (column: readonly Slot[]): number =>
  column.reduce((sum, { height }) => sum + height + ROW_GAP, 0) - (column.length > 0 ? ROW_GAP : 0);

const laneId = (from: string, layer: number): string => `${from} past ${layer}`;

function columnsOf(tasks: readonly BoardTask[]): Slot[][] {
  const layers = layersOf(tasks);
  const columns: Slot[][] = [];
  const known = new Set<string>();
  const put = (layer: number, slot: Slot) => {
    if (known.has(slot.id)) return;
    known.add(slot.id);
    columns[layer] ??= [];
    columns[layer].push(slot);
  };
  const hasLanes = tasks.reduce((sum, { blockedBy }) => sum + blockedBy.length, 0) <= MOST_LANED;
  for (const task of tasks) {
    const layer = layers.get(task.id) ?? 0;
    const before: string[] = [];
    for (const id of task.blockedBy) {
      const start = layers.get(id);
      if (start === undefined) continue;
      let last = id;
      for (let lane = start + 1; hasLanes && lane < layer; lane++) {
        put(lane, { id: laneId(id, lane), height: LANE_HEIGHT, before: [last] });
        last = laneId(id, lane);
      }
      before.push(last);
    }
    put(layer, { ...{ id: task.id, task, height: NODE_HEIGHT, before } });
  }
  ordered(columns);
  return columns;
}

/** Within a column each stands where those before it stand: lines cross less. */
function ordered(columns: Slot[][]): void {
  const place = new Map<string, number>();
  for (const column of columns) {
    const middle = ({ before }: Slot, otherwise: number) => {
      const places = before.flatMap((id) => place.get(id) ?? []);
      return places.length === 0 ? otherwise : places.reduce((sum, one) => sum + one, 0) / places.length;
    };
    const last = Math.max(1, column.length - 1);
    const wanted = new Map(column.map((slot, i) => [slot, middle(slot, i / last)]));
    column.sort((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0));
    for (const [i, { id }] of column.entries()) place.set(id, i / last);
  }
}

function edgesOf(tasks: readonly BoardTask[], slots: ReadonlyMap<string, Slot & Point>): GraphEdge[] {
  return tasks.flatMap(({ id: to, blockedBy }) =>
    blockedBy.flatMap((from) => {
      const start = slots.get(from);
      const end = slots.get(to);
      if (!start?.task || !end) return [];
      const lanes: Point[] = [];
      for (let x = start.x; x < end.x; x += NODE_WIDTH + COLUMN_GAP) {
        const lane = slots.get(laneId(from, Math.round((x - MARGIN) / (NODE_WIDTH + COLUMN_GAP))));
        if (lane) lanes.push(lane);
      }
      return [{ from, to, isOver: start.task.status === "completed", path: pathOf(start, lanes, end) }];
    }),
  );
}

function pathOf(start: Point, lanes: readonly Point[], end: Point): string {
  let x = start.x + NODE_WIDTH;
  let y = start.y;
  let path = `M${x} ${y}`;
  for (const to of [...lanes, end]) {
    const bend = Math.max(COLUMN_GAP, to.x - x) / 2;
    path += `C${x + bend} ${y} ${to.x - bend} ${to.y} ${to.x} ${to.y}`;
    x = to.x + NODE_WIDTH;
    y = to.y;
    if (to !== end) path += `H${x}`;
  }
  return path;
}

/** What a person sees of it: a pending task waits for what is not completed. */
export function shownStatus({ status, blockedBy }: BoardTask, all: ReadonlyMap<string, BoardTask>): string {
  const isOpen = (id: string) => {
    const one = all.get(id);
    return one !== undefined && one.status !== "completed";
  };
  return status === "pending" && blockedBy.some(isOpen) ? "blocked" : status;
}

/** Cut to so many columns: a letter of Japanese or Chinese takes two. */
export function cutTo(given: string, columns: number): string {
  let used = 0;
  let kept = "";
  for (const char of given) {
    used += (char.codePointAt(0) ?? 0) >= 0x1100 ? 2 : 1;
    if (used > columns) return `${kept.trimEnd()}…`;
    kept += char;
  }
  return kept;
}
