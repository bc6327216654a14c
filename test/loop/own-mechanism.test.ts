// A mechanism that can wake an agent, added from outside: its own code and one entry in a list; nothing else knows it.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import * as z from "zod";
import { contextState } from "../../src/loop/agent.ts";
import { type AgentView, defineMechanism, type Turn } from "../../src/loop/seams.ts";
import type { MechanismSlice } from "../../src/loop/timelines.ts";
import { openHouse } from "../house.ts";

interface Hooked {
  /** Deliveries that nobody has been told of. */
  waiting: string[];
  expected: number;
}

const slice: MechanismSlice<Hooked> = {
  version: 1,
  types: ["webhook.expected", "webhook.arrived", "webhook.told"],
  timelines: { restored: (state) => state, copied: () => ({ waiting: [], expected: 0 }) },
  initial: () => ({ waiting: [], expected: 0 }),
  apply(state, { type, data }) {
    const { body } = data as { body: string };
    if (type === "webhook.expected") return { ...state, expected: state.expected + 1 };
    if (type === "webhook.arrived") return { waiting: [...state.waiting, body], expected: state.expected - 1 };
    return { ...state, waiting: [] };
  },
};

const waiting = (agent: Pick<AgentView, "agent" | "slice">) =>
  agent.agent === "lead" ? agent.slice<Hooked>("webhook") : { waiting: [], expected: 0 };

const webhook = () =>
  defineMechanism({
    name: "webhook",
    events: {
      "webhook.expected": { v: 1, schema: () => z.object({}) },
      "webhook.arrived": { v: 1, schema: () => z.object({ body: z.string() }) },
      "webhook.told": { v: 1, schema: () => z.object({}) },
    },
    fold: slice,
    outstanding(agent) {
      const { expected, waiting: undelivered } = waiting(agent);
      const count = expected + undelivered.length;
      return count > 0 ? [{ what: "webhook", count, keepsProcess: true, hosts: "woken turns" }] : [];
    },
    wants: (agent) => waiting(agent).waiting.length > 0,
    wake: (turn: Turn, signal) => turn.until(() => waiting(turn).waiting.length > 0, signal),
    seams: {
      intake: (turn) =>
        waiting(turn).waiting.map((body) => ({
          origin: "webhook",
          text: body,
          events: [{ type: "webhook.told", data: {} }],
        })),
    },
  });

test("a mechanism of one's own keeps a process, is hosted and wakes an idle agent; programs without it go on", async () => {
  const house = await openHouse([{ text: "I wait for the hook." }, { text: "heard" }, { text: "without it" }], {
    mechanisms: [webhook()],
  });
  try {
    const run = await house.harness.run("begin");
    await run.result;
    const wake = [{ context: run.context, agent: "lead", by: "webhook", dueAt: 0 }];
    await run.taken.agent.turn.append([{ type: "webhook.expected", data: {} }], { wake });
    expect(house.harness.host.outstanding(run.taken.ledger, "lead")).toEqual([
      { what: "webhook", count: 1, keepsProcess: true, hosts: "woken turns" },
    ]);
    await run.taken.release();

    // A host of everything, as `holdfast worker` is one; the delivery comes from another process.
    const other = await house.again();
    const over = new AbortController();
    const running = (await other.hosting()).run(over.signal);
    const { ledger, leave } = await house.harness.host.follow(run.context);
    await ledger.append([{ type: "webhook.arrived", actor: "lead", data: { body: "build 7 is green" } }]);
    const rounds = async () => {
      await ledger.catchUp();
      const { rounds: done, turn } = contextState(ledger).agents.lead!;
      return turn ? 0 : done;
    };
    for (let i = 0; i < 400 && (await rounds()) < 2; i++) await sleep(25);
    over.abort();
    await running;
    leave();
    await other.close();
    expect(JSON.stringify(house.server.log().requests[1]!.body)).toContain("build 7 is green");

    const without = await house.again({ mechanisms: [] });
    const again = await without.run("and now?", { context: run.context });
    expect((await again.result).text).toBe("without it");
    await again.taken.release();
    await without.close();
  } finally {
    await house.close();
  }
});
