import { afterEach, expect, test } from "vitest";
import { roundsAsked } from "../../src/front/requests/breaks.ts";
import type { StoredEvent } from "../../src/ledger/store.ts";
import { defineMechanism } from "../../src/loop/seams.ts";
import { acrossTimelines } from "../../src/loop/timelines.ts";
import { cacheBreaksIn, type PromptCacheState, promptCache } from "../../src/mechanisms/prompt-cache/index.ts";
import { openModel } from "../../src/models/open-model.ts";
import { KEYS } from "../environment.ts";
import { type House, openHouse, toolOf } from "../house.ts";

let house: House | undefined;
afterEach(() => house?.close());

test("what breaks the prefix is counted by its cause, in each process, and the requests themselves say the same", async () => {
  let rule = "Use tabs.";
  let tools = [toolOf("look", "read", async () => ({ content: "x".repeat(6_000) }))];
  const rules = defineMechanism({ name: "rules", tools: () => tools, seams: { system: () => rule } });
  const calls = [{ name: "look", input: {} }];
  const tooLong = { status: 400, message: "prompt is too long: 250000 tokens > 200000 maximum" };
  const cached = { usage: { input: 1, cacheRead: 900, cacheWrite: 100 } };
  house = await openHouse(
    [
      { calls, usage: { cacheWrite: 900 } },
      { calls, ...cached },
      { calls, ...cached, faults: [tooLong] },
      { text: "one", ...cached },
      { text: "two", ...cached },
      { text: "three", ...cached },
      { text: "four", ...cached },
      { text: "five", usage: { input: 1_000, cacheRead: 0, cacheWrite: 0 } },
    ],
    { mechanisms: [rules], api: "anthropic" },
  );
  const first = await house.harness.run("first");
  const one = await first.result;
  await first.taken.release();
  const context = first.context;
  const env = { ANTHROPIC_BASE_URL: house.server.anthropicUrl, ...KEYS };
  const other = await openModel("anthropic/other", { env });
  const goOn = async (model?: typeof other) => {
    const harness = await house!.again({ mechanisms: [rules], ...(model && { model }) });
    const { turnCacheBreaks, cacheBreaks } = await (await harness.run("more", { context })).result;
    await harness.close();
    return { turnCacheBreaks, cacheBreaks };
  };
  expect(one.cacheBreaks).toEqual({ requests: 1, byCause: { overflow: 1, tools: 1 } });
  expect((await goOn()).turnCacheBreaks).toEqual({ requests: 0, byCause: {} });
  rule = "Use spaces.";
  tools = [...tools, toolOf("act", "external", async () => ({ content: "done" }))];
  expect((await goOn()).turnCacheBreaks).toEqual({ requests: 1, byCause: { system: 1, tools: 1 } });
  expect((await goOn(other)).turnCacheBreaks).toEqual({ requests: 1, byCause: { model: 1 } });
  const { turnCacheBreaks, cacheBreaks } = await goOn(other);
  expect(turnCacheBreaks).toEqual({ requests: 1, byCause: { expired: 1 } });
  expect(cacheBreaks).toEqual({ requests: 4, byCause: { overflow: 1, system: 1, tools: 2, model: 1, expired: 1 } });

  const asked: string[][] = [];
  const { store, harness } = house;
  for await (const { causes } of roundsAsked({ store, codec: harness.host.codec, context, agent: "lead" }))
    asked.push(causes);
  expect(asked).toEqual([[], [], ["overflow", "tools"], [], [], ["system", "tools"], ["model"], ["expired"]]);
});

/** The counter after these facts of one agent, from the oldest on. */
function counted(...facts: [type: string, data?: object][]) {
  const slice = acrossTimelines(promptCache().fold!);
  const state = facts.reduce<PromptCacheState>((before, [type, data = {}], i) => {
    const event: StoredEvent = { seq: i + 1, id: `e${i}`, at: 0, type, v: 1, actor: "lead", touches: [], data };
    return slice.apply(before, event);
  }, slice.initial());
  return cacheBreaksIn(state);
}

const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };
const reply: [string, object] = ["reply.received", { model: "a/b", parts: [], finish: "stop", usage }];
const restored = (seq: number): [string, object] => ["context.restored", { seq, conversation: true }];
const NONE = { requests: 0, byCause: {} };

test("an epoch that is taken back before it was sent, and a prompt that changes back, break nothing", () => {
  const epoch: [string, object] = ["context.compacted", { cause: "window" }];
  const system = (hash: string): [string, object] => ["request.changed", { system: { hash, blocks: [] } }];
  expect(counted(reply, epoch, ["context.uncompacted"], reply)).toEqual(NONE);
  expect(counted(system("a"), reply, system("b"), system("a"), reply)).toEqual(NONE);
  expect(counted(reply, epoch, reply, ["context.uncompacted"], reply)).toEqual({
    requests: 2,
    byCause: { epoch: 1, undo: 1 },
  });
});

test("a restore breaks the prefix where replies were left, and not once it is undone", () => {
  const mark: [string] = ["context.checkpointed"];
  expect(counted(reply, mark, restored(2), reply)).toEqual(NONE);
  expect(counted(reply, mark, reply, restored(2), reply)).toEqual({ requests: 1, byCause: { restore: 1 } });
  expect(counted(reply, mark, reply, restored(2), restored(3), reply)).toEqual(NONE);
});
