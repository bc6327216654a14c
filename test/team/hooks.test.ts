// The user's hooks around a team: a task that may not be made or finished yet, a teammate that may not rest yet.
import { afterEach, expect, test } from "vitest";
import { openBoard } from "../../src/mechanisms/tasks/index.ts";
import { call, openTeam, type Play, type TeamWorld } from "./world.ts";

let world: TeamWorld;
afterEach(() => world?.close());

const hook = (command: string) => [{ hooks: [{ type: "command" as const, command }] }];
const texts = async () =>
  (await world.facts("tool.finished")).map((e) => (e.data as { content: { text: string }[] }).content[0]!.text);

test("TaskCreated and TaskCompleted may refuse, with their reason, and nothing has changed", async () => {
  const play: Play = ({ last, since }) => {
    if (last !== "begin") return { text: "ok" };
    if (since === 0) return call("create_task", { subject: "secret things" });
    if (since === 1) return call("create_task", { subject: "plain things" });
    if (since === 2) return call("claim_task", { task_id: "task_1" });
    if (since === 3) return call("complete_task", { task_id: "task_1" });
    return { text: "done" };
  };
  world = await openTeam(play, {
    hooks: {
      TaskCreated: hook(`grep -q secret && { echo "not that" >&2; exit 2; }; exit 0`),
      TaskCompleted: hook(`grep -q '"task_subject":"plain things"' && { echo "tests first" >&2; exit 2; }; exit 0`),
    },
  });
  await world.settle();
  const said = await texts();
  expect([said[0], said[3]]).toEqual([
    "Refused: blocked by a TaskCreated hook: not that",
    "Refused: blocked by a TaskCompleted hook: tests first",
  ]);
  const board = await openBoard(world.house.store);
  expect((await board.list()).map(({ subject, status }) => [subject, status])).toEqual([
    ["plain things", "in_progress"],
  ]);
});

test("TeammateIdle keeps a teammate at work with its reason, but not for ever", async () => {
  const play: Play = ({ agent, last, since }) => {
    if (agent === "lead" && last === "begin" && since === 0)
      return call("spawn_teammate", { name: "alice", role: "writer", prompt: "Hello." });
    return { text: `answer to: ${last.slice(0, 30)}` };
  };
  world = await openTeam(play, { hooks: { TeammateIdle: hook("echo keep going >&2; exit 2") } });
  await world.settle();
  expect((await world.facts("team.held")).length).toBe(8);
  expect((await world.facts("team.idled")).length).toBe(1);
  const asked = (await world.facts("input.received")).filter((e) => (e.data as { origin: string }).origin === "hook");
  expect(asked.length).toBe(8);
});
