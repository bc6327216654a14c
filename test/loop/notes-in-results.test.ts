import { afterEach, expect, test } from "vitest";
import { areUnsent } from "../../src/loop/model-calls.ts";
import { defineMechanism } from "../../src/loop/seams.ts";
import { type House, openHouse, toolOf } from "../house.ts";

let house: House;
afterEach(() => house.close());

type Block = { type: string; text?: string; content?: string | Block[] };
/** What stands in the last message: texts inside a result as a list. */
const lastOf = (body: { messages: { content: Block[] }[] }) =>
  body.messages
    .at(-1)!
    .content.map(({ text, content }) => (Array.isArray(content) ? content.map((one) => one.text) : (content ?? text)));

test("what the runtime says behind new results stands inside them; behind results that a request has shown already it stands alone", async () => {
  let n = 0;
  const talks = defineMechanism({
    name: "talks",
    seams: { intake: () => [{ origin: "holdfast", text: `note ${++n}` }] },
  });
  const look = toolOf("look", "read", async () => ({ content: "seen" }));
  const calling = { reasoning: { text: "hm", signature: "signed" }, calls: [{ name: "look", input: {} }] };
  house = await openHouse([calling, calling, { text: "done", faults: [{ status: 400, message: "no" }] }], {
    mechanisms: [talks],
    tools: [look],
    api: "anthropic",
  });
  const run = await house.harness.run("go");
  expect((await run.result).reason).toBe("failed");
  await run.taken.release();
  const again = await house.again();
  expect((await (await again.run(undefined, { context: run.context })).result).text).toBe("done");
  await again.close();
  const said = (words: string) => `<note from="holdfast">\n${words}\n</note>`;
  expect(house.server.log().requests.map(({ body }) => lastOf(body))).toEqual([
    ["go", said("note 1")],
    [["seen", said("note 2")]],
    [["seen", said("note 3")]],
    [["seen", said("note 3")], said("note 4")],
  ]);
  expect(house.server.log().invalid).toEqual([]);
});

test("results are new as long as this process, which got the reply that asked for them, has not asked since", () => {
  const items = [{ kind: "reply" as const, model: "a/b", parts: [], n: 2 }];
  const calls = (asked: number | undefined, received: number | undefined) => ({ ms: 0, aborted: 0, asked, received });
  const cases = [calls(1, 2), calls(2, 2), calls(undefined, undefined), calls(2, undefined)];
  expect(cases.map((one) => areUnsent(one, items))).toEqual([true, false, false, false]);
});
