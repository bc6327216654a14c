import { afterEach, expect, test } from "vitest";
import { blobHash } from "../../src/ledger/checksum.ts";
import { type RecordedRequest, recordedRequests } from "../../src/loop/recorded-request.ts";
import { defineMechanism } from "../../src/loop/seams.ts";
import { compactionViewer } from "../../src/mechanisms/compaction/viewer.ts";
import { openModel } from "../../src/models/open-model.ts";
import { recordedBody } from "../../src/models/recorded-body.ts";
import { KEYS } from "../environment.ts";
import { type House, openHouse, toolOf } from "../house.ts";

let house: House;
afterEach(() => house.close());

async function all(context: string, agent = "lead"): Promise<RecordedRequest[]> {
  const found: RecordedRequest[] = [];
  const source = { store: house.store, codec: house.harness.host.codec, viewers: [compactionViewer] };
  for await (const { request } of recordedRequests(source, context, { agent })) found.push(request);
  return found;
}

const bodies = async (requests: RecordedRequest[]) =>
  Promise.all(
    requests
      .filter(({ reply }) => reply)
      .map(async ({ model, wire, request }) => blobHash(await recordedBody(model!, wire!, request))),
  );

const received = () => house.server.log().requests.map(({ sha256 }) => sha256);

test.each(["anthropic", "openai"] as const)(
  "every request on the wire %s is made again, byte for byte",
  async (api) => {
    let rule = "Use tabs.";
    const look = toolOf("look", "read", async () => ({ content: "x".repeat(9_000) }));
    const rules = defineMechanism({ name: "rules", tools: () => [look], seams: { system: () => rule } });
    const calls = [{ name: "look", input: { at: "ü" } }];
    house = await openHouse(
      [
        { calls },
        { reasoning: { text: "hm", signature: "s1" }, calls },
        { text: "one" },
        { text: "two" },
        { text: "" },
        { text: "three" },
      ],
      { mechanisms: [rules], api },
    );
    const run = await house.harness.run("first");
    await run.result;
    await run.taken.release();
    rule = "Use spaces.";
    const other = await house.again({ mechanisms: [rules] });
    const second = await other.run("again", { context: run.context });
    await second.result;
    await other.close();
    const requests = await all(run.context);
    const replies = (await house.events(run.context)).filter(({ type }) => type === "reply.received");
    expect(replies.map(({ data }) => Object.hasOwn(data as object, "sentAs"))).toEqual([true, false, false, false]);
    expect(await bodies(requests)).toEqual(received());
    expect(requests.map(({ doubt }) => doubt)).toEqual(requests.map(() => undefined));
  },
);

test("reasoning that a provider could not open is not sent again by the next process, and the requests are made again without it", async () => {
  const message = "The encrypted content gAAA could not be verified. Reason: it could not be decrypted or parsed.";
  const look = toolOf("look", "read", async () => ({ content: "seen" }));
  const think = (signature: string) => ({ reasoning: { text: "", signature } });
  const calls = [{ name: "look", input: {} }];
  house = await openHouse(
    [
      { ...think("gAAA"), calls },
      { ...think("gBBB"), calls, faults: [{ status: 400, message }] },
      { text: "one" },
      { text: "two" },
    ],
    { tools: [look] },
  );
  const model = () => openModel("openai-responses/mock", { env: { OPENAI_BASE_URL: house.server.openaiUrl, ...KEYS } });
  const first = await house.again({ model: await model() });
  const { context, result } = await first.run("go");
  await result;
  await first.close();
  const second = await house.again({ model: await model() });
  await (await second.run("more", { context })).result;
  await second.close();
  const { requests } = house.server.log();
  const sealed = requests.map(({ body }) => body.input.flatMap((item: { id?: string }) => item.id ?? []));
  expect(sealed).toEqual([[], ["rs_0"], [], ["rs_1"], ["rs_1"]]);
  expect(await bodies(await all(context))).toEqual(received().filter((_, i) => i !== 1));
});

test("what a mechanism of another program does to a view, or around the call, is said: such a request may not be what was sent", async () => {
  const shorter = defineMechanism({ name: "shorter", seams: { context: (items) => items.slice(-1) } });
  const other = defineMechanism({
    name: "other",
    seams: { model: (call, next) => next({ ...call, request: { ...call.request, system: ["Be brief."] } }) },
  });
  house = await openHouse([{ text: "one" }, { text: "two" }], { mechanisms: [shorter] });
  const run = await house.harness.run("go");
  await run.result;
  await run.taken.release();
  const again = await house.again({ mechanisms: [other] });
  await (await again.run("more", { context: run.context })).result;
  await again.close();
  expect((await all(run.context)).map(({ doubt }) => doubt)).toEqual([
    { kind: "viewed_by", mechanisms: ["shorter"] },
    { kind: "altered" },
    { kind: "altered" },
  ]);
});
