// What a host asks of its store: it looks at the ledger that has changed, and at nothing else.
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, type TestContext, test } from "vitest";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import type { Store } from "../../src/ledger/store.ts";
import { openBoard } from "../../src/mechanisms/tasks/index.ts";
import { sending } from "../../src/mechanisms/team/decide.ts";
import type { TeamState } from "../../src/mechanisms/team/state.ts";
import { openHouse } from "../house.ts";
import { call, seenIn } from "./world.ts";

const CONTEXTS = 40;

interface Counted {
  store: Store;
  /** By ledger or lease. */
  reads: Map<string, number>;
  heads: Map<string, number>;
  inspected: Map<string, number>;
  asked: number;
  /** Every call of any kind. */
  calls: number;
  reset(): void;
}

function counting(inner: Store): Counted {
  const add = (to: Map<string, number>, name: string) => to.set(name, (to.get(name) ?? 0) + 1);
  /** Those that are not counted by name. */
  const every = (store: Store): Store => {
    const counting = <A extends unknown[], R>(work: (...args: A) => R) => {
      return (...args: A): R => {
        counted.calls++;
        return work(...args);
      };
    };
    const { append, version, list, remove, collect, blob, find } = store;
    return {
      ...store,
      append: counting(append),
      version: counting(version),
      list: counting(list),
      remove: counting(remove),
      collect: counting(collect),
      blob: counting(blob),
      find: counting(find),
    };
  };
  const counted: Counted = {
    reads: new Map(),
    heads: new Map(),
    inspected: new Map(),
    asked: 0,
    calls: 0,
    reset() {
      for (const one of [counted.reads, counted.heads, counted.inspected]) one.clear();
      counted.asked = 0;
      counted.calls = 0;
    },
    store: {
      ...every(inner),
      read(ledger, opts) {
        counted.calls++;
        add(counted.reads, ledger);
        return inner.read(ledger, opts);
      },
      head(ledger) {
        counted.calls++;
        add(counted.heads, ledger);
        return inner.head(ledger);
      },
      due(now) {
        counted.calls++;
        counted.asked++;
        return inner.due(now);
      },
      leases: {
        acquire(name, opts) {
          counted.calls++;
          return inner.leases.acquire(name, opts);
        },
        inspect(name) {
          counted.calls++;
          add(counted.inspected, name);
          return inner.leases.inspect(name);
        },
      },
    },
  };
  return counted;
}

async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  for (let i = 0; i < 1_000 && !(await condition()); i++) await sleep(20);
  expect(await condition()).toBe(true);
}

/** A host with forty teams, each of one idle teammate; and another process's store. */
async function idleTeams({ onTestFinished }: TestContext, size = CONTEXTS) {
  const house = await openHouse(
    (request) => {
      const { agent, last, since } = seenIn(request);
      if (agent === "lead" && last === "begin" && since === 0)
        return call("spawn_teammate", { name: "alice", role: "writer", prompt: "Hello." });
      return { text: "ok" };
    },
    { team: { offer: true } },
  );
  onTestFinished(() => house.close());
  const run = await house.harness.run("begin");
  await run.result;
  await run.taken.release();
  const other = await openSqliteStore(path.join(house.state, "ledger.db"));
  onTestFinished(() => other.close());
  const counted = counting(house.store);
  const harness = await house.again({ store: counted.store });
  onTestFinished(() => harness.close());
  const over = new AbortController();
  const hosting = await harness.hosting();
  const hosted = hosting.run(over.signal);
  onTestFinished(async () => {
    over.abort();
    await hosted;
  });
  await hosting.settled(over.signal);
  // The same team in many contexts: its events are copied, as a fork does.
  const events = await house.events(run.context);
  const contexts = [run.context, ...Array.from({ length: size - 1 }, (_, i) => `ctx_copy${i}`)];
  for (const context of contexts.slice(1))
    await other.append([{ ledger: context, events }], { wake: [{ context, agent: null, by: "team", dueAt: 0 }] });
  await hosting.settled(over.signal);
  await hosting.settled(over.signal);
  expect(contexts.every((context) => counted.reads.has(context))).toBe(true);
  counted.reset();
  await until(() => counted.asked >= 2); // what rang late has been looked at
  counted.reset();
  const tell = async (context: string) => {
    const ledger = await house.harness.host.open(context);
    const facts = sending(ledger.state.slices.team as TeamState, "lead", { to: "alice", content: "news" });
    await other.append([{ ledger: context, events: facts.map((fact) => ({ ...fact, actor: "lead" })) }]);
  };
  const turns = async (context: string) =>
    (await house.events(context)).filter((e) => e.actor === "alice" && e.type === "turn.ended").length;
  return { house, hosting, over, other, counted, contexts, tell, turns };
}

const names = (calls: Map<string, number>) => [...calls.keys()].toSorted();

test.concurrent("commits in a ledger that no agent has work in cost an idle host no look at any context", async (t) => {
  const { other, counted } = await idleTeams(t);
  for (let i = 0; i < 20; i++)
    await other.append([{ ledger: "unrelated", events: [{ type: "t", actor: "me", data: i }] }]);
  // Once a second it asks who is due, and once more at most for what it does not follow: both are one call for all of them.
  await until(() => counted.asked >= 2);
  expect([names(counted.reads), names(counted.heads), names(counted.inspected)]).toEqual([[], [], []]);
});

test.concurrent("a change in one context is looked at there alone", async (t) => {
  const { counted, contexts, tell, turns } = await idleTeams(t);
  const [one] = contexts.slice(7);
  const before = await turns(one!);
  await tell(one!);
  await until(async () => (await turns(one!)) > before);
  const looked = [...names(counted.reads), ...names(counted.heads), ...names(counted.inspected)];
  const elsewhere = looked.filter((name) => name !== "board" && !name.includes(one!));
  expect([elsewhere, looked.includes(one!)]).toEqual([[], true]);
});

test.concurrent("a task on the board is seen by the teams, without reading their contexts again", async (t) => {
  const { house, counted, contexts } = await idleTeams(t);
  const board = await openBoard(house.store);
  await board.create([{ subject: "Write" }], { agent: "user" });
  await until(async () => (await board.get("task_1"))?.owner != null);
  const owner = (await board.get("task_1"))!.owner!.split("/")[0]!;
  // The one that took it is read; of the others at most those that wanted it too and were slower.
  const read = contexts.filter((context) => context !== owner && counted.reads.has(context));
  expect(read.length < 10).toBe(true);
});

test.concurrent("an agent that another process holds is asked for, and nothing else, until it is free", async (t) => {
  const { other, counted, contexts, tell, turns } = await idleTeams(t);
  const [one] = contexts.slice(3);
  const before = await turns(one!);
  const name = `agent:${one}/alice`;
  const lease = await other.leases.acquire(name);
  if ("held" in lease) throw new Error("held");
  const renewing = setInterval(() => void lease.renew(), 1_000);
  await tell(one!);
  await until(() => (counted.inspected.get(name) ?? 0) >= 1);
  counted.reset();
  await until(() => (counted.inspected.get(name) ?? 0) >= 3);
  expect([names(counted.inspected), names(counted.reads), names(counted.heads)]).toEqual([[name], [], []]);
  expect(await turns(one!)).toBe(before);
  clearInterval(renewing);
  await lease.release();
  await until(async () => (await turns(one!)) > before);
});

for (const size of process.env.HOLDFAST_LONG === "1" ? [40, 4_000] : [40, 400])
  test(`a commit costs an idle host of ${size} contexts five calls of the store or less`, {
    timeout: 180_000,
  }, async (t) => {
    const { other, counted, contexts, hosting, over } = await idleTeams(t, size);
    const began = Date.now();
    counted.reset();
    const commits = 100;
    for (let i = 0; i < commits; i++) {
      const ledger = i % 2 === 0 ? "unrelated" : contexts[(i * 37) % size]!;
      await other.append([{ ledger, events: [{ type: "t", actor: "me", data: i }] }]);
      await sleep(20);
    }
    await until(() => counted.asked >= 2);
    const perCommit = counted.calls / commits;
    counted.reset();
    await hosting.settled(over.signal);
    console.log(
      `${size} contexts: ${perCommit.toFixed(2)} calls a commit (${Date.now() - began} ms), ${counted.calls} for a look at everything`,
    );
    expect(perCommit <= 5).toBe(true);
  });
