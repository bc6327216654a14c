// What a context used, as the monitor tells it: sums that agree with each other, what a copy did not pay for, how much the model takes; and its requests.
import { expect, onTestFinished, test } from "vitest";
import { listContexts } from "../../../src/contexts/listing.ts";
import { openContexts } from "../../../src/contexts/open.ts";
import type {
  ContextPage,
  Costs,
  RequestRow,
  RequestView,
  UsageSeries,
} from "../../../src/front/monitor/context-api.ts";
import { createRoundTimes } from "../../../src/front/monitor/round-times.ts";
import { newId } from "../../../src/ledger/id.ts";
import type { EventInput, Store, StoredEvent } from "../../../src/ledger/store.ts";
import { openHouse } from "../../house.ts";
import { makeLongContext } from "./long-context.ts";
import { openMonitor, openWorld, type TestMonitor } from "./monitor.ts";

const MODEL = "anthropic/claude-sonnet-5-5";
const used = (input: number, cacheRead = 0) => ({ input, output: 10, cacheRead, cacheWrite: 0 });

const reply = (actor: string, usage: ReturnType<typeof used>, model = MODEL): EventInput => ({
  type: "reply.received",
  actor,
  data: { model, finish: "stop", usage, parts: [{ type: "text", text: "はい" }] },
});
const turn = (actor: string, turnId: string): EventInput => ({
  type: "turn.started",
  actor,
  data: { turnId, cause: "input" },
});

async function withEvents(events: EventInput[]): Promise<{ store: Store; context: string; monitor: TestMonitor }> {
  const { store, root } = await openWorld();
  const context = newId("ctx");
  const begins: EventInput[] = [
    { type: "context.created", actor: "user", data: { root, title: "費用", version: "0.1.0" } },
    ...["lead", "花子"].map((name) => ({
      ...{ type: "agent.created", actor: name, touches: [`agent:${name}`], data: { name, cwd: root } },
    })),
  ];
  await store.append([
    { ledger: context, events: [...begins, ...events], summary: { title: "費用", root, open: false } },
  ]);
  return { store, context, monitor: await openMonitor(store, { root }) };
}

const at = (context: string, what: string) => `/api/p/p/c/${context}/${what}`;

test("sums of usage, the tree of costs and what was asked beside the conversation agree", async () => {
  const aside: EventInput = {
    ...{ type: "reply.aside", actor: "lead" },
    data: { model: MODEL, usage: used(1_000), for: "goal" },
  };
  const { context, monitor } = await withEvents([
    turn("lead", "t1"),
    reply("lead", used(1_000)),
    turn("花子", "t2"),
    reply("花子", used(2_000, 500)),
    aside,
    reply("lead", used(3_000), "somebody/unpriced"),
  ]);
  const usage = await monitor.json<UsageSeries>(at(context, "usage"));
  expect(usage).toMatchObject({
    ...{ seq: [5, 7, 9], by: [0, 1, 0], agents: ["lead", "花子"], events: [5, 7, 9] },
    ...{ tokensIn: [1_000, 4_000, 7_000], tokensOut: [10, 30, 40], cached: [0, 500, 500] },
    ...{ window: [1_000, 2_500, 3_000], dataBytes: [0, 0, 0] },
  });
  expect(usage.windowMax).toBeUndefined(); // nobody knows what that model takes
  const { tree, unpriced, copied } = await monitor.json<Costs>(at(context, "costs"));
  expect([unpriced, copied]).toEqual([1, undefined]);
  expect(tree.usd).toBeCloseTo(usage.usd.at(-1)!);
  expect(tree.tokens).toEqual({ input: 7_000, output: 40, cacheRead: 500, cacheWrite: 0 });
  const names = tree.children.map(({ name, children }) => [
    name,
    ...children.map((one) => one.children.map((r) => r.name)),
  ]);
  expect(names).toEqual([
    ["lead", ["r1", "goal", "r2"]],
    ["花子", ["r1"]],
  ]);
  const rows = await monitor.json<RequestRow[]>(at(context, "requests?agent=lead"));
  expect(rows.map(({ n, seq, usd }) => [n, seq, usd === undefined])).toEqual([
    [1, 5, false],
    [2, 9, true],
  ]);
});

test("a model took from what its agent did last to the answer; what others did, and a retry, does not count", () => {
  const times = createRoundTimes();
  const event = (type: string, actor: string, at: number) => ({ type, actor, at }) as StoredEvent;
  times.observe(event("tool.finished", "lead", 100));
  times.observe(event("tool.finished", "花子", 180));
  times.observe(event("model.retried", "lead", 190));
  expect(times.of(event("reply.received", "lead", 250), undefined)).toEqual({ from: 100, to: 250 });
  // Its calls were asked for, and it was recorded later.
  expect(times.of(event("reply.received", "lead", 250), 240)).toEqual({ from: 100, to: 240 });
  expect(times.of(event("reply.received", "bob", 250), undefined)).toEqual({ from: 250, to: 250 });
});

test("what the model takes is what the catalogue knows, or less where the model refused that", async () => {
  const { store, context, monitor } = await withEvents([turn("lead", "t1"), reply("lead", used(1_000))]);
  expect((await monitor.json<UsageSeries>(at(context, "usage"))).windowMax).toBe(1_000_000);
  const compacted: EventInput = {
    ...{ type: "context.compacted", actor: "lead" },
    data: { cause: "overflow", model: MODEL, masks: [], snips: [], tokens: { before: 300_000, after: 9_000 } },
  };
  await store.append([{ ledger: context, events: [compacted] }]);
  const usage = await monitor.json<UsageSeries>(at(context, "usage"));
  expect(usage.windowMax).toBe(300_000);
});

test("a fork does not pay for what it is a copy of, and still shows those requests", async () => {
  const checkpoint: EventInput = {
    ...{ type: "context.checkpointed", actor: "lead", touches: ["checkpoint:here"] },
    data: { name: "here", auto: false },
  };
  const { store, context, monitor } = await withEvents([turn("lead", "t1"), reply("lead", used(1_000)), checkpoint]);
  const forked = await (await (await openContexts({ store })).get(context)).fork("here");
  const first = await monitor.json<Costs>(at(forked.id, "costs"));
  expect(first.tree.children).toEqual([]);
  expect(first.copied).toMatchObject({ tokens: used(1_000) });
  await store.append([{ ledger: forked.id, events: [turn("lead", "t2"), reply("lead", used(400))] }]);
  const costs = await monitor.json<Costs>(at(forked.id, "costs"));
  expect([costs.tree.tokens, costs.copied?.tokens]).toEqual([used(400), used(1_000)]);
  expect((await monitor.json<UsageSeries>(at(forked.id, "usage"))).tokensIn).toEqual([400]);
  const rows = await monitor.json<RequestRow[]>(at(forked.id, "requests?agent=lead"));
  expect(rows.map(({ n, tokens }) => [n, tokens.input])).toEqual([
    [1, 1_000],
    [2, 400],
  ]);
  const original = await monitor.json<Costs>(at(context, "costs"));
  expect([original.tree.tokens, original.copied]).toEqual([used(1_000), undefined]);
});

test("requests are listed in pages, and each is the body that the model was sent, from what is kept as from the beginning", async () => {
  const rounds = Array.from({ length: 45 }, (_, i) => ({ text: `返事 ${i}` }));
  const house = await openHouse(rounds, { api: "anthropic" });
  onTestFinished(() => house.close());
  let context: string | undefined;
  for (let i = 0; i < rounds.length; i++) {
    const run = await house.harness.run(`step ${i}`, context === undefined ? {} : { context });
    context = run.context;
    await run.result;
    await run.taken.release();
  }
  const monitor = await openMonitor(house.store, { root: house.root });
  const page = await monitor.json<RequestRow[]>(at(context!, "requests?agent=lead&upTo=30&count=3"));
  expect(page.map(({ n }) => n)).toEqual([28, 29, 30]);
  const sent = house.server.log().requests.map(({ sha256 }) => sha256);
  // Around one, back, and far away again.
  for (const n of [40, 39, 45, 20, 1, 2, 45]) {
    const answer = await monitor.get(at(context!, `requests/lead/${n}/body`));
    const sum = await crypto.subtle.digest("SHA-256", await answer.arrayBuffer());
    expect([n, Buffer.from(sum).toString("hex")]).toEqual([n, sent[n - 1]]);
  }
  const { doubt, differs } = await monitor.json<RequestView>(at(context!, "requests/lead/20"));
  expect([doubt, differs[0]]).toEqual([undefined, expect.stringContaining("from the request of r19 to that of r20")]);
  expect((await monitor.get(at(context!, "requests/lead/47"))).status).toBe(404);
  expect((await monitor.get(at(context!, "requests/lead/x"))).status).toBe(404);
  expect((await monitor.json<RequestView>(at(context!, "requests/lead/46"))).differs[0]).toContain("not asked yet");
});

test("requests late in a long context are answered, and their neighbours from what is kept", async () => {
  const { store, root } = await openWorld();
  const context = await makeLongContext(store, { root, events: 5_000 });
  const monitor = await openMonitor(store, { root });
  const rows = await monitor.json<RequestRow[]>(at(context, "requests?agent=alice&count=1"));
  const last = rows[0]!.n;
  const took: [number, number][] = [];
  for (const n of [last, last - 1, last - 2]) {
    const began = performance.now();
    expect((await monitor.json<RequestView>(at(context, `requests/alice/${n}`))).n).toBe(n);
    took.push([n, Math.round(performance.now() - began)]);
  }
  console.log(`requests of 5,000 events, ms each: ${JSON.stringify(took)}`);
});

test("the size in Usage is that of the head, also after the last round; rounds are those of `contexts ls`", async () => {
  const { store, root } = await openWorld();
  const context = await makeLongContext(store, { root, events: 200 });
  const note = { type: "note.added", actor: "lead", data: { origin: "holdfast", text: "later" } };
  await store.append([{ ledger: context, events: [note] }]);
  const monitor = await openMonitor(store, { root });
  const { events } = await monitor.json<UsageSeries>(at(context, "usage"));
  const { row, head } = await monitor.json<ContextPage>(`/api/p/p/c/${context}`);
  const [listed] = await listContexts(store);
  expect([events.at(-1), head, row.events, row.rounds]).toEqual([201, 201, 201, listed?.rounds]);
});
