import fs from "node:fs";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import type { StoredEvent } from "../../src/ledger/store.ts";
import { readRecording } from "../../src/replay/recording.ts";
import { houseOf, replayEvents } from "../../src/replay/replay.ts";
import { type House, openHouse } from "../house.ts";

let house: House;
afterEach(() => house.close());

const recorded = (context: string): Promise<StoredEvent[]> => readRecording(house.store, houseOf().codec, context);

test("a conversation with reads, edits, commands and todos is computed again without a difference", async () => {
  house = await openHouse([
    {
      calls: [
        { name: "read_file", input: { path: "a.txt" } },
        { name: "glob", input: { pattern: "*.txt" } },
      ],
    },
    { calls: [{ name: "todo_write", input: { todos: [{ content: "x", status: "in_progress" }] } }] },
    { calls: [{ name: "edit_file", input: { path: "a.txt", old: "one", new: "two" } }] },
    { calls: [{ name: "bash", input: { command: "echo hi; ls" } }] },
    { calls: [{ name: "nonesuch", input: {} }] },
    { text: "done" },
    { text: "again" },
  ]);
  fs.writeFileSync(path.join(house.root, "a.txt"), "one\n");
  const run = await house.harness.run("look");
  await run.result;
  await run.taken.release();
  const second = await house.harness.run("more", { context: run.context });
  await second.result;
  await second.taken.release();
  const events = await recorded(run.context);
  if (process.env.SHOW)
    for (const e of events) console.log(e.seq, e.actor, e.type, JSON.stringify(e.data).slice(0, 200));
  const replayed = await replayEvents(run.context, events);
  expect(replayed).toMatchObject({ differences: [], unknown: [] });
  expect(replayed.compared).toBeGreaterThan(20);
});
