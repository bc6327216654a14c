// Whatever is done to the board in whatever order: never a circle, blocked exactly while a blocker is open, told exactly once.
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { isHoldfastError } from "../../src/ledger/error.ts";
import type { Board } from "../../src/mechanisms/tasks/board.ts";
import { findCycle } from "../../src/mechanisms/tasks/graph.ts";
import type { By, Task } from "../../src/mechanisms/tasks/port.ts";
import { agent, openWorld } from "./world.ts";

type Step =
  | { do: "create"; edges: number[][] }
  | { do: "edge"; from: number; to: number; add: boolean }
  | { do: "claim" | "complete" | "release" | "cancel" | "delete"; task: number; who: number };

const task = fc.nat(11);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant("create" as const),
    edges: fc.array(fc.array(fc.nat(5), { maxLength: 3 }), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ do: fc.constant("edge" as const), from: task, to: task, add: fc.boolean() }),
  fc.record({
    do: fc.constantFrom(
      "claim" as const,
      "complete" as const,
      "release" as const,
      "cancel" as const,
      "delete" as const,
    ),
    task,
    who: fc.nat(2),
  }),
);

const WHO: By[] = [agent("alice"), agent("bob"), agent("lead")];

/** Ids that became free, as the board says. */
async function perform(board: Board, one: Step): Promise<string[]> {
  const ids = (tasks: Task[]) => tasks.map((t) => t.id);
  if (one.do === "create") {
    const tasks = one.edges.map((to, i) => ({
      alias: `n${i}`,
      subject: `new ${i}`,
      blockedBy: to.map((n) => (n < 3 ? `n${n}` : `task_${n}`)),
    }));
    await board.create(tasks, WHO[2]!);
    return [];
  }
  if (one.do === "edge") {
    const change = one.add ? { addBlockedBy: [`task_${one.to}`] } : { removeBlockedBy: [`task_${one.to}`] };
    return ids((await board.update(`task_${one.from}`, change, WHO[2]!)).unblocked);
  }
  const id = `task_${one.task}`;
  const by = WHO[one.who]!;
  if (one.do === "claim") await board.claim(id, by);
  if (one.do === "release") await board.release(id, by);
  if (one.do === "complete") return ids((await board.complete(id, by)).unblocked);
  if (one.do === "cancel") return ids((await board.update(id, { status: "cancelled" }, by)).unblocked);
  if (one.do === "delete") return ids(await board.delete(id, by, { force: true }));
  return [];
}

const claimable = (tasks: Task[]): Set<string> => {
  const byId = new Map(tasks.map((t) => [t.id, t]));
  const free = (t: Task) => t.status === "pending" && t.blockedBy.every((id) => byId.get(id)!.status === "completed");
  return new Set(tasks.filter(free).map((t) => t.id));
};

it("never has a circle, and says of each step exactly what it unblocked", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
      const world = await openWorld();
      try {
        const doors = [world.board, await world.again()];
        let before = await doors[0]!.list();
        for (const [i, one] of steps.entries()) {
          const door = doors[i % 2]!;
          let freed: string[] | undefined;
          try {
            freed = await perform(door, one);
          } catch (error) {
            if (!isHoldfastError(error)) throw error;
          }
          const after = await doors[(i + 1) % 2]!.list();
          const known = new Map(after.map((t) => [t.id, t.blockedBy]));
          expect(findCycle(known.keys(), (id) => known.get(id) ?? [])).toEqual(undefined);
          expect(after.flatMap((t) => t.blockedBy).every((id) => known.has(id))).toEqual(true);
          if (freed === undefined)
            expect(after).toEqual(before); // refused: nothing has changed
          else if (one.do !== "create" && one.do !== "release") {
            const were = claimable(before);
            expect(new Set(freed)).toEqual(new Set([...claimable(after)].filter((id) => !were.has(id))));
          }
          for (const t of after) {
            if (t.status !== "in_progress") continue;
            const mine = after.filter((o) => o.owner === t.owner && o.status === "in_progress");
            expect(mine.length).toEqual(1);
          }
          before = after;
        }
        const fresh = await world.again();
        expect(await fresh.list()).toEqual(before);
      } finally {
        await world.dispose();
      }
    }),
    { numRuns: 40 },
  );
}, 120_000);
