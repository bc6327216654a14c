// Restores, undos, forks and imports at random, in the middle of everything: no slice speaks of what is no longer there.
import path from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openContexts } from "../../src/contexts/index.ts";
import { openLedger } from "../../src/ledger/ledger.ts";
import { contextState } from "../../src/loop/agent.ts";
import type { AgentState } from "../../src/loop/transcript.ts";
import type { ScriptRound } from "../../src/testing/model-server-script.ts";
import { type House, openHouse } from "../house.ts";

const LONG = process.env.HOLDFAST_LONG === "1";

const CALLS = [
  (n: number) => ({ name: "todo_write", input: { todos: [{ content: `step ${n}`, status: "pending" }] } }),
  (n: number) => ({ name: "write_file", input: { path: `f${n}.txt`, content: `${n}` } }),
  (n: number) => ({ name: "read_file", input: { path: `f${n % 3}.txt` } }),
  () => ({ name: "bash", input: { command: "sleep 30", run_in_background: true } }),
  (n: number) => ({ name: "schedule_cron", input: { when: "in 3 hours", prompt: `look ${n}` } }),
  (n: number) => ({ name: "task", input: { description: "d", prompt: `child ${n}` } }),
  (n: number) => ({ name: "spawn_teammate", input: { name: `mate${n}`, role: "r", prompt: "wait" } }),
  (n: number) => ({ name: "send_message", input: { to: "*", content: `m${n}` } }),
] as const;

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      op: fc.constant("prompt" as const),
      calls: fc.array(fc.nat(CALLS.length - 1), { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ op: fc.constant("restore" as const), at: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constantFrom("undo" as const, "fork" as const, "import" as const) }) },
);

/** What a conversation shows of a tool: the inputs of its calls that succeeded, in order. */
function shown(agent: AgentState, tool: string): Record<string, unknown>[] {
  const failed = new Set(agent.items.flatMap((item) => (item.kind === "result" && item.isError ? [item.callId] : [])));
  return agent.items.flatMap((item) =>
    item.kind === "reply"
      ? item.parts.flatMap((part) =>
          part.type === "call" && part.name === tool && !failed.has(part.id)
            ? [part.input as Record<string, unknown>]
            : [],
        )
      : [],
  );
}

// biome-ignore lint/suspicious/noExplicitAny: slices of every mechanism
type Slices = Record<string, any>;

/** Contract: throws when a slice says something that the conversation, or the world, does not. */
async function judge(house: House, context: string, isCopy: boolean): Promise<void> {
  const { codec, fold } = house.harness.host;
  const ledger = await house.harness.host.open(context);
  const fresh = await openLedger({ store: house.store, name: context, codec, fold, fromSnapshot: false });
  expect(ledger.state).toEqual(fresh.state);
  expect([ledger.problems, ledger.readOnly]).toEqual([[], undefined]);
  const slices = ledger.state.slices as Slices;
  const { agents } = contextState(ledger);
  for (const agent of Object.values(agents)) {
    const calls = agent.items.flatMap((item) =>
      item.kind === "reply" ? item.parts.filter((p) => p.type === "call") : [],
    );
    const results = agent.items.flatMap((item) => (item.kind === "result" ? [item.callId] : []));
    expect(results, `${agent.name}: each call one result`).toEqual(calls.map((call) => call.id));
    const mate = slices.team.mates[agent.name];
    const waits = mate?.status === "active" ? agent.queue.length : 0; // a teammate that nobody hosts has not begun
    expect([agent.pending, agent.queue.length, agent.turn]).toEqual([[], waits, undefined]);
    const written = shown(agent, "todo_write").at(-1) as { todos: { content: string }[] } | undefined;
    const todos = (slices.todo.lists[agent.name]?.todos ?? []) as { content: string }[];
    expect(todos.map((one) => one.content)).toEqual(written?.todos.map((one) => one.content) ?? []);
    const seen = Object.keys(slices.files[agent.name] ?? {}).map((file) => path.basename(file));
    const named = ["read_file", "write_file"].flatMap((tool) => shown(agent, tool).map((input) => input.path));
    expect(
      seen.filter((file) => !named.includes(file)),
      `${agent.name} knows only files it was shown`,
    ).toEqual([]);
  }
  expect(slices.approvals.requests).toEqual({});
  const lead = agents.lead!;
  const mates = Object.values(slices.team.mates as Record<string, { name: string; status: string }>);
  const spawned = shown(lead, "spawn_teammate").map((input) => input.name);
  const active = mates.filter((mate) => mate.status === "active").map((mate) => mate.name);
  expect(
    active.filter((name) => !spawned.includes(name)),
    "no mate whose spawning nobody remembers",
  ).toEqual([]);
  for (const name of active) expect(agents[name]).toBeDefined();
  for (const [name, one] of Object.entries(slices.subagents.agents as Record<string, { ended?: boolean }>))
    expect([name, one.ended]).toEqual([name, true]);
  if (isCopy) expect([slices.jobs, slices.cron, active, slices.approvals.remembered]).toEqual([{}, {}, [], []]);
}

test("restores, undos, forks and imports at random leave no slice that speaks of what is no longer there", {
  timeout: 300_000,
}, async () => {
  const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 10 }), async (steps) => {
    const plan: ScriptRound[] = [];
    const house = await openHouse(() => plan.shift() ?? { text: "ok" }, { team: { offer: true } });
    try {
      const contexts = await openContexts({ store: house.store });
      let n = 0;
      let context: string | undefined;
      /** What was begun in the timeline that is looked at: a copy begins with nothing of the world. */
      let isCopy = false;
      const prompt = async (calls: readonly number[]) => {
        for (const call of calls) plan.push({ calls: [CALLS[call]!(++n)] }, ...(call === 5 ? [{ text: "child" }] : []));
        plan.push({ text: "done" });
        const run = await house.harness.run(`prompt ${++n}`, context === undefined ? {} : { context });
        context = run.context;
        await run.result;
        await run.taken.release();
        plan.length = 0;
        if (calls.some((call) => call === 3 || call === 4 || call === 6)) isCopy = false;
      };
      await prompt([]);
      for (const one of steps) {
        const opened = await contexts.get(context!);
        if (one.op === "prompt") await prompt(one.calls);
        else if (one.op === "restore") {
          const points = await opened.checkpoints();
          await opened.restore(points[one.at % points.length]!.seq, { conversation: true });
        } else if (one.op === "undo") await opened.undo().catch(() => undefined);
        else {
          const file = path.join(house.state, `${++n}.hfctx`);
          if (one.op === "import") await contexts.export(context!, file);
          context = one.op === "fork" ? (await opened.fork()).id : (await contexts.import(file)).id;
          isCopy = true;
        }
        await judge(house, context!, isCopy);
      }
    } finally {
      await house.close();
    }
  });
  // Half of the time is waiting for hooks and commands: two houses at a time.
  const runs = (seed: number) => fc.assert(property, { numRuns: LONG ? 75 : 5, seed });
  await Promise.all([runs(20261116), runs(20261117)]);
});
