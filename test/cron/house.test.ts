import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { openContexts } from "../../src/contexts/index.ts";
import type { StoredEvent } from "../../src/ledger/store.ts";
import { scheduling } from "../../src/mechanisms/cron/schedules.ts";
import { type House, openHouse } from "../house.ts";
import { type FakeClock, fakeClock, settled, withCron } from "./world.ts";

const zone = "Europe/Berlin";
const START = Date.parse("2026-11-16T13:20:30Z");
const MINUTE = 60_000;

let house: House;
let clock: FakeClock;
afterEach(() => house.close());

const remind = (input: object) => [
  { calls: [{ name: "schedule_cron", input }] },
  { text: "I will." },
  { text: "The meeting is now." },
  { text: "And again." },
  { text: "And once more." },
];

async function scheduled(input: object) {
  clock = fakeClock(START);
  house = await openHouse(remind(input), withCron({ clock, zone }));
  const run = await house.harness.run("remind me of the meeting in 3 minutes.");
  expect((await run.result).text).toBe("I will.");
  return { run, agent: run.taken.agent, context: run.context };
}

const ofCron = (events: StoredEvent[]) =>
  events.filter((e) => e.type === "cron.fired" || e.type === "cron.missed" || isNote(e)).map((e) => e.type);
const isNote = (e: StoredEvent) => e.type === "note.added" && (e.data as { origin: string }).origin === "cron";
const count = (events: StoredEvent[], type: string) => events.filter((e) => e.type === type).length;

describe("a reminder", () => {
  it("comes at its minute without input, runs a turn, and comes once", async () => {
    const { agent, context } = await scheduled({ when: "in 3 minutes", prompt: "Remind the user of the meeting" });
    expect(await agent.oneTurn()).toBeUndefined();
    const idle = new AbortController();
    let woken = false;
    const waking = agent.untilWoken(idle.signal).then(() => {
      woken = true;
    });
    await clock.pass(3 * MINUTE - 1);
    expect(woken).toBe(false);
    await clock.pass(1);
    await waking;
    expect(await agent.oneTurn()).toBe("done");
    expect(agent.turn.state.lastTurn?.text).toBe("The meeting is now.");
    const { messages } = house.server.log().requests[2]!.body;
    expect(messages.at(-1).content).toMatch(
      /^<note from="cron">\n\[Scheduled\] Remind the user of the meeting\n\(schedule sch_\w+, set by agent lead on .*; due Mon 2026-11-16 14:23:30 Europe\/Berlin \(2026-11-16T13:23:30Z\)\)\n<\/note>$/,
    );
    await clock.pass(60 * MINUTE);
    expect([await agent.oneTurn(), agent.hasWork()]).toEqual([undefined, false]);
    const events = await house.events(context);
    expect(ofCron(events)).toEqual(["note.added", "cron.fired"]);
    idle.abort();
  });

  it("tells the model what was understood, and when it asks for nonsense, why not", async () => {
    await scheduled({ when: "in 3 minutes", prompt: "meeting" });
    expect(house.server.log().requests[1]!.body.messages.at(-1).content).toMatch(
      /^Scheduled sch_\w+: once, Mon 2026-11-16 14:23:30 Europe\/Berlin \(2026-11-16T13:23:30Z\)$/,
    );
    await house.close();
    await scheduled({ when: "when pigs fly", prompt: "meeting" });
    expect(house.server.log().requests[1]!.body.messages.at(-1).content).toContain(
      'cannot schedule "when pigs fly": not understood; say "in 3 minutes"',
    );
  });

  it("is in the store's due list while it stands, and not after", async () => {
    const { agent, context } = await scheduled({ when: "in 3 minutes", prompt: "meeting" });
    const due = START + 3 * MINUTE;
    expect(await house.store.due(due)).toEqual([{ context, agent: "lead", by: "cron", dueAt: due }]);
    expect(await house.store.due(due - 1)).toEqual([]);
    await clock.pass(3 * MINUTE);
    await agent.oneTurn();
    await agent.oneTurn();
    expect(await house.store.due(due + 1e12)).toEqual([]);
  });

  it("that comes due while a turn runs is shown at its next round", async () => {
    clock = fakeClock(START);
    house = await openHouse(
      [
        { calls: [{ name: "schedule_cron", input: { when: "in 1 minute", prompt: "tea" } }] },
        { calls: [{ name: "todo_write", input: { todos: [] } }] },
        { text: "both done" },
      ],
      withCron({ clock, zone }),
    );
    const run = await house.harness.run("work", {
      onEvent: (e) => {
        if (e.type === "event" && e.event.type === "todo.written") clock.jump(MINUTE);
      },
    });
    await run.result;
    expect(house.server.log().requests[2]!.body.messages.at(-1).content).toContain("[Scheduled] tea");
    expect(ofCron(await house.events(run.context))).toEqual(["note.added", "cron.fired"]);
  });
});

describe("an idle agent", () => {
  it("without schedules asks for no timer, and notices one that another process sets or cancels", async () => {
    clock = fakeClock(START);
    house = await openHouse([{ text: "hello" }, { text: "tea time" }], withCron({ clock, zone }));
    const run = await house.harness.run("hi");
    await run.result;
    const { agent } = run.taken;
    const idle = new AbortController();
    const waking = agent.untilWoken(idle.signal);
    await clock.pass(100 * MINUTE);
    expect(clock.sleeps).toEqual([]);

    const other = await house.harness.host.open(run.context);
    const of = { context: run.context, agent: "lead", slice: <T>(name: string) => other.state.slices[name] as T };
    const { events, wake } = await scheduling(
      of,
      { when: "in 10 minutes", prompt: "tea" },
      { now: clock.now(), zone, by: "the user" },
    );
    await other.append(
      events.map((e) => ({ ...e, actor: "lead" })),
      { wake },
    );
    while (clock.sleeping() === 0) await settled();
    await clock.pass(10 * MINUTE);
    await waking;
    expect(await agent.oneTurn()).toBe("done");
    expect(agent.turn.state.lastTurn?.text).toBe("tea time");
    idle.abort();
  });

  it("waits for a far time in short sleeps, one at a time, and none is left when something else wakes it", async () => {
    const { run, agent } = await scheduled({ when: "2030-01-01T00:00", prompt: "happy new year" });
    const idle = new AbortController();
    const waking = agent.untilWoken(idle.signal);
    await clock.pass(2 * MINUTE);
    expect([new Set(clock.sleeps), clock.sleeping()]).toEqual([new Set([30_000]), 1]);
    await run.send("hello");
    await waking;
    await agent.oneTurn();
    void agent.untilWoken(idle.signal);
    await settled();
    expect(clock.sleeping()).toBe(1);
    idle.abort();
    await settled();
    expect(clock.sleeping()).toBe(0);
  });

  it("notices after a suspend, within half a minute, that the time has come", async () => {
    const { agent } = await scheduled({ when: "in 3 hours", prompt: "meeting" });
    const idle = new AbortController();
    const waking = agent.untilWoken(idle.signal);
    await clock.pass(1000);
    clock.jump(8 * 60 * MINUTE);
    await clock.pass(30_000);
    await waking;
    expect(await agent.oneTurn()).toBe("done");
    const note = (await house.events(agent.turn.context)).find(isNote)!.data as { text: string };
    expect(note.text).toContain("5 h late: nothing ran then, or the clock was changed");
    idle.abort();
  });
});

describe("a clock that jumps", () => {
  it.each([
    ["once", ["note.added", "cron.fired"]],
    ["skip", ["cron.missed"]],
    ["all", ["note.added", "cron.fired", "note.added", "cron.fired", "note.added", "cron.fired"]],
  ])("an hour ahead follows policy %s", async (missed, facts) => {
    const { agent, context } = await scheduled({ when: "*/20 * * * *", prompt: "look", missed });
    clock.jump(60 * MINUTE + 5 * MINUTE);
    expect(await agent.oneTurn()).toBe(missed === "skip" ? undefined : "done");
    expect(ofCron(await house.events(context))).toEqual(facts);
    expect(await agent.oneTurn()).toBeUndefined();
  });

  it("back brings nothing twice", async () => {
    const { agent, context } = await scheduled({ when: "*/20 * * * *", prompt: "look" });
    clock.jump(20 * MINUTE);
    expect(await agent.oneTurn()).toBe("done");
    clock.jump(-60 * MINUTE);
    expect(await agent.oneTurn()).toBeUndefined();
    clock.jump(60 * MINUTE);
    expect(await agent.oneTurn()).toBeUndefined();
    clock.jump(20 * MINUTE);
    expect(await agent.oneTurn()).toBe("done");
    const dues = (await house.events(context))
      .filter((e) => e.type === "cron.fired")
      .map((e) => (e.data as { due: number }).due);
    expect(dues.map((d) => new Date(d).toISOString())).toEqual([
      "2026-11-16T13:40:00.000Z",
      "2026-11-16T14:00:00.000Z",
    ]);
  });
});

describe("a fork", () => {
  it("does not fire what the original has set; the original does", async () => {
    const { agent, context } = await scheduled({ when: "in 3 minutes", prompt: "meeting" });
    const contexts = await openContexts({ store: house.store });
    const fork = await (await contexts.get(context)).fork();
    const taken = await house.harness.host.take(fork.id);
    clock.jump(5 * MINUTE);
    expect(await taken.agent.oneTurn()).toBeUndefined();
    expect(await agent.oneTurn()).toBe("done");
  });
});

describe("hosts that die", () => {
  /** Runs the process that lets schedules fire; "killed", or what it printed. */
  async function fireInProcess(context: string, crashAt?: string): Promise<string> {
    const args = [
      path.join(import.meta.dirname, "firing-process.ts"),
      path.join(house.state, "ledger.db"),
      house.root,
      context,
    ];
    const child = spawn(process.execPath, [...args, String(START + 4 * MINUTE), house.server.openaiUrl], {
      env: { ...process.env, ...(crashAt && { HOLDFAST_CRASH_AT: crashAt }) },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let out = "";
    child.stdout.on("data", (d) => {
      out += d;
    });
    const [, signal] = await once(child, "close");
    return signal === "SIGKILL" ? "killed" : out.trim();
  }

  it.each(["append.before-commit", "append.committed", "model.before"])(
    "at %s, however often it is passed: the reminder is delivered once after the restart",
    { timeout: 180_000 },
    async (point) => {
      for (let n = 1; ; n++) {
        const { run, context } = await scheduled({ when: "in 3 minutes", prompt: "meeting" });
        await run.taken.release();
        const first = await fireInProcess(context, `${point}:${n}`);
        await fireInProcess(context);
        const third = first === "killed" && n === 1 ? await fireInProcess(context) : "0 turns";
        const events = await house.events(context);
        expect([point, n, ofCron(events), count(events, "turn.started"), count(events, "turn.ended"), third]).toEqual([
          point,
          n,
          ["note.added", "cron.fired"],
          2,
          2,
          "0 turns",
        ]);
        if (first !== "killed") {
          expect(n).toBeGreaterThan(1);
          break;
        }
        await house.close();
      }
    },
  );

  it("or live, four at a time: one of them fires", async () => {
    const { run, context } = await scheduled({ when: "in 3 minutes", prompt: "meeting" });
    await run.taken.release();
    const did = await Promise.all([1, 2, 3, 4].map(() => fireInProcess(context)));
    expect(did.filter((d) => d === "1 turns")).toHaveLength(1);
    expect(ofCron(await house.events(context))).toEqual(["note.added", "cron.fired"]);
  });

  it("or lost the lease and do not know it: the ledger refuses a second firing of the same due time", async () => {
    const { agent, context } = await scheduled({ when: "in 3 minutes", prompt: "meeting" });
    await clock.pass(4 * MINUTE);
    await agent.oneTurn();
    const fired = (await house.events(context)).find((e) => e.type === "cron.fired")!;
    const { scheduleId, due } = fired.data as { scheduleId: string; due: number };
    expect(fired.id).toBe(`cron-${scheduleId}-${due}`);
    const ledger = await house.harness.host.open(context);
    const note = { type: "note.added", actor: "lead", data: { origin: "cron", text: "again" } };
    await expect(
      ledger.append([note, { id: fired.id, type: fired.type, actor: "lead", data: fired.data }]),
    ).rejects.toThrow();
    expect(ofCron(await house.events(context))).toEqual(["note.added", "cron.fired"]);
  });
});
