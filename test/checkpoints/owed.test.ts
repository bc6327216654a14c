// Files that a prompt's checkpoint owes: kept once, before the first effect, of the context's tree; or never, and that is said.
import { expect, onTestFinished, test } from "vitest";
import type { FileKeeper } from "../../src/contexts/index.ts";
import { openHouse, toolOf } from "../house.ts";

async function setUp(save: (root: string) => Promise<{ id: string }>) {
  const order: string[] = [];
  const call = { calls: [{ name: "change", input: {} }] };
  const house = await openHouse([call, call, { text: "done" }], {
    tools: [
      toolOf("change", "external", () => {
        order.push("effect");
        return { content: "changed" };
      }),
    ],
    files: async (root) =>
      ({
        save: async () => {
          order.push("save");
          return save(root);
        },
      }) as unknown as FileKeeper,
  });
  onTestFinished(() => house.close());
  const said: string[] = [];
  const run = await house.harness.run("go", {
    onEvent: (event) => {
      if (event.type === "progress" && event.progress.type === "status") said.push(event.progress.text);
    },
  });
  await run.result;
  const events = (await house.events(run.context)).filter(({ type }) => /checkpoint|tool\.started/.test(type));
  return { house, order, said, events };
}

test("they are kept once, of the context's tree, and that is recorded before the first intent", async () => {
  const { house, order, events } = await setUp(async (root) => ({ id: root }));
  expect(order).toEqual(["save", "effect", "effect"]);
  expect(events.map(({ type }) => type)).toEqual([
    "context.checkpointed",
    "checkpoint.kept",
    "tool.started",
    "tool.started",
  ]);
  expect(events[1]!.data).toEqual({ checkpoint: events[0]!.seq, files: { id: house.root } });
});

test("where they cannot be kept that is said, and a later state is not kept in their place", async () => {
  const { order, said, events } = await setUp(async () => {
    throw new Error("the disk is full");
  });
  expect(order).toEqual(["save", "effect", "effect"]);
  expect(said).toEqual(["the files of this checkpoint are not kept: the disk is full"]);
  expect(events.map(({ type }) => type)).toEqual(["context.checkpointed", "tool.started", "tool.started"]);
});
