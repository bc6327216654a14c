import { afterEach, describe, expect, it } from "vitest";
import { defineMechanism } from "../../src/loop/seams.ts";
import { type House, openHouse, toolOf } from "../house.ts";

let house: House;
afterEach(() => house.close());

const results = async (context: string) =>
  (await house.events(context))
    .filter((e) => e.type === "tool.finished")
    .map((e) => {
      const { callId, name, content, isError } = e.data as {
        callId: string;
        name: string;
        content: { text: string }[];
        isError: boolean;
      };
      return { callId, name, text: content[0]!.text, isError };
    });

describe("one result for each call", () => {
  it("comes whatever goes wrong: unknown tool, bad arguments, a throw, a refusal, a broken call", async () => {
    house = await openHouse(
      [
        {
          calls: [
            { name: "nowhere", input: {} },
            { name: "throws", input: { n: "one", extra: 1 } },
            { name: "throws", input: {} },
            { name: "forbidden", input: {} },
            { name: "throws", raw: '{"n": 1' },
          ],
        },
        { text: "understood" },
      ],
      {
        tools: [
          toolOf("throws", "external", () => {
            throw new Error("it broke");
          }),
          toolOf("forbidden", "external", () => ({ content: "must not run" })),
        ],
        mechanisms: [
          defineMechanism({
            name: "test-gate",
            seams: {
              gate: {
                judge: ({ tool }) =>
                  tool.name === "forbidden"
                    ? { decision: "deny", code: "program", reason: "not today" }
                    : { decision: "allow" },
              },
            },
          }),
        ],
      },
    );
    const run = await house.harness.run("go");
    const result = await run.result;
    const found = await results(run.context);
    expect(found.map((r) => [r.callId, r.isError])).toEqual([
      ["c1", true],
      ["c2", true],
      ["c4", true],
      ["c5", true],
      ["c3", true],
    ]);
    const text = Object.fromEntries(found.map((r) => [r.callId, r.text]));
    expect(text.c1).toContain("There is no tool named nowhere");
    expect(text.c2).toContain("n: Invalid input: expected number, received string");
    expect(text.c2).toContain('Unrecognized key: "extra"');
    expect(text.c3).toBe("it broke");
    expect(text.c4).toBe("Refused: not today");
    expect(text.c5).toContain("arrived incomplete");
    expect(result).toMatchObject({
      reason: "done",
      text: "understood",
      denials: [{ name: "forbidden", callId: "c4", reason: "not today" }],
    });
    expect(house.server.log().invalid).toEqual([]);
  });

  it("keeps the order of the calls while read-only ones run at the same time", async () => {
    let running = 0;
    let most = 0;
    house = await openHouse([{ calls: [1, 2, 3].map((n) => ({ name: "look", input: { n } })) }, { text: "ok" }], {
      tools: [
        toolOf("look", "read", async ({ input }) => {
          const { n } = input as { n: number };
          most = Math.max(most, ++running);
          await new Promise((resolve) => setTimeout(resolve, 40 - n * 10)); // the last one is done first
          running--;
          return { content: `saw ${n}` };
        }),
      ],
    });
    await (await house.harness.run("look")).result;
    const sent = house.server.log().requests[1]!.body.messages.filter((m: { role: string }) => m.role === "tool");
    expect(most).toBe(3);
    expect(sent.map((m: { tool_call_id: string; content: string }) => [m.tool_call_id, m.content])).toEqual([
      ["c00000001", "saw 1"],
      ["c00000002", "saw 2"],
      ["c00000003", "saw 3"],
    ]);
  });

  it("runs calls that change things one after another, each with its intent recorded first", async () => {
    const order: string[] = [];
    house = await openHouse(
      [
        {
          calls: [
            { name: "act", input: { n: 1 } },
            { name: "act", input: { n: 2 } },
          ],
        },
        { text: "ok" },
      ],
      {
        tools: [
          toolOf("act", "external", async ({ input }) => {
            order.push(`begin ${(input as { n: number }).n}`);
            await new Promise((resolve) => setImmediate(resolve));
            order.push(`end ${(input as { n: number }).n}`);
            return { content: "done" };
          }),
        ],
      },
    );
    const run = await house.harness.run("act");
    await run.result;
    expect(order).toEqual(["begin 1", "end 1", "begin 2", "end 2"]);
    expect((await house.events(run.context)).map((e) => e.type)).toEqual([
      "context.created",
      "agent.created",
      "input.received",
      "turn.started",
      "context.checkpointed",
      "input.taken",
      "request.changed",
      "reply.received",
      "tool.started",
      "tool.finished",
      "tool.started",
      "tool.finished",
      "reply.received",
      "turn.ended",
    ]);
  });
});
