// The task graph as a picture. Who cannot see it, or uses keys, has the board below it: the same tasks, with what each waits for.
import { useMemo } from "preact/hooks";
import type { BoardTask } from "../../api.ts";
import { lookOf } from "../components/status.tsx";
import { counted } from "../format.ts";
import { cutTo, type GraphNode, graphOf, NODE_HEIGHT, NODE_WIDTH, shownStatus } from "./graph.ts";

interface TaskGraphProps {
  board: readonly BoardTask[];
  onPick(id: string): void;
}

export function TaskGraph({ board, onPick }: TaskGraphProps) {
  const { nodes, edges, width, height } = useMemo(() => graphOf(board), [board]);
  const all = useMemo(() => new Map(board.map((task) => [task.id, task])), [board]);
  if (nodes.length === 0) return null;
  const says = `Task graph: ${counted(nodes.length, "task")} with ${counted(edges.length, "dependency", "dependencies")}. The board below has the same as a list.`;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must be reached by keys
    // biome-ignore lint/a11y/useSemanticElements: no fields are in it
    <div class="graph" tabIndex={0} role="group" aria-label="Task graph">
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={says}>
        <defs>
          <marker id="arrow" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="6" markerHeight="6" orient="auto">
            <path d="M0 0L6 3L0 6z" class="arrow" />
          </marker>
        </defs>
        {edges.map(({ from, to, path, isOver }) => (
          <path key={`${from} ${to}`} d={path} class={isOver ? "edge over" : "edge"} marker-end="url(#arrow)" />
        ))}
        {nodes.map((node) => (
          <Node key={node.task.id} node={node} status={shownStatus(node.task, all)} onPick={onPick} />
        ))}
      </svg>
    </div>
  );
}

interface NodeProps {
  node: GraphNode;
  status: string;
  onPick(id: string): void;
}

function Node({ node: { task, x, y }, status, onPick }: NodeProps) {
  const { sign, says, tone } = lookOf(status);
  const owner = task.owner?.split("/").at(-1);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a short way for the mouse; keys have the board
    <g class={`node tone-${tone} ${status}`} transform={`translate(${x} ${y})`} onClick={() => onPick(task.id)}>
      <title>{`${task.id}: ${task.subject} (${says})`}</title>
      <rect width={NODE_WIDTH} height={NODE_HEIGHT} rx="4" />
      <text x="10" y="18" class="subject">
        {cutTo(task.subject, 25)}
      </text>
      <text x="10" y="35" class="state">
        {cutTo(`${sign} ${says}${owner ? ` · ${owner}` : ""}`, 28)}
      </text>
    </g>
  );
}
