// A team on several processes that are killed: every task done once, nothing lost. Full size in `npm run test:long`.
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { openBoard } from "../../src/mechanisms/tasks/index.ts";
import { type Fleet, openFleet } from "./fleet.ts";
import { call, seenIn } from "./world.ts";

const LONG = process.env.HOLDFAST_LONG === "1";
const SIZE = LONG ? { mates: 20, tasks: 200, workers: 4 } : { mates: 6, tasks: 24, workers: 2 };
const KILL_EVERY_MS = LONG ? 2_000 : 700;

let fleet: Fleet;
afterEach(() => fleet?.close());

test("a team finishes its board with each task done once, while hosts are killed and started again", {
  timeout: 300_000,
}, async () => {
  const mates = Array.from({ length: SIZE.mates }, (_, i) => `mate${i}`);
  const tasks = Array.from({ length: SIZE.tasks }, (_, i) => `Do number ${i}`);
  fleet = await openFleet({
    mates,
    tasks,
    workers: SIZE.workers,
    async script(request) {
      const { agent, last, since } = seenIn(request);
      if (agent === "lead") {
        if (last !== "begin" || since > 0) return { text: "noted" };
        const input = (name: string) => ({ name, role: "worker", prompt: "Take tasks." });
        return { calls: mates.map((name) => ({ name: "spawn_teammate", input: input(name) })) };
      }
      const [, id] = [...last.matchAll(/You (?:have claimed|still hold) (task_\d+)/g)].at(-1) ?? [];
      if (!id) return { text: "Ready." };
      await sleep(20 + Math.random() * 80); // a model takes its time: kills come in the middle of calls
      if (since === 0) return call("bash", { command: `sleep 0.05; echo ${agent} >> done-${id}` });
      if (since === 1) return call("complete_task", { task_id: id });
      return { text: `${id} is done.` };
    },
  });
  const board = await openBoard(fleet.store);
  const kills: { at: number; orphans: string[] }[] = [];
  const leased = async (pid: number) => {
    const held = await Promise.all(
      mates.map(async (name) => {
        const by = await fleet.store.leases.inspect(`agent:${fleet.context}/${name}`);
        return by?.holder.pid === pid ? [name] : [];
      }),
    );
    return held.flat();
  };
  const startedAt = Date.now();
  let lastKill = Date.now();
  const open = async () => (await board.list()).filter((task) => task.status !== "completed").length;
  while ((await open()) > 0 && Date.now() - startedAt < 240_000) {
    await sleep(100);
    if (Date.now() - lastKill < KILL_EVERY_MS) continue;
    lastKill = Date.now();
    const victim = Math.floor(Math.random() * SIZE.workers);
    const worker = fleet.workers[victim]!;
    const orphans = await leased(worker.pid!);
    worker.kill("SIGKILL");
    kills.push({ at: Date.now(), orphans });
    fleet.start(victim);
  }
  const tookMs = Date.now() - startedAt;
  expect(await open()).toBe(0);
  const done = fs.readdirSync(fleet.root).filter((name) => name.startsWith("done-"));
  expect(done.length).toBe(SIZE.tasks);
  const twice = done.filter(
    (name) => fs.readFileSync(path.join(fleet.root, name), "utf8").trim().split("\n").length !== 1,
  );
  expect(twice).toEqual([]);
  const completed: string[] = [];
  for await (const event of fleet.store.read("board", { types: ["task.completed"] }))
    completed.push((event.data as { id: string }).id);
  expect(completed.length).toBe(new Set(completed).size);
  expect(completed.length).toBe(SIZE.tasks);
  expect(fleet.server.log().invalid).toEqual([]);

  const events = await fleet.events();
  const openAt = (name: string, at: number) =>
    events.findLast((e) => e.actor === name && e.at <= at && (e.type === "turn.started" || e.type === "turn.ended"))
      ?.type === "turn.started";
  const takeovers = kills.flatMap(({ at, orphans }) =>
    orphans
      .filter((name) => openAt(name, at))
      .flatMap((name) => {
        const next = events.find((e) => e.actor === name && e.at > at);
        return next ? [next.at - at] : [];
      }),
  );
  const sorted = takeovers.toSorted((a, b) => a - b);
  console.log(
    `${SIZE.mates} teammates, ${SIZE.tasks} tasks, ${SIZE.workers} hosts: ${(tookMs / 1000).toFixed(1)} s, ${kills.length} kills, ${takeovers.length} turns taken over, ` +
      `median ${sorted[sorted.length >> 1]} ms, worst ${sorted.at(-1)} ms; ${fleet.server.log().requests.length} model requests`,
  );
});
