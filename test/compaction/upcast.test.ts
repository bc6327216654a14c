// A context of an older Holdfast: its events of older versions are read through their upcast, by the loop and by contexts alike.
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openContexts } from "../../src/contexts/index.ts";
import type { CompactionState } from "../../src/mechanisms/compaction/events.ts";
import { openHouse } from "../house.ts";

const FIXTURE = path.join(import.meta.dirname, "fixtures/elided-v1.hfctx");

test("a conversation whose old results an older version left out by position goes on: they are shown again, and nothing new is left out", async () => {
  const script = [{ text: "unused" }, { text: "unused" }, { text: "going on" }];
  const house = await openHouse(script, { hooks: {} }); // the directory it was recorded in is not there: no hook can start
  onTestFinished(() => house.close());
  expect(fs.readFileSync(FIXTURE, "utf8")).toContain('"type":"context.elided","v":1');
  const contexts = await openContexts({ store: house.store });
  const { id } = await contexts.import(FIXTURE);
  const { state, problems, readOnly } = await house.harness.host.open(id);
  const { all } = (state.slices.compaction as CompactionState).lead!;
  expect([problems, readOnly, all]).toEqual([[], undefined, [{ seq: 11, masks: [], snips: [] }]]);
  const run = await house.harness.run("and now?", { context: id });
  expect((await run.result).reason).toBe("done");
  const sent = JSON.stringify(house.server.log().requests.at(-1)!.body);
  expect([sent.includes("a long result"), sent.includes("left out to make room")]).toEqual([true, false]);
  await run.taken.release();
  expect(await (await contexts.get(id)).read("n")).toBe(1);
});
