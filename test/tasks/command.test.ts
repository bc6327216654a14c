// `holdfast tasks` as a person uses it.
import { rmSync } from "node:fs";
import { afterAll, expect, it } from "vitest";
import { here } from "../cli/here.ts";
import { tempDir } from "../house.ts";

const cwd = tempDir("project");
const state = tempDir("state");
afterAll(() => {
  for (const dir of [cwd, state]) rmSync(dir, { recursive: true, force: true });
});

/** What was printed; errors begin with `holdfast:`. */
async function tasks(...args: string[]): Promise<string> {
  const { stdout, stderr } = await here(["tasks", ...args], { cwd, state });
  return `${stdout}${stderr}`.trimEnd();
}

it("adds, wires, claims, completes, draws, exports and imports", async () => {
  expect(await tasks("ls")).toEqual(`No tasks: add one with holdfast tasks add 'what to do' --cwd ${cwd}`);
  expect(await tasks("add", "Write the schema", "priority=high", "description=All tables")).toEqual(
    "created task_1 pending high: Write the schema",
  );
  expect(await tasks("add", "Write the API", "blockedBy=1", "labels=backend,soon")).toEqual(
    "created task_2 pending, blocked by task_1: Write the API [backend, soon]",
  );
  expect(await tasks("update", "task_1", "blockedBy+=task_2")).toEqual(
    "holdfast: that would be a cycle: task_1 waits for task_2 waits for task_1; nothing was changed",
  );
  expect(await tasks("claim", "1")).toEqual("claimed task_1 in_progress high, user: Write the schema");
  expect(await tasks("graph")).toEqual(
    "▶ task_1 in_progress Write the schema · user · high\n└─ ‖ task_2 blocked Write the API",
  );
  expect(await tasks("done", "1", "--reason", "by hand")).toEqual(
    "task_1 completed high, user: Write the schema\nunblocked: task_2",
  );
  expect(await tasks("show", "1")).toMatch(
    /^task_1 completed.*\n\nAll tables\n\n.*user {2}created\n.*\n.*completed: by hand$/,
  );
  expect(JSON.parse(await tasks("ls", "--json", "status=pending"))).toMatchObject([
    { id: "task_2", subject: "Write the API", blockedBy: ["task_1"], labels: ["backend", "soon"] },
  ]);
  expect(await tasks("export", ".tasks")).toEqual("2 tasks in .tasks");
  expect(await tasks("import", ".tasks")).toEqual("0 imported, 2 were there already");
  expect(await tasks("update", "2", "blockedBy-=1", "status=cancelled")).toEqual(
    "task_2 cancelled: Write the API [backend, soon]",
  );
  expect(await tasks("rm", "2")).toEqual("removed 2");
  expect(await tasks("fly")).toMatch(/^holdfast: there is no `tasks fly`: there are ls, show, add, /);
  expect(await tasks("update", "1", "colour=red")).toMatch(/^holdfast: colour=red: give subject=…, status=…/);
});
