// Leases of a store that other machines reach: a holder of another boot is believed to live until it was seen still for a whole lease.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { thisHolder } from "../../src/ledger/holder.ts";
import { createLeases, type LeaseRow } from "../../src/ledger/leases.ts";
import { createLeaseDeadline } from "../../src/ledger/networked/lease-deadline.ts";

function leasesOver(row: LeaseRow, reach: "machine" | "network", leaseMs: number) {
  const rows = new Map([[row.name, row]]);
  const leases = createLeases(
    {
      read: async (name) => rows.get(name),
      async change(name, decide) {
        const next = decide(rows.get(name));
        if (next) rows.set(name, next);
        return next !== undefined;
      },
    },
    { interactive: false, leaseMs, ...(reach === "network" && { deadline: createLeaseDeadline }) },
  );
  return { leases, rows };
}

/** Of a machine with the same name as this one, which was started another time: a reboot, or a copy of its image. */
const elsewhere = (more: Partial<LeaseRow> = {}): LeaseRow => ({
  ...{ name: "agent:x", term: 4, token: "theirs", expiresAt: 0, renewals: 9 },
  holder: { ...thisHolder(false), boot: "another" },
  ...more,
});

const isTaken = (answer: object): boolean => "renew" in answer;

it("a store of one machine takes over at once from a boot that is over, one on a network does not", async () => {
  const [near, far] = (["machine", "network"] as const).map((reach) => leasesOver(elsewhere(), reach, 60).leases);
  expect(isTaken(await near!.acquire("agent:x"))).toEqual(true);
  expect(isTaken(await far!.acquire("agent:x"))).toEqual(false);
  await sleep(80);
  const taken = await far!.acquire("agent:x");
  expect("renew" in taken && [taken.term, taken.takenFrom?.boot]).toEqual([5, "another"]);
});

it("a renewal that was seen begins the wait anew", async () => {
  const { leases, rows } = leasesOver(elsewhere(), "network", 200);
  expect(isTaken(await leases.acquire("agent:x"))).toEqual(false);
  await sleep(150);
  rows.set("agent:x", elsewhere({ renewals: 10 }));
  expect(isTaken(await leases.acquire("agent:x"))).toEqual(false);
  await sleep(100);
  expect(isTaken(await leases.acquire("agent:x"))).toEqual(false);
  await sleep(150);
  expect(isTaken(await leases.acquire("agent:x"))).toEqual(true);
});

it("waits as long as the holder lets its lease last, not as long as its own lasts", async () => {
  const { leases } = leasesOver(elsewhere({ leaseMs: 60_000 }), "network", 30);
  expect(isTaken(await leases.acquire("agent:x"))).toEqual(false);
  await sleep(60);
  expect((await leases.inspect("agent:x"))?.expiresInMs).toBeGreaterThan(30_000);
});

it("says of a lease that was taken here how long it may be relied on, until it is given back", async () => {
  const { leases } = leasesOver(elsewhere({ holder: null }), "network", 1_000);
  const lease = await leases.acquire("agent:x");
  if (!("renew" in lease)) throw new Error("held");
  expect(leases.leftMs(lease)).toBeGreaterThan(0);
  expect(leases.leftMs({ ...lease, token: "another" })).toEqual(undefined);
  await lease.release();
  expect(leases.leftMs(lease)).toEqual(undefined);
});

it("kills no process that a row names, however it is past its time: it is fenced off, and left to its own clock", async () => {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1e9)"], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child, "spawn");
  const fields = readFileSync(`/proc/${child.pid}/stat`, "latin1").split(") ").at(-1)!.split(" ");
  const holder = { ...thisHolder(false), pid: child.pid!, startedAt: fields[19]! };
  const { leases } = leasesOver(elsewhere({ holder, expiresAt: 1 }), "network", 60);
  expect(await leases.inspect("agent:x")).toEqual(undefined);
  const taken = await leases.acquire("agent:x");
  expect("renew" in taken && [taken.term, taken.takenFrom?.pid, taken.tookOver]).toEqual([5, child.pid, true]);
  expect([child.exitCode, child.signalCode, child.kill(0)]).toEqual([null, null, true]);
});
