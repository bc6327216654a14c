// The board as text: a tree, no wider and no longer than asked for.
import { afterEach, beforeEach, expect, it } from "vitest";
import { drawTasks } from "../../src/mechanisms/tasks/draw.ts";
import { agent, openWorld, USER, type World } from "./world.ts";

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.dispose());

const lead = agent("lead");

it("draws each task once, under the last of its blockers, with states and owners", async () => {
  const { board } = world;
  await board.create(
    [
      { alias: "schema", subject: "Write the schema" },
      { alias: "api", subject: "Write the API", blockedBy: ["schema"], priority: "high" },
      { alias: "ui", subject: "Draw the page", blockedBy: ["schema"] },
      { alias: "tests", subject: "Write the tests", blockedBy: ["schema", "api", "ui"] },
      { subject: "Tidy\u001b[2J up" },
      { subject: "Old thing" },
    ],
    lead,
  );
  await board.complete("task_1", USER);
  await board.complete("task_6", USER);
  await board.claim("task_3", agent("alice"));
  expect(drawTasks(await board.list(), { width: 90 })).toEqual(
    [
      "○ task_5 pending Tidy\\u001b[2J up",
      "✓ task_1 completed Write the schema",
      "├─ ▶ task_3 in_progress Draw the page · ctx_a/alice",
      "└─ ○ task_2 pending Write the API · high",
      "   └─ ‖ task_4 blocked Write the tests · also after task_1, task_3",
      "(1 done: --all shows them)",
      "",
    ].join("\n"),
  );
  expect(
    drawTasks(await board.list(), { width: 30, all: true })
      .split("\n")
      .every((l) => l.length <= 30),
  ).toEqual(true);
  expect(drawTasks([])).toEqual("(no tasks)\n");
});

it("stays within its width and its lines for a long chain and wide characters", async () => {
  for (let from = 0; from < 1000; from += 500)
    await world.board.create(
      Array.from({ length: 500 }, (_, i) => ({
        alias: `n${from + i}`,
        subject: "日本語の長い題名".repeat(10),
        blockedBy: i > 0 ? [`n${from + i - 1}`] : from > 0 ? [`task_${from}`] : [],
      })),
      lead,
    );
  const width = (text: string) => [...text].reduce((sum, c) => sum + (/[\u3000-\u9fff]/.test(c) ? 2 : 1), 0);
  const lines = drawTasks(await world.board.list(), { width: 60, lines: 100 })
    .trimEnd()
    .split("\n");
  expect([lines.length, lines.at(-1)]).toEqual([101, "… and 900 more"]);
  expect(Math.max(...lines.map(width))).toBeLessThanOrEqual(60);
});
