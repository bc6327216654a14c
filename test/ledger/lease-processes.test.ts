// Leases between real processes: dead, stopped, hung, a person's terminal, another boot, another machine.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { inspectHolder, thisHolder } from "../../src/ledger/holder.ts";
import { openConnection } from "../../src/ledger/sqlite/connection.ts";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import { putLeaseRow } from "../../src/ledger/sqlite/lease-row.ts";
import type { Holder, Store } from "../../src/ledger/store.ts";
import { type Child, startChild } from "./children/spawn.ts";

const LEASE_MS = 400;
let folder: string;
let file: string;
let store: Store;
let children: Child[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-lease-"));
  file = join(folder, "p.db");
  store = await openSqliteStore(file, { leaseMs: LEASE_MS });
  children = [];
});
afterEach(async () => {
  for (const child of children) child.process.kill("SIGKILL");
  await Promise.all(children.map((child) => child.ended));
  await store.close();
  rmSync(folder, { recursive: true });
});

async function holder(...flags: string[]): Promise<Child & { holder: Holder }> {
  const child = startChild("holder.ts", [file, "agent:x", ...flags], { HOLDFAST_LEASE_MS: String(LEASE_MS) });
  children.push(child);
  await child.printed(1);
  return { ...child, holder: JSON.parse(child.lines[0]!).holder };
}

function waiting(): { wait: AbortSignal } {
  return { wait: AbortSignal.timeout(5_000) };
}

async function heldBy(who: Holder): Promise<void> {
  const db = openConnection(file);
  await db.write(() =>
    putLeaseRow(db, { name: "agent:x", term: 7, token: "theirs", holder: who, expiresAt: 1e15, renewals: 1 }),
  );
  db.close();
}

describe("a lease", () => {
  it("of a killed process is taken at once", async () => {
    const child = await holder("--renew");
    child.process.kill("SIGKILL");
    await child.ended;
    const from = performance.now();
    const lease = await store.leases.acquire("agent:x");
    expect("renew" in lease && [lease.term, lease.takenFrom]).toEqual([2, child.holder]);
    expect(performance.now() - from < 100).toEqual(true);
  });

  it("of a running process is not waited for", async () => {
    const child = await holder("--renew");
    const answer = await store.leases.acquire("agent:x", waiting());
    expect("held" in answer && [answer.held.holder, answer.held.alive, answer.held.stopped]).toEqual([
      child.holder,
      true,
      false,
    ]);
  });

  it("of a stopped process is waited for; then the process is killed, so that it cannot wake up and write", async () => {
    const child = await holder("--renew");
    child.process.kill("SIGSTOP");
    for (let i = 0; i < 100 && !inspectHolder(child.holder)?.stopped; i++) await sleep(5);
    const now = await store.leases.acquire("agent:x");
    expect("held" in now && [now.held.stopped, now.held.expiresInMs > 0]).toEqual([true, true]);
    const lease = await store.leases.acquire("agent:x", waiting());
    expect("renew" in lease && [lease.term, lease.takenFrom]).toEqual([2, child.holder]);
    await child.ended;
    expect(child.process.signalCode).toEqual("SIGKILL");
  });

  it("of a hung process that renews no more is taken after its expiry, and the process killed", async () => {
    const child = await holder();
    await sleep(LEASE_MS + 50);
    const lease = await store.leases.acquire("agent:x");
    expect("renew" in lease && lease.takenFrom).toEqual(child.holder);
    await child.ended;
    expect(child.process.signalCode).toEqual("SIGKILL");
  });

  it("of a person's terminal is left alone until told otherwise", async () => {
    const child = await holder("--interactive");
    child.process.kill("SIGSTOP");
    await sleep(LEASE_MS + 50);
    const answer = await store.leases.acquire("agent:x", waiting());
    expect("held" in answer && answer.held.holder).toEqual(child.holder);
    const lease = await store.leases.acquire("agent:x", { takeOverInteractive: true });
    expect("renew" in lease && lease.takenFrom).toEqual(child.holder);
  });

  it("of an earlier boot is taken at once, and so is one whose pid was given to another process", async () => {
    for (const who of [
      { ...thisHolder(false), boot: "before" },
      { ...thisHolder(false), startedAt: "1" },
    ]) {
      await heldBy(who);
      const lease = await store.leases.acquire("agent:x");
      expect("renew" in lease && [lease.term, lease.takenFrom]).toEqual([8, who]);
    }
  });

  it("of another machine is taken when it was seen unchanged for as long as a lease lasts", async () => {
    const who = { ...thisHolder(false), machine: "elsewhere", boot: "other" };
    await heldBy(who);
    const answer = await store.leases.acquire("agent:x");
    expect("held" in answer && answer.held.holder).toEqual(who);
    const from = performance.now();
    const lease = await store.leases.acquire("agent:x", waiting());
    const took = performance.now() - from;
    expect("renew" in lease && [lease.term, lease.takenFrom, took > LEASE_MS / 2]).toEqual([8, who, true]);
  });

  it("that a crash leaves behind right after it was taken is taken again", async () => {
    const child = startChild("holder.ts", [file, "agent:x"], { HOLDFAST_CRASH_AT: "lease.taken" });
    await child.ended;
    const lease = await store.leases.acquire("agent:x");
    expect("renew" in lease && [lease.term, lease.takenFrom?.pid]).toEqual([2, child.process.pid]);
  });
});
