// The picture of the task graph: layers by dependency, whatever the board holds.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { BoardTask } from "../../../../src/front/monitor/api.ts";
import { cutTo, graphOf, layersOf, MOST_DRAWN, shownStatus } from "../../../../src/front/monitor/page/project/graph.ts";

const task = (id: string, blockedBy: string[] = [], status = "pending"): BoardTask => ({
  ...{ id, subject: `subject of ${id}`, status, blockedBy, priority: "normal", updatedAt: 0, notes: [] },
});

test("a task stands one layer behind the last of those that it waits for", () => {
  const board = [task("d", ["b", "c"]), task("a"), task("b", ["a"]), task("c", ["b", "missing"])];
  expect(Object.fromEntries(layersOf(board))).toEqual({ a: 0, b: 1, c: 2, d: 3 });
});

test("tasks that wait for each other in a circle are drawn all the same", () => {
  const { nodes, edges } = graphOf([task("a", ["b"]), task("b", ["a"]), task("c", ["c"])]);
  expect(nodes.map(({ task: { id } }) => id).sort()).toEqual(["a", "b", "c"]);
  expect(edges).toHaveLength(3);
});

test("only tasks with a dependency are drawn, in columns without overlaps, and no more than a picture can show", () => {
  const chain = Array.from({ length: 300 }, (_, i) => task(`t${i}`, i === 0 ? [] : [`t${i - 1}`]));
  expect(graphOf([...chain, task("alone")]).nodes).toHaveLength(MOST_DRAWN);
  expect(graphOf([task("alone"), task("another")])).toMatchObject({ nodes: [], edges: [] });
  const { nodes } = graphOf([task("a"), task("b", ["a"]), task("c", ["a"]), task("d", ["b", "c"])]);
  expect(new Set(nodes.map(({ x, y }) => `${x} ${y}`)).size).toBe(4);
});

test("of any board without a circle every edge goes to the right", () => {
  const boards = fc.array(fc.array(fc.nat(20), { maxLength: 4 }), { maxLength: 20 }).map((all) =>
    all.map((before, i) =>
      task(
        `t${i}`,
        before.filter((n) => n < i).map((n) => `t${n}`),
      ),
    ),
  );
  fc.assert(
    fc.property(boards, (board) => {
      const { nodes, edges, width, height } = graphOf(board);
      const at = new Map(nodes.map((node) => [node.task.id, node]));
      for (const { from, to } of edges) expect(at.get(from)!.x).toBeLessThan(at.get(to)!.x);
      for (const { x, y } of nodes) expect(x >= 0 && y >= 0 && x < width && y < height).toBe(true);
    }),
  );
});

test("a pending task is blocked while one that it waits for is not completed; one that is gone blocks nothing", () => {
  const board = [task("a"), task("b", ["a"]), task("c", ["gone"]), task("d", ["e"]), task("e", [], "completed")];
  const all = new Map(board.map((one) => [one.id, one]));
  expect(board.map((one) => shownStatus(one, all))).toEqual(["pending", "blocked", "pending", "pending", "completed"]);
});

test("a subject is cut by columns, not by letters", () => {
  expect(cutTo("abcdef", 6)).toBe("abcdef");
  expect(cutTo("abcdefg", 6)).toBe("abcdef…");
  expect(cutTo("日本語テスト", 6)).toBe("日本語…");
});
