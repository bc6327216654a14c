// A team on several machines, one of whose workers is killed, cut off or lost with its machine every two seconds. Full size in `npm run test:long`.
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { StoredEvent } from "../../src/ledger/store.ts";
import { LOOK_AGAIN_MS } from "../../src/loop/waiting-list.ts";
import { openBoard } from "../../src/mechanisms/tasks/index.ts";
import type { ScriptRequest } from "../../src/testing/model-server-script.ts";
import { canMakeMachines } from "./machines.ts";
import { LEASE_MS, type MachinesFleet, openMachinesFleet } from "./machines-fleet.ts";
import { watchTakeovers } from "./takeovers.ts";
import { call, seenIn } from "./world.ts";

const LONG = process.env.HOLDFAST_LONG === "1";
const SIZE = LONG ? { machines: 40, mates: 200, tasks: 2_000 } : { machines: 8, mates: 40, tasks: 200 };
/** A host looks again at so many agents that others hold, one after the other, in this time (src/loop/waiting-list.ts). */
const LOOK_MS = LOOK_AGAIN_MS * Math.ceil((SIZE.mates + 1) / 16);
const FAULT_EVERY_MS = 2_000;
const LIMIT_MS = LONG ? 3_000_000 : 120_000;
/** At ten a second: one task in ten runs for longer than a lease, so that it is there when its agent is taken over. */
const TICKS_OF_LONG = (3 * LEASE_MS) / 100;
const CLOSING_MS = LONG ? 300_000 : 60_000;

type Fault = "killed" | "cut off" | "lost";
const FAULTS: Fault[] = ["killed", "cut off", "killed", "lost"];

/** Contract: `gone` is called when what was held there is nobody's; the machine has a worker again afterwards, some time later. */
async function strike(fleet: MachinesFleet, at: number, fault: Fault, gone: () => Promise<void>): Promise<void> {
  const machine = fleet.machines[at]!;
  if (fault === "cut off") {
    machine.cut();
    await gone();
    await sleep(LEASE_MS * (1 + Math.random())); // it comes back when its lease is just over, or has another holder
    machine.heal();
    return;
  }
  if (fault === "killed") await fleet.killWorker(machine);
  else await machine.lose();
  await gone();
  fleet.startWorker(machine);
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

interface CallEnd {
  callId: string;
  resumed?: string;
  ran?: { status: string; lostLease?: true };
}

/** Of calls of which nobody knows how far they came. */
const unknownEnds = (events: readonly StoredEvent[]): (StoredEvent & { data: CallEnd })[] =>
  events.flatMap((event) => {
    const data = event.data as CallEnd;
    const { resumed, ran } = data;
    const isUnknown = resumed === "unknown" || ran?.status === "unknown" || ran?.lostLease;
    return event.type === "tool.finished" && isUnknown ? [{ ...event, data }] : [];
  });

/** What a command of a machine that was cut off still did when its agent had gone on on another one. Its ticks are in microseconds. */
function doneTooLate(fleet: MachinesFleet, events: readonly StoredEvent[]): string[] {
  return events.flatMap(({ type, actor, data, seq }, i) => {
    const { name, input } = data as { name?: string; input?: { command: string } };
    const [, id = ""] = /done-(task_\d+);/.exec(input?.command ?? "") ?? [];
    const file = path.join(fleet.ticks, id);
    if (type !== "tool.started" || name !== "bash" || !fs.existsSync(file)) return [];
    const next = events.slice(i + 1).find((event) => event.actor === actor && isFromElsewhere(event));
    const end = events.slice(i + 1).find((event) => event.actor === actor && event.type === "tool.finished");
    if (!next || !end || next.seq > end.seq) return [];
    const late = fs
      .readFileSync(file, "utf8")
      .split("\n")
      .filter((tick) => Number(tick) / 1_000 > next.at);
    return late.length > 0 ? [`${id}, begun by ${actor} as event ${seq}: ${late.length} after event ${next.seq}`] : [];
  });
}

/** The first that another machine's host says of an agent which it takes. */
const isFromElsewhere = ({ type, data }: StoredEvent): boolean =>
  (type === "agent.moved" && (data as { machine?: string }).machine !== undefined) ||
  (type === "tool.finished" && (data as CallEnd).resumed === "unknown");

test.runIf(canMakeMachines)(
  "each task is done once and each effect at most once, and what is unknown is marked, whatever happens to the machines",
  { timeout: LIMIT_MS + 60_000 },
  async () => {
    const mates = Array.from({ length: SIZE.mates }, (_, i) => `mate${i}`);
    const fleet = await openMachinesFleet({
      machines: SIZE.machines,
      // With network: such a command ends with its lease. Room for all: nobody waits for anything but a lease.
      args: ["--settings", JSON.stringify({ sandbox: { network: "on" } }), "--concurrency", "32"],
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
        const ticks = id.endsWith("0") ? TICKS_OF_LONG : 5;
        const ticking = `for i in $(seq ${ticks}); do echo \${EPOCHREALTIME//[.,]/} >> ${fleet.ticks}/${id}; sleep 0.1; done`;
        return call("bash", { command: `echo ${agent} >> ${effect}; ${ticking}; echo it is done` });
      },
    });
    onTestFinished(() => fleet.close(), CLOSING_MS);
    const board = await openBoard(fleet.store);
    for (let i = 0; i < SIZE.tasks; i += 50)
      await board.create(
        Array.from({ length: Math.min(50, SIZE.tasks - i) }, (_, k) => ({ subject: `Do number ${i + k}` })),
        { agent: "user" },
      );
    const startedAt = Date.now();
    for (const machine of fleet.machines) fleet.startWorker(machine);
    const left = async () => (await board.list()).filter((task) => task.status !== "completed").length;
    const struck: Fault[] = [];
    const takeovers = watchTakeovers(fleet.store, fleet.context);
    const busy = new Map<number, Promise<void>>();
    let lastFault = Date.now();
    while ((await left()) > 0 && Date.now() - startedAt < LIMIT_MS) {
      await sleep(100);
      await takeovers.look();
      if (Date.now() - lastFault < FAULT_EVERY_MS) continue;
      lastFault = Date.now();
      const free = fleet.machines.map((_, at) => at).filter((at) => !busy.has(at));
      const victim = free[Math.floor(Math.random() * free.length)];
      if (victim === undefined) continue;
      const fault = FAULTS[struck.length % FAULTS.length]!;
      struck.push(fault);
      const place = `#${fleet.machines[victim]!.pidNamespace()}`;
      const gone = () => takeovers.struck(place);
      busy.set(
        victim,
        strike(fleet, victim, fault, gone).finally(() => busy.delete(victim)),
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
    const missing = tasks.filter(({ id, unknown }) => !effects.has(id) && !unknown).map(({ id }) => id);
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
    const took = takeovers.took.map(Math.round);
    const [p50, max] = [took[took.length >> 1], took.at(-1)];
    const apartMs = Math.round(takeovers.apartMs);
    const count = (fault: Fault) => struck.filter((one) => one === fault).length;
    console.log(
      `${SIZE.mates} teammates, ${SIZE.tasks} tasks, ${SIZE.machines} machines: ${(tookMs / 1000).toFixed(1)} s; ` +
        `${count("killed")} killed, ${count("cut off")} cut off, ${count("lost")} lost; ${adopted} commands adopted, ` +
        `${unknownEnds(events).length} of unknown outcome, ${marked} tasks marked; ${fleet.server.log().requests.length} model requests; ` +
        `lease ${LEASE_MS} ms: ${took.length} agents taken over, p50 ${p50} ms, max ${max} ms; looks of this process up to ${apartMs} ms apart`,
    );
    const unmarked = unknownEnds(events).filter(({ actor, data: { callId } }) => {
      const of = tasks.filter(({ owner }) => owner === `${fleet.context}/${actor}`);
      return !of.some(({ unknown = [] }) => unknown.some(({ call }) => call === callId));
    });
    expect(unmarked).toEqual([]);
    expect([fs.readdirSync(fleet.ticks).length > 0, doneTooLate(fleet, events)]).toEqual([true, []]);
    expect(took.length).toBeGreaterThan(0);
    expect(p50).toBeLessThanOrEqual(LEASE_MS + LOOK_MS);
    // A look that is under way when the lease ends does not see it, the next one does. This process looks like a host does: as late as it
    // was itself, another may have been, and so late it sees that.
    expect(max).toBeLessThanOrEqual(LEASE_MS + 2 * LOOK_MS + 2 * apartMs);
  },
);
