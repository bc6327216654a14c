import { afterEach, expect, test } from "vitest";
import type { StoredEvent } from "../../src/ledger/store.ts";
import { defineMechanism } from "../../src/loop/seams.ts";
import { type House, openHouse, toolOf } from "../house.ts";

let house: House;
afterEach(() => house.close());

type Changed = { system?: { hash: string; blocks: string[] }; tools?: { hash: string; specs: string } };
type Sent = { messages: { role: string; content: unknown }[]; tools: { function: { name: string } }[] };

const changes = (events: StoredEvent[]) =>
  events.filter(({ type }) => type === "request.changed").map(({ data }) => data as Changed);
/** What each request carried, as the server saw it: its system text and the names of its tools. */
const requests = () =>
  house.server.log().requests.map(({ body }) => {
    const { messages, tools } = body as unknown as Sent;
    return {
      system: messages.filter(({ role }) => role === "system").map(({ content }) => content),
      tools: tools.map((tool) => tool.function.name),
    };
  });

test("what requests carry besides the conversation is recorded once, again where it changes, and each request can be built from it", async () => {
  let rule = "Use tabs.";
  let tools = [toolOf("look", "read", async () => ({ content: "seen" }))];
  const rules = defineMechanism({ name: "rules", tools: () => tools, seams: { system: () => rule } });
  house = await openHouse(
    [{ calls: [{ name: "look", input: {} }] }, { text: "one" }, { text: "two" }, { text: "three" }],
    { mechanisms: [rules] },
  );
  const run = await house.harness.run("first");
  await run.result;
  await run.taken.release();
  const second = await house.harness.run("again", { context: run.context });
  await second.result;
  await second.taken.release();
  expect(changes(await house.events(run.context)).length).toBe(1);

  rule = "Use spaces.";
  tools = [...tools, toolOf("act", "external", async () => ({ content: "done" }))];
  const other = await house.again({ mechanisms: [rules] });
  const last = await other.run("now", { context: run.context });
  await last.result;
  await other.close();

  const all = changes(await house.events(run.context));
  expect(all.length).toBe(2);
  const built = all.map(({ system, tools: offered }) => ({
    system: [system!.blocks.join("\n\n")],
    tools: (JSON.parse(offered!.specs) as { name: string }[]).map(({ name }) => name),
  }));
  expect(requests()).toEqual([built[0], built[0], built[0], built[1]]);
  expect([built[0]!.system[0]!.includes("Use tabs."), built[1]!.system[0]!.includes("Use spaces.")]).toEqual([
    true,
    true,
  ]);
});

test("a system prompt that alone has changed is recorded alone", async () => {
  let rule = "Use tabs.";
  const rules = defineMechanism({ name: "rules", seams: { system: () => rule } });
  house = await openHouse([{ text: "one" }, { text: "two" }], { mechanisms: [rules] });
  const run = await house.harness.run("first");
  await run.result;
  rule = "Use spaces.";
  await run.taken.release();
  await (await house.harness.run("again", { context: run.context })).result;
  const all = changes(await house.events(run.context));
  expect(all.map((one) => Object.keys(one))).toEqual([["system", "tools", "settings"], ["system"]]);
});
