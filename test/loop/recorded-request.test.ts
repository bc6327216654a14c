import { afterEach, expect, test } from "vitest";
import { blobHash } from "../../src/ledger/checksum.ts";
import { type RecordedRequest, recordedRequests } from "../../src/loop/recorded-request.ts";
import { defineMechanism } from "../../src/loop/seams.ts";
import { compactionViewer } from "../../src/mechanisms/compaction/viewer.ts";
import { recordedBody } from "../../src/models/recorded-body.ts";
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
    expect(await bodies(requests)).toEqual(received());
    expect(requests.map(({ doubt }) => doubt)).toEqual(requests.map(() => undefined));
  },
);
