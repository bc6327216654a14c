import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { hashOf } from "../../src/file-access/seen-files.ts";
import type { RunOptions } from "../../src/harness.ts";
import { mergeSeams } from "../../src/loop/merge.ts";
import { defineMechanism, type GateCall, type Verdict } from "../../src/loop/seams.ts";
import { type House, openHouse, toolOf } from "../house.ts";

const judge = (name: string, verdict: Verdict) => defineMechanism({ name, seams: { gate: { judge: () => verdict } } });
const call = {
  call: { type: "call", id: "c1", name: "x", input: { a: 1 } },
  tool: toolOf("x", "read", () => ({ content: "" })),
  input: { a: 1 },
} as unknown as GateCall;

describe("seam gate", () => {
  it("lets the strictest answer win, whatever the order", async () => {
    const allow = judge("allow", { decision: "allow" });
    const ask = judge("ask", { decision: "ask", code: "program", reason: "sure?" });
    const deny = judge("deny", { decision: "deny", code: "program", reason: "no" });
    const decide = async (...mechanisms: ReturnType<typeof judge>[]) =>
      (await mergeSeams(mechanisms).gate(call)).verdict;
    expect(await decide(allow, ask)).toEqual({ decision: "ask", code: "program", reason: "sure?" });
    expect(await decide(deny, ask, allow)).toEqual({ decision: "deny", code: "program", reason: "no" });
    expect(await decide(allow, deny)).toEqual({ decision: "deny", code: "program", reason: "no" });
    expect(await decide()).toEqual({ decision: "allow" });
  });

  it("keeps what only a person may answer, whichever gate asked first", async () => {
    const ask = judge("ask", { decision: "ask", code: "hook", reason: "sure?" });
    const firm = judge("firm", { decision: "ask", code: "secret", reason: "a key", firm: true });
    for (const order of [
      [ask, firm],
      [firm, ask],
    ])
      expect((await mergeSeams(order).gate(call)).verdict).toMatchObject({ code: "secret", firm: true });
    const other = judge("other", { decision: "ask", code: "tool", reason: "it changed", firm: true, about: "v2" });
    expect((await mergeSeams([firm, ask, other]).gate(call)).verdict).toEqual({
      ...{ decision: "ask", code: "secret", firm: true, about: "v2" },
      reason: "a key; it changed", // whoever answers has seen both
    });
  });

  it("refuses when a gate throws", async () => {
    const broken = defineMechanism({
      name: "broken",
      seams: {
        gate: {
          judge: () => {
            throw new Error("out of order");
          },
        },
      },
    });
    expect((await mergeSeams([broken]).gate(call)).verdict).toEqual({
      decision: "deny",
      code: "failed",
      reason: "a gate failed: out of order",
    });
  });

  it("judges the input that rewrites have made, from every gate", async () => {
    const judged: unknown[] = [];
    const first = defineMechanism({
      name: "first",
      seams: {
        gate: {
          judge: ({ input }) => {
            judged.push(input);
            return { decision: "allow" };
          },
        },
      },
    });
    const second = defineMechanism({
      name: "second",
      seams: { gate: { rewrite: async ({ input }) => ({ ...(input as object), b: 2 }) } },
    });
    const { input } = await mergeSeams([first, second]).gate(call);
    expect([judged, input]).toEqual([[{ a: 1, b: 2 }], { a: 1, b: 2 }]);
  });
});

describe("the other seams, through the loop", () => {
  let house: House;
  afterEach(() => house.close());

  it("input blocks a turn with its reason, and the model is not asked", async () => {
    house = await openHouse([{ text: "never" }], {
      mechanisms: [
        defineMechanism({ name: "blocker", seams: { input: async () => ({ block: "no secrets, please" }) } }),
      ],
    });
    const run = await house.harness.run("my password is …");
    expect(await run.result).toMatchObject({ reason: "blocked", error: "no secrets, please", rounds: 0 });
    expect(house.server.log().requests).toEqual([]);
  });

  it("input that is blocked was not read, nor were the files that came with it; one that is taken was", async () => {
    const write = { calls: [{ name: "write_file", input: { path: "a.txt", content: "mine" } }] };
    house = await openHouse([write, { text: "first" }, write, { text: "second" }], {
      mechanisms: [
        defineMechanism({
          name: "blocker",
          seams: { input: async (input) => (JSON.stringify(input).includes("blocked") ? { block: "no" } : input) },
        }),
      ],
    });
    const file = join(house.root, "a.txt");
    writeFileSync(file, "yours");
    const seen = [{ path: realpathSync(file), hash: hashOf(Buffer.from("yours")) }];
    const ran = async (words: string, more: RunOptions) => {
      const { context, result, taken } = await house.harness.run(words, more);
      await result;
      await taken.release();
      return { context, holds: readFileSync(file, "utf8") };
    };
    const { context } = await ran("blocked", { seen });
    expect((await ran("go", { context })).holds).toBe("yours");
    expect((await ran("go", { context, seen })).holds).toBe("mine");
  });

  it("input changes what the model sees, intake adds at the tail, system in order, stop goes on", async () => {
    let stops = 0;
    house = await openHouse([{ text: "first" }, { text: "second" }], {
      mechanisms: [
        defineMechanism({
          name: "all",
          seams: {
            input: async (input) => ({ ...input, content: [{ type: "text", text: "changed" }] }),
            intake: (turn) => (turn.state.rounds === 0 ? [{ origin: "clock", text: "it is late" }] : []),
            system: () => "One more rule.",
            stop: () => (stops++ === 0 ? [{ origin: "checker", text: "are you sure?" }] : []),
          },
        }),
      ],
    });
    const result = await (await house.harness.run("original")).result;
    const { messages } = house.server.log().requests[1]!.body;
    expect(messages[0].content).toContain("One more rule.");
    expect(messages.slice(1)).toEqual([
      { role: "user", content: "changed" },
      { role: "user", content: '<note from="clock">\nit is late\n</note>' },
      { role: "assistant", content: "first" },
      { role: "user", content: '<note from="checker">\nare you sure?\n</note>' },
    ]);
    expect(result).toMatchObject({ reason: "done", text: "second", rounds: 2 });
  });

  it("tool wraps every execution, the first mechanism outermost", async () => {
    const wrap = (name: string) =>
      defineMechanism({
        name,
        seams: {
          tool: async (run, next) => {
            const output = await next(run);
            return { ...output, content: `${name}(${output.content})` };
          },
        },
      });
    house = await openHouse([{ calls: [{ name: "look", input: {} }] }, { text: "ok" }], {
      tools: [toolOf("look", "read", () => ({ content: "it" }))],
      mechanisms: [wrap("outer"), wrap("inner")],
    });
    await (await house.harness.run("look")).result;
    const last = house.server.log().requests[1]!.body.messages.at(-1);
    expect(last).toEqual({ role: "tool", tool_call_id: "c00000001", content: "outer(inner(it))" });
  });
});
