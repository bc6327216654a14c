// Whatever a conversation is like, and however often room is made in it: calls keep their results, what no model call has carried stays whole, order stays.
import fc from "fast-check";
import { expect, test } from "vitest";
import { compaction } from "../../src/mechanisms/compaction/index.ts";
import { type Item, type Model, noUsage } from "../../src/models/model.ts";
import { createFakeTurn } from "../recovery/fake-turn.ts";

type Step = { said: number; calls: number[]; text: number; room: "none" | "overflow" | "asked" | "undo" };

const step: fc.Arbitrary<Step> = fc.record({
  said: fc.constantFrom(0, 0, 0, 30, 3_000),
  calls: fc.array(fc.constantFrom(10, 500, 3_000), { maxLength: 3 }),
  text: fc.constantFrom(0, 40, 2_500),
  room: fc.constantFrom("none", "none", "none", "overflow", "asked", "undo"),
});

const words = (size: number) => "w".repeat(size);
const text = (size: number) => [{ type: "text" as const, text: words(size) }];
const limits = { contextTokens: 12_000, outputTokens: 1_000, images: false, documents: false };

/** Ids of calls, and those of results that follow them, in order; parted ones show. */
const pairsIn = (items: readonly Item[]): string[] =>
  items.flatMap((item) => {
    if (item.kind === "reply") return item.parts.flatMap((part) => (part.type === "call" ? [`call ${part.id}`] : []));
    return item.kind === "result" ? [`result ${item.callId}`] : [];
  });

test("a view is the conversation with something left out", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 30 }), async (steps) => {
      const mechanism = compaction();
      const turn = createFakeTurn(mechanism, { id: "m", limits } as Model);
      Object.assign(turn, { state: { turn: undefined } });
      const opts = {
        ...{ tools: [], system: ["s"], keeps: () => [], offers: () => true, carry: async () => [] },
        ask: async () => ({ model: "m", parts: text(40), finish: "stop" as const, usage: noUsage() }),
      };
      const items: Item[] = [];
      let [n, said, calls] = [0, 0, 0];
      for (const { said: size, calls: sizes, text: answer, room } of [
        { said: 20, calls: [], text: 5, room: "none" } as Step,
        ...steps,
      ]) {
        if (size > 0) items.push({ kind: "user", content: text(size), n: ++said });
        const ids = sizes.map(() => `c${++calls}`);
        const made = ids.map((id) => ({ type: "call" as const, id, name: "read_file", input: { path: id } }));
        items.push({
          kind: "reply",
          model: "m",
          n: ++n,
          parts: [...(answer > 0 || ids.length === 0 ? text(answer || 1) : []), ...made],
        });
        ids.forEach((callId, i) => {
          items.push({ kind: "result", callId, name: "read_file", isError: false, content: text(sizes[i]!) });
        });
        if (room === "asked") turn.happened("compaction.asked", {});
        if (room === "undo") turn.happened("context.uncompacted", {});
        const view = await mechanism.seams!.context!(items, turn, { ...opts, overflow: room === "overflow" });
        if (room === "asked") turn.happened("turn.ended", {});
        const pairs = pairsIn(view);
        const open = pairs.filter((one) => one.startsWith("call ")).map((one) => one.slice(5));
        expect(pairs.filter((one) => one.startsWith("result ")).map((one) => one.slice(7))).toEqual(open);
        expect(open).toEqual(
          pairsIn(items)
            .filter((one) => one.startsWith("call ") && open.includes(one.slice(5)))
            .map((one) => one.slice(5)),
        );
        // Of the last message nothing is touched: it is small beside the window.
        const unseen = items.slice(items.findLastIndex(({ kind }) => kind === "reply"));
        expect(unseen.every((item) => view.includes(item))).toBe(true);
      }
    }),
    { numRuns: 60 },
  );
});
