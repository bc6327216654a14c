// Forks from any event, as a program makes them: nothing is open in them but the lead's turn, and that one asks first what was asked there.
import { afterEach, expect, test } from "vitest";
import { openContexts } from "../../src/contexts/index.ts";
import { contextReaders } from "../../src/front/monitor/readers.ts";
import { createBoardPast } from "../../src/front/past/board.ts";
import { readContextAt } from "../../src/front/past/context-past.ts";
import { openLedger } from "../../src/ledger/ledger.ts";
import type { StoredEvent } from "../../src/ledger/store.ts";
import { contextState } from "../../src/loop/agent.ts";
import { makeLongContext } from "../front/monitor/long-context.ts";
import { openWorld } from "../front/monitor/monitor.ts";
import { type House, openHouse } from "../house.ts";

let house: House | undefined;
afterEach(() => house?.close());

const replies = (events: readonly StoredEvent[]) =>
  events.filter(({ type, actor }) => type === "reply.received" && actor === "lead");

test("a lead with a team is asked the same in a fork, which has nobody: its next request says so", async () => {
  const spawn = { name: "spawn_teammate", input: { name: "alice", role: "reviewer", prompt: "wait" } };
  const look = { calls: [{ name: "list_jobs", input: {} }] };
  house = await openHouse([{ calls: [spawn] }, look, { text: "done" }], { team: { offer: true } });
  const { harness, server, store, events } = house;
  const run = await harness.run("build a team");
  await run.result;
  await run.taken.release();
  const sent = server.log().requests.map(({ sha256 }) => sha256);
  const context = await (await openContexts({ store })).get(run.context);
  const [, second] = replies(await events(run.context));
  const fork = await context.fork(second!.seq);
  const again = await harness.run(undefined, { context: fork.id });
  expect((await again.result).text).toBe("done");
  await again.taken.release();
  const all = server.log().requests;
  expect(all[sent.length]!.sha256).toBe(sent[1]);
  const systemOf = (at: number) => JSON.stringify((all[at]!.body as { messages: unknown[] }).messages[0]);
  expect([systemOf(sent.length).includes("alice"), systemOf(sent.length + 1).includes("alice")]).toEqual([true, false]);
});

test("whoever speaks to a fork in the middle of a turn is heard at once", async () => {
  const look = { calls: [{ name: "list_jobs", input: {} }] };
  house = await openHouse([look, look, { text: "done" }]);
  const { harness, server, store, events } = house;
  const run = await harness.run("first");
  await run.result;
  await run.taken.release();
  const context = await (await openContexts({ store })).get(run.context);
  const fork = await context.fork(replies(await events(run.context))[1]!.seq);
  const before = server.log().requests.length;
  const again = await harness.run("and this", { context: fork.id });
  await again.result;
  await again.taken.release();
  const { messages } = server.log().requests[before]!.body as { messages: { role: string; content: unknown }[] };
  expect(JSON.stringify(messages.at(-1))).toContain("and this");
});

test("forks at random events fold without an open call, with an open turn of the lead or none, as was said before", async () => {
  const { store, root } = await openWorld();
  const { readers } = contextReaders();
  const id = await makeLongContext(store, { root, events: 700 });
  const contexts = await openContexts({ store });
  const context = await contexts.get(id);
  const checkpoint = (await context.checkpoints()).find(({ seq }) => seq > 150)!;
  await context.restore(checkpoint.seq, { conversation: true });
  const head = await store.head(id);
  const seqs = [head, head - 1, checkpoint.seq, ...Array.from({ length: 30 }, (_, i) => 6 + ((i * 131) % (head - 6)))];
  for (const seq of seqs) {
    const said = await readContextAt({ store, id, codec: readers.codec, fold: readers.past }, seq);
    const fork = await context.fork(seq);
    const { forkOf } = await fork.details();
    const ledger = await openLedger({ store, name: fork.id, ...readers });
    const agents = Object.values(contextState(ledger).agents);
    const { request } = said.fork;
    const [info] = await contexts.list();
    expect({
      ...{ seq, at: forkOf?.seq, goesOn: forkOf?.goesOn ?? false, status: info!.status, problems: ledger.problems },
      open: agents.filter(({ turn }) => turn).map(({ name }) => name),
      pending: agents.flatMap(({ pending, queue }) => [...pending, ...queue]),
    }).toEqual({
      ...{ seq, at: said.fork.seq, goesOn: request !== undefined, status: request ? "interrupted" : "idle" },
      ...{ problems: [], open: request ? ["lead"] : [], pending: [] },
    });
    if (request) expect([seq, contextState(ledger).agents.lead?.rounds]).toEqual([seq, request.n - 1]);
  }
  expect(await createBoardPast(store).at(Date.now())).toEqual([]);
});
