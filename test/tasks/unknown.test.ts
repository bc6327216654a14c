// A task that was completed after a call of which nobody knows what came carries that mark, for everybody who looks.
import { expect, onTestFinished, test } from "vitest";
import { openBoard } from "../../src/mechanisms/tasks/index.ts";
import { taskLine } from "../../src/mechanisms/tasks/task-text.ts";
import { noUsage } from "../../src/models/model.ts";
import type { ScriptRequest } from "../../src/testing/model-server-script.ts";
import { openHouse } from "../house.ts";

const textOf = ({ body }: ScriptRequest): string => JSON.stringify(body.messages);
const calling = (name: string, input: object) => ({ calls: [{ name, input }] });

/** A context whose lead holds task_1 and was lost with its machine while a command of it ran there. */
async function lostWithItsMachine() {
  const seen: string[] = [];
  const house = await openHouse((request) => {
    const text = textOf(request);
    seen.push(text);
    if (!text.includes("claimed task_1")) return calling("claim_task", { task_id: "task_1" });
    if (!text.includes("cannot be seen from here")) return { text: "claimed" };
    return text.includes("marked on the board") ? { text: "done" } : calling("complete_task", { task_id: "task_1" });
  });
  onTestFinished(() => house.close());
  const board = await openBoard(house.store);
  await board.create([{ subject: "Publish" }, { subject: "Tell" }], { agent: "user" });
  const run = await house.harness.run("begin");
  await run.result;
  const { agent } = run.taken;
  const intent = { jobId: "job_elsewhere", dir: "/elsewhere/jobs/job_elsewhere", boot: "another", machine: "another" };
  const call = { type: "call", id: "c2", name: "bash", input: { command: "npm publish" } };
  await agent.turn.append([
    { type: "turn.started", data: { turnId: "trn_lost", cause: "wake" } },
    { type: "note.added", data: { origin: "test", text: "go on" } },
    { type: "reply.received", data: { model: "m", parts: [call], finish: "calls", usage: noUsage() } },
    {
      type: "tool.started",
      data: { callId: "c2", name: "bash", input: call.input, effect: "job", cwd: house.root, intent },
    },
  ]);
  await run.taken.release();
  await new Promise((resolve) => setTimeout(resolve, 5)); // taken up later than it was begun
  const again = await house.harness.run(undefined, { context: run.context });
  await again.result;
  await again.taken.release();
  return { house, board, seen, context: run.context };
}

test("it says so on the board and to the agent, and other tasks do not", async () => {
  const { board, house, context, seen } = await lostWithItsMachine();
  const [task, other] = [await board.get("task_1"), await board.get("task_2")];
  expect([task.status, task.unknown, other.unknown]).toEqual(["completed", [{ call: "c2", tool: "bash" }], undefined]);
  expect(taskLine(task, { blockers: [], context })).toBe(
    "task_1 completed, lead, after the unknown outcome of bash (c2): Publish",
  );
  expect(task.history.at(-1)?.what).toBe("completed after the unknown outcome of bash (c2)");
  expect(seen.at(-1)).toContain("completed after the unknown outcome of bash (c2)");
  const result = (await house.events(context)).find(
    ({ type, data }) => type === "tool.finished" && (data as { callId: string }).callId === "c2",
  );
  expect(result?.data).toMatchObject({ resumed: "unknown", isError: true });
});

test("a person who completes it, and work that ended well, leave no mark", async () => {
  const { board } = await lostWithItsMachine();
  await board.complete("task_2", { agent: "user" }, { unknown: [] });
  expect((await board.get("task_2")).unknown).toBeUndefined();
});
