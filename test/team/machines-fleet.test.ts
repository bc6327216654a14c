// A team on several machines, one of whose workers is killed, cut off or lost with its machine every two seconds. Full size in `npm run test:long`.
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { StoredEvent } from "../../src/ledger/store.ts";
import { openBoard } from "../../src/mechanisms/tasks/index.ts";
import type { ScriptRequest } from "../../src/testing/model-server-script.ts";
import { canMakeMachines } from "./machines.ts";
import { LEASE_MS, type MachinesFleet, openMachinesFleet } from "./machines-fleet.ts";
import { call, seenIn } from "./world.ts";

const LONG = process.env.HOLDFAST_LONG === "1";
const SIZE = LONG ? { machines: 40, mates: 200, tasks: 2_000 } : { machines: 8, mates: 40, tasks: 200 };
const FAULT_EVERY_MS = 2_000;
const LIMIT_MS = LONG ? 3_000_000 : 120_000;

type Fault = "killed" | "cut off" | "lost";
const FAULTS: Fault[] = ["killed", "cut off", "killed", "lost"];

/** Contract: the machine has a worker again afterwards, some time later. */
async function strike(fleet: MachinesFleet, at: number, fault: Fault): Promise<void> {
  const machine = fleet.machines[at]!;
  if (fault === "killed") await fleet.killWorker(machine);
  else if (fault === "lost") await machine.lose();
  else {
    machine.cut();
    await sleep(2 * LEASE_MS);
    machine.heal();
    return;
  }
  fleet.startWorker(machine);
}

/** Who ran there, and had a turn open. */
async function orphans(fleet: MachinesFleet, mates: readonly string[], at: number): Promise<string[]> {
  const place = `#${fleet.machines[at]!.pidNamespace()}`;
  const held = await Promise.all(
    mates.map(async (name) => {
      const by = await fleet.store.leases.inspect(`agent:${fleet.context}/${name}`);
      return by?.holder.machine.endsWith(place) ? [name] : [];
    }),
  );
  return held.flat();
}

/** A call of that command whose result does not say that it never began. */
function hasRun({ body }: ScriptRequest, command: string): boolean {
  // biome-ignore lint/suspicious/noExplicitAny: a provider's messages as they came
  const messages: any[] = body.messages;
  const calls = messages.flatMap((message) => message.tool_calls ?? []);
  return calls
    .filter((one) => String(one.function.arguments).includes(command))
    .some(({ id }) => !JSON.stringify(messages.find((m) => m.tool_call_id === id) ?? "").includes("Not run:"));
}

/** What was stopped while it ran: its agent was told so, and nothing about it is unknown but how far it came. */
function stoppedCommands(events: readonly StoredEvent[]): string[] {
  const stopped = events.filter(({ type, data }) => type === "tool.finished" && (data as { stopped?: string }).stopped);
  return stopped.flatMap(({ actor, data }) => {
    const { callId } = data as { callId: string };
    const begun = events.find(
      (one) => one.type === "tool.started" && one.actor === actor && (one.data as { callId: string }).callId === callId,
    );
    return begun ? [JSON.stringify(begun.data)] : [];
  });
}

const unknownCalls = (events: readonly StoredEvent[]) =>
  events.filter(({ type, data }) => type === "tool.finished" && (data as { resumed?: string }).resumed === "unknown");

test.runIf(canMakeMachines)(
  "each task is done once and each effect at most once, and what is unknown is marked, whatever happens to the machines",
  { timeout: LIMIT_MS + 60_000 },
  async () => {
    const mates = Array.from({ length: SIZE.mates }, (_, i) => `mate${i}`);
    const fleet = await openMachinesFleet({
      machines: SIZE.machines,
      async script(request) {
        const { agent, last, since } = seenIn(request);
        if (agent === "lead") {
          if (last !== "begin" || since > 0) return { text: "noted" };
          const input = (name: string) => ({ name, role: "worker", prompt: "Take tasks." });
          return { calls: mates.map((name) => ({ name: "spawn_teammate", input: input(name) })) };
        }
        const all = JSON.stringify(request.body.messages); // what it has called before too
        const [, id] = [...all.matchAll(/You (?:have claimed|still hold) (task_\d+)/g)].at(-1) ?? [];
        if (!id || all.includes(`completed ${id}:`)) return { text: "Ready." };
        await sleep(20 + Math.random() * 80); // a model takes its time: faults come in the middle of calls
        const effect = `${fleet.world}/done-${id}`;
        if (hasRun(request, `${effect};`)) return call("complete_task", { task_id: id });
        return call("bash", { command: `echo ${agent} >> ${effect}; sleep 0.1; echo it is done` });
      },
    });
    onTestFinished(() => fleet.close());
    const board = await openBoard(fleet.store);
    for (let i = 0; i < SIZE.tasks; i += 50)
      await board.create(
        Array.from({ length: Math.min(50, SIZE.tasks - i) }, (_, k) => ({ subject: `Do number ${i + k}` })),
        { agent: "user" },
      );
    const startedAt = Date.now();
    for (const machine of fleet.machines) fleet.startWorker(machine);
    const left = async () => (await board.list()).filter((task) => task.status !== "completed").length;
    const struck: { fault: Fault; at: number; orphans: string[] }[] = [];
    const busy = new Map<number, Promise<void>>();
    let lastFault = Date.now();
    while ((await left()) > 0 && Date.now() - startedAt < LIMIT_MS) {
      await sleep(100);
      if (Date.now() - lastFault < FAULT_EVERY_MS) continue;
      lastFault = Date.now();
      const free = fleet.machines.map((_, at) => at).filter((at) => !busy.has(at));
      const victim = free[Math.floor(Math.random() * free.length)];
      if (victim === undefined) continue;
      const fault = FAULTS[struck.length % FAULTS.length]!;
      struck.push({ fault, at: lastFault, orphans: await orphans(fleet, mates, victim) });
      busy.set(
        victim,
        strike(fleet, victim, fault).finally(() => busy.delete(victim)),
      );
    }
    const tookMs = Date.now() - startedAt;
    await Promise.all(busy.values());
    const tasks = await board.list();
    expect(tasks.filter((task) => task.status !== "completed").map(({ id }) => id)).toEqual([]);

    const effects = new Map(
      fs
        .readdirSync(fleet.world)
        .map((name) => [
          name.replace("done-", ""),
          fs.readFileSync(path.join(fleet.world, name), "utf8").trim().split("\n"),
        ]),
    );
    expect([...effects].filter(([, lines]) => lines.length > 1)).toEqual([]);
    const events = await fleet.events();
    const stopped = stoppedCommands(events);
    const missing = tasks
      .filter(({ id, unknown }) => !effects.has(id) && !unknown)
      .filter(({ id }) => !stopped.some((begun) => begun.includes(`done-${id};`)));
    expect(missing).toEqual([]);
    const completed: string[] = [];
    for await (const event of fleet.store.read("board", { types: ["task.completed"] }))
      completed.push((event.data as { id: string }).id);
    expect([completed.length, new Set(completed).size]).toEqual([SIZE.tasks, SIZE.tasks]);
    expect(fleet.server.log().invalid).toEqual([]);

    const marked = tasks.filter(({ unknown }) => unknown).length;
    const adopted = events.filter(
      ({ type, data }) => type === "tool.finished" && (data as { resumed?: string }).resumed === "adopted",
    ).length;
    const takeovers = struck
      .flatMap(({ at, orphans }) =>
        orphans
          .flatMap((name) => events.find((event) => event.actor === name && event.at > at + 100)?.at ?? [])
          .map((next) => next - at),
      )
      .sort((a, b) => a - b);
    const count = (fault: Fault) => struck.filter((one) => one.fault === fault).length;
    console.log(
      `${SIZE.mates} teammates, ${SIZE.tasks} tasks, ${SIZE.machines} machines: ${(tookMs / 1000).toFixed(1)} s; ` +
        `${count("killed")} killed, ${count("cut off")} cut off, ${count("lost")} lost; ${adopted} commands adopted, ` +
        `${unknownCalls(events).length} of unknown outcome, ${marked} tasks marked; ${fleet.server.log().requests.length} model requests; ` +
        `lease ${LEASE_MS} ms, agents went on after median ${takeovers[takeovers.length >> 1]} ms, worst ${takeovers.at(-1)} ms`,
    );
    const unmarked = unknownCalls(events).filter(({ actor, data }) => {
      const { callId } = data as { callId: string };
      const of = tasks.filter(({ owner }) => owner === `${fleet.context}/${actor}`);
      return !of.some(({ unknown = [] }) => unknown.some(({ call }) => call === callId));
    });
    expect(unmarked).toEqual([]);
  },
);
