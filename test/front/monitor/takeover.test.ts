// A team watched live while its host is killed: shown as interrupted, then as taken over by another host. On one machine, and over several, where the lease counts.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { ContextRow, OverviewMessage, ProjectPage } from "../../../src/front/monitor/api.ts";
import type { Timeline } from "../../../src/front/monitor/context-api.ts";
import type { Script } from "../../../src/testing/model-server-script.ts";
import { openFleet } from "../../team/fleet.ts";
import { canMakeMachines } from "../../team/machines.ts";
import { LEASE_MS, openMachinesFleet } from "../../team/machines-fleet.ts";
import { call, seenIn } from "../../team/world.ts";
import { scratch } from "../../turn.ts";
import { messages } from "./messages.ts";
import { type RunningMonitor, startMonitor, until } from "./running-monitor.ts";

const LONG = process.env.HOLDFAST_LONG === "1";
/** How often hosts that were alive are looked at, and room for a machine that is busy. */
const LOOK_MS = 400;
const ROOM_MS = LONG ? 600 : 5_000;

/** The lead spawns alice, who works on something that takes longer than this test. */
const script: Script = (request) => {
  const { agent, last, since } = seenIn(request);
  if (agent !== "lead") return since === 0 ? call("bash", { command: "sleep 60" }) : { text: "ok" };
  const alice = { name: "alice", role: "writer", prompt: "Write." };
  return last === "begin" && since === 0 ? call("spawn_teammate", alice) : { text: "She works." };
};

interface Seen {
  row: ContextRow;
  at: number;
}

/** Every state of that context that the page was told, with when. */
function watch(monitor: RunningMonitor, context: string): Seen[] {
  const ends = new AbortController();
  onTestFinished(() => ends.abort());
  const seen: Seen[] = [];
  const following = async () => {
    for await (const { data } of messages<OverviewMessage>(monitor, "/api/live", { signal: ends.signal })) {
      const rows = data.kind === "hello" ? data.overview.contexts : data.kind === "contexts" ? data.rows : [];
      for (const row of rows) if (row.context === context) seen.push({ row, at: performance.now() });
    }
  };
  following().catch(() => undefined);
  return seen;
}

/** The first of them, from that moment on. */
const told = (seen: readonly Seen[], from: number, fits: (row: ContextRow) => boolean): Promise<Seen> =>
  until(() => seen.find((one) => one.at >= from && fits(one.row)), 5);

async function takeoverMarks(monitor: RunningMonitor, { project, context }: ContextRow): Promise<string[]> {
  const { marks } = await monitor.json<Timeline>(`/api/p/${project}/c/${context}/timeline`);
  return marks.filter(({ kind }) => kind === "takeover").map(({ title }) => title);
}

test("a host that is killed shows as interrupted, and as taken over when another goes on", {
  timeout: 60_000,
}, async () => {
  const fleet = await openFleet({ mates: ["alice"], tasks: [], workers: 1, script });
  onTestFinished(() => {
    for (const worker of fleet.workers) worker.kill("SIGKILL"); // it would wait for her command
    return fleet.close();
  });
  const monitor = await startMonitor({ cwd: fleet.root, state: fleet.state }, ["--state", fleet.state]);
  const seen = watch(monitor, fleet.context);
  const isOf = (pid: number | undefined) => (row: ContextRow) => row.status === "running" && row.host?.pid === pid;
  const { row } = await told(seen, 0, isOf(fleet.workers[0]!.pid));
  expect(row.host).toMatchObject({ alive: true, here: true });
  await until(async () =>
    (await fleet.events()).some(({ type, actor }) => type === "tool.started" && actor === "alice") ? true : undefined,
  );
  const killedAt = performance.now();
  fleet.workers[0]!.kill("SIGKILL");
  const gone = await told(seen, killedAt, ({ status }) => status === "interrupted");
  expect(gone.row).toMatchObject({ why: expect.stringContaining("is gone") });
  const startedAt = performance.now();
  fleet.start(1);
  const taken = await told(seen, startedAt, isOf(fleet.workers[1]!.pid));
  const marks = await until(async () => {
    const found = await takeoverMarks(monitor, taken.row);
    return found.length > 0 ? found : undefined;
  });
  expect(marks[0]).toContain("alice");
  const [down, up] = [gone.at - killedAt, taken.at - startedAt];
  console.log(
    `one machine: interrupted ${down.toFixed(0)} ms after kill -9; running again ${up.toFixed(0)} ms after another host was started`,
  );
  expect(down).toBeLessThan(LOOK_MS + ROOM_MS);
});

test.runIf(canMakeMachines)(
  "over several machines another host takes over within the lease and a second, and that is seen",
  { timeout: 60_000 },
  async () => {
    const fleet = await openMachinesFleet({ machines: 2, script });
    onTestFinished(() => fleet.close());
    const [first, second] = fleet.machines;
    fleet.startWorker(first!);
    const state = scratch(onTestFinished);
    const at = { cwd: first!.root, state, env: { HOLDFAST_STATE: fleet.store.url } };
    const monitor = await startMonitor(at);
    const seen = watch(monitor, fleet.context);
    const { row } = await told(seen, 0, ({ status, host }) => status === "running" && host !== undefined);
    expect(row.host).toMatchObject({ alive: true, here: false });
    await until(async () =>
      (await fleet.events()).some(({ type, actor }) => type === "tool.started" && actor === "alice") ? true : undefined,
    );
    fleet.startWorker(second!); // it waits for the lease of the first
    await sleep(1_500);
    const killedAt = performance.now();
    await fleet.killWorker(first!);
    // It is taken over as soon as its lease is over: nobody need see it lie there.
    const isSecond = ({ host, status }: ContextRow) => status === "running" && host?.machine !== row.host?.machine;
    const taken = await told(seen, killedAt, isSecond);
    const page = await monitor.json<ProjectPage>(`/api/p/${row.project}`);
    expect(page.leases.map(({ agent, host }) => [agent, host.machine])).toEqual([["alice", taken.row.host?.machine]]);
    expect(page.server).toMatch(/^(?:Redis|Valkey)/i);
    const marks = async () => (await takeoverMarks(monitor, taken.row)).find((one) => one.includes("alice"));
    await until(marks);
    const lostAt = performance.now();
    await fleet.killWorker(second!);
    const gone = await told(seen, lostAt, ({ status }) => status === "interrupted");
    expect(gone.row.why).toContain("is gone");
    const [up, down] = [taken.at - killedAt, gone.at - lostAt];
    console.log(
      `two machines, a lease of ${LEASE_MS} ms: taken over ${up.toFixed(0)} ms after kill -9; with nobody else there interrupted after ${down.toFixed(0)} ms`,
    );
    expect(up).toBeLessThan(LEASE_MS + 1_000 + ROOM_MS);
    expect(down).toBeLessThan(LEASE_MS + 1_000 + ROOM_MS);
  },
);
