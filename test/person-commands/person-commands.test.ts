// What a person ran beside the conversation: told once, with their next words, by whoever takes those in.
import { afterEach, expect, it } from "vitest";
import { openContexts } from "../../src/contexts/index.ts";
import { type House, openHouse } from "../house.ts";

let house: House;
afterEach(() => house.close());

const RAN = { command: "npm test", output: "2 failed", code: 1 };
const NOTE = "$ npm test\\n2 failed\\n[exit code 1]";

/** In how many messages of a person each request says it. */
const told = (): number[] =>
  house.server
    .log()
    .requests.map(({ body }) => JSON.stringify((body as { messages: unknown }).messages).split(NOTE).length - 1);

async function say(words: string, context?: string): Promise<string> {
  const run = await house.harness.run(words, context === undefined ? {} : { context });
  await run.result;
  await run.taken.release();
  return run.context;
}

const ran = async (context: string): Promise<void> => {
  const ledger = await house.harness.host.open(context);
  await ledger.append([{ type: "command.ran", actor: "user", data: RAN }]);
};

it("goes with the next words, once, also when another process takes them in", async () => {
  house = await openHouse(() => ({ text: "ok" }));
  const context = await say("first");
  await ran(context);
  house.harness = await house.again();
  await say("fix it", context);
  await say("thanks", context);
  expect(told()).toEqual([0, 1, 1]);
});

it("waits again when the words that it went with are taken back", async () => {
  house = await openHouse(() => ({ text: "ok" }));
  const context = await say("first");
  await ran(context);
  await say("fix it", context);
  const one = await (await openContexts({ store: house.store })).get(context, { author: "user" });
  const [, second] = await one.checkpoints();
  await one.restore(second!.name, { files: false, data: false });
  house.harness = await house.again();
  await say("fix it otherwise", context);
  expect(told()).toEqual([0, 1, 1]);
});
