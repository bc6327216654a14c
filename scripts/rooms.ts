// Prints which room of src/ imports which, with counts (type imports in brackets), and the cycles between rooms. Exit code 1 if there is one.
//   node scripts/rooms.ts [--json]
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const src = path.join(path.dirname(path.dirname(fileURLToPath(import.meta.url))), "src");

/** Each mechanism is a room of its own; a single file beside the rooms is one too. */
function roomOf(file: string): string {
  const [first, second, third] = file.split("/");
  return first === "mechanisms" && third !== undefined ? `mechanisms/${second}` : first!;
}

interface Import {
  to: string;
  isType: boolean;
}

function importsOf(file: string): Import[] {
  const text = fs.readFileSync(path.join(src, file), "utf8");
  const found: Import[] = [];
  for (const [whole, type, target] of text.matchAll(
    /^(?:import|export) (type )?[^;]*?from "(\.{1,2}\/[^"]+)";|import\("(\.{1,2}\/[^"]+)"\)/gm,
  )) {
    const to = target ?? whole.slice(8, -2);
    found.push({ to: path.relative(src, path.resolve(src, path.dirname(file), to)), isType: type !== undefined });
  }
  return found;
}

function sourceFiles(): string[] {
  return fs
    .readdirSync(src, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => path.relative(src, path.join(entry.parentPath, entry.name)));
}

interface Edge {
  all: number;
  types: number;
}

type RoomGraph = Map<string, Map<string, Edge>>;

/** Room → room → how many imports, and how many of those are of types only. */
export function roomGraph(): RoomGraph {
  const graph: RoomGraph = new Map();
  for (const file of sourceFiles())
    for (const { to, isType } of importsOf(file)) {
      const [from, target] = [roomOf(file), roomOf(to)];
      if (from === target) continue;
      const edges = graph.get(from) ?? new Map<string, Edge>();
      const edge = edges.get(target) ?? { all: 0, types: 0 };
      graph.set(from, edges.set(target, edge));
      edge.all++;
      if (isType) edge.types++;
    }
  return graph;
}

/** Groups of rooms that can all reach one another (Tarjan). */
export function cyclesIn(graph: RoomGraph): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (room: string): void => {
    index.set(room, index.size);
    low.set(room, index.get(room)!);
    stack.push(room);
    for (const next of graph.get(room)?.keys() ?? []) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(room, Math.min(low.get(room)!, low.get(next)!));
    }
    if (low.get(room) !== index.get(room)) return;
    const group = stack.splice(stack.indexOf(room));
    if (group.length > 1) found.push(group.sort());
  };
  for (const room of graph.keys()) if (!index.has(room)) visit(room);
  return found;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const graph = roomGraph();
  const cycles = cyclesIn(graph);
  if (process.argv.includes("--json")) {
    const plain = Object.fromEntries([...graph].map(([room, edges]) => [room, Object.fromEntries(edges)]));
    console.log(JSON.stringify({ rooms: plain, cycles }));
  } else {
    const shown = ({ all, types }: Edge) => `${all}${types > 0 ? `(${types})` : ""}`;
    for (const [room, edges] of [...graph].sort(([a], [b]) => (a < b ? -1 : 1)))
      console.log(
        `${room} → ${[...edges]
          .sort((a, b) => b[1].all - a[1].all)
          .map(([to, edge]) => `${to} ${shown(edge)}`)
          .join(", ")}`,
      );
    for (const cycle of cycles) console.log(`cycle: ${cycle.join(" ⇄ ")}`);
  }
  process.exit(cycles.length > 0 ? 1 : 0);
}
