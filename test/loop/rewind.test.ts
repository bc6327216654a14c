// Going back in a conversation, through the whole house: what the model sees next is what was there at the checkpoint.
import { afterEach, expect, test } from "vitest";
import { openContexts } from "../../src/contexts/index.ts";
import { type House, openHouse } from "../house.ts";

let house: House;
afterEach(() => house?.close());

const seen = (at: number) =>
  (house.server.log().requests[at]!.body as { messages: { role: string; content: unknown }[] }).messages
    .filter((m) => m.role === "user")
    .map((m) => (typeof m.content === "string" ? m.content : JSON.stringify(m.content)));

test("a restore takes the conversation back to the checkpoint; undoing it brings everything back", async () => {
  house = await openHouse(Array.from({ length: 4 }, (_, i) => ({ text: `answer ${i}` })));
  const contexts = await openContexts({ store: house.store });
  const first = await house.harness.run("first");
  await first.result;
  await first.taken.release();
  const context = await contexts.get(first.context);
  await context.checkpoint("after first");
  const turn = async (text: string) => {
    const run = await house.harness.run(text, { context: first.context });
    await run.result;
    await run.taken.release();
  };
  await turn("second");
  await context.restore("after first", { conversation: true });
  await turn("another second");
  expect(seen(2)).toEqual(["first", "another second"]);
  await context.restore("after first", { conversation: true });
  await context.undo();
  await turn("fourth");
  expect(seen(3)).toEqual(["first", "another second", "fourth"]);
  const [, second] = (await context.checkpoints()).filter((one) => one.name === "prompt 2");
  expect(second).toBeDefined();
  await context.restore("after first", { conversation: true });
  await turn("fifth");
  await context.restore(second!.seq, { conversation: true });
  await turn("sixth");
  expect(seen(5)).toEqual(["first", "sixth"]);
  const forked = await context.fork("after first");
  const run = await house.harness.run("in the fork", { context: forked.id });
  await run.result;
  await run.taken.release();
  expect(seen(6)).toEqual(["first", "in the fork"]);
});
