// A command of a worker that is cut off: with network it has stopped before another machine takes its agent over; without, it runs on and is adopted.
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { StoredEvent } from "../../src/ledger/store.ts";
import { canMakeMachines } from "./machines.ts";
import { type MachinesFleet, openMachinesFleet } from "./machines-fleet.ts";
import { call, seenIn } from "./world.ts";

const NETWORK_ON = ["--settings", JSON.stringify({ sandbox: { network: "on" } })];

/** One teammate, whose command says every tenth of a second that it lives. */
async function ticking({ args, ticks }: { args?: string[]; ticks: number }) {
  const fleet = await openMachinesFleet({
    machines: 2,
    ...(args && { args }),
    script(request) {
      const { agent, last, since } = seenIn(request);
      const said = JSON.stringify(request.body.messages); // what it has called before too
      if (agent === "lead" && last === "begin" && since === 0)
        return call("spawn_teammate", { name: "alice", role: "worker", prompt: "Tick." });
      if (agent === "lead" || said.includes("ticks;")) return { text: "looked" };
      const tick = `date +%s%3N >> ${fleet.world}/ticks; sleep 0.1`;
      return call("bash", { command: `for i in $(seq ${ticks}); do ${tick}; done; echo the end` });
    },
  });
  onTestFinished(() => fleet.close());
  const seen = () => {
    const file = path.join(fleet.world, "ticks");
    return fs.existsSync(file) ? fs.readFileSync(file, "utf8").trim().split("\n").map(Number) : [];
  };
  fleet.startWorker(fleet.machines[0]!);
  await until(() => seen().length > 3);
  return { fleet, seen };
}

async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  for (let i = 0; i < 600 && !(await condition()); i++) await sleep(50);
  expect(await condition()).toBe(true);
}

/** How the command ended, as its agent was told. */
async function resultOf(fleet: MachinesFleet): Promise<StoredEvent & { data: { resumed?: string; content: unknown } }> {
  const found = async () =>
    (await fleet.events()).find(({ type, actor, data }) => {
      return type === "tool.finished" && actor === "alice" && (data as { name: string }).name === "bash";
    });
  await until(async () => (await found()) !== undefined);
  return (await found()) as Awaited<ReturnType<typeof resultOf>>;
}

for (const how of ["cut off", "cut off and stopped"] as const)
  test.runIf(canMakeMachines)(
    `with network, on a machine that is ${how}, it has stopped before its agent goes on elsewhere`,
    { timeout: 60_000 },
    async () => {
      const { fleet, seen } = await ticking({ args: NETWORK_ON, ticks: 600 });
      const [first, second] = fleet.machines;
      fleet.startWorker(second!);
      await sleep(1_500); // it looks, and waits for the lease
      first!.cut();
      if (how === "cut off and stopped") fleet.stopWorker(first!);
      const { at, data } = await resultOf(fleet);
      await sleep(1_000);
      expect(data).toMatchObject({ resumed: "unknown" });
      expect(JSON.stringify(data.content)).toContain("another machine ran this");
      expect(seen().filter((tick) => tick > at)).toEqual([]);
      const notes = (await fleet.events()).filter(({ type, actor }) => type === "note.added" && actor === "alice");
      expect(JSON.stringify(notes)).toContain(`the project's folder is ${second!.root} here`);
    },
  );

test.runIf(canMakeMachines)(
  "without network it outlives its worker, and the next one on that machine adopts it",
  { timeout: 60_000 },
  async () => {
    const { fleet, seen } = await ticking({ ticks: 80 });
    const [first] = fleet.machines;
    await fleet.killWorker(first!);
    fleet.startWorker(first!);
    const { data } = await resultOf(fleet);
    expect(data).toMatchObject({ resumed: "adopted" });
    expect([JSON.stringify(data.content).includes("the end"), seen().length]).toEqual([true, 80]);
  },
);

test.runIf(canMakeMachines)(
  "without network it runs on on a machine that is cut off, and its agent goes on elsewhere with an unknown outcome",
  { timeout: 60_000 },
  async () => {
    const { fleet, seen } = await ticking({ ticks: 90 });
    const [first, second] = fleet.machines;
    fleet.startWorker(second!);
    first!.cut(); // its host lets go of it at the deadline, and does not end it
    const { data } = await resultOf(fleet);
    expect(data).toMatchObject({ resumed: "unknown" });
    await until(() => seen().length === 90);
  },
);
