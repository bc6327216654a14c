import { afterEach, describe, expect, it } from "vitest";
import { type House, openHouse, toolOf } from "../house.ts";

let house: House;
afterEach(() => house.close());

describe("steering and interrupting", () => {
  it("shows an input that comes while a turn runs at the next round", async () => {
    let send: (text: string) => Promise<void> = async () => undefined;
    house = await openHouse([{ calls: [{ name: "work", input: {} }] }, { text: "as you wish" }], {
      tools: [
        toolOf("work", "read", async () => {
          await send("in blue, please");
          return { content: "worked" };
        }),
      ],
    });
    const run = await house.harness.run("paint it");
    send = (text) => run.send(text);
    await run.result;
    expect(house.server.log().requests[1]!.body.messages.slice(-2)).toEqual([
      { role: "tool", tool_call_id: "c00000001", content: "worked" },
      { role: "user", content: "in blue, please" },
    ]);
  });

  it("keeps inputs that wait for turns of their own, one after the other", async () => {
    let send: (text: string) => Promise<void> = async () => undefined;
    const work = toolOf("work", "read", async () => {
      for (const text of ["then the roof", "then the door"]) await send(text);
      return { content: "worked" };
    });
    const rounds = [
      { calls: [{ name: "work", input: {} }] },
      ...["painted", "roofed", "hung"].map((text) => ({ text })),
    ];
    house = await openHouse(rounds, { tools: [work] });
    const run = await house.harness.run("paint it");
    send = (text) => run.send(text, { waits: true });
    await run.result;
    const asked = house.server.log().requests.map(({ body }) => body.messages.at(-1)?.content);
    expect(asked).toEqual(["paint it", "worked", "then the roof", "then the door"]);
    const told = (await house.events(run.context)).map(({ type }) => type);
    const turns = told.filter((type) => ["input.received", "input.taken", "turn.ended"].includes(type));
    expect(turns).toEqual([
      ...["input.received", "input.taken", "input.received", "input.received", "turn.ended"],
      ...["input.taken", "turn.ended", "input.taken", "turn.ended"],
    ]);
  });

  it("interrupts in mid-stream: what was said stays, and the turn is closed", async () => {
    house = await openHouse([{ text: "one two three four", pieces: 4, faults: [{ pauseAt: 3 }] }]);
    let said = "";
    let heard: () => void;
    const hearing = new Promise<void>((resolve) => {
      heard = resolve;
    });
    const run = await house.harness.run("count", {
      onEvent: (e) => {
        if (e.type !== "progress" || e.progress.type !== "delta" || e.progress.delta.type !== "text") return;
        said += e.progress.delta.text;
        heard();
      },
    });
    await hearing;
    run.interrupt();
    const result = await run.result;
    const reply = (await house.events(run.context)).find((e) => e.type === "reply.received")!.data;
    expect(result.reason).toBe("interrupted");
    expect(reply).toMatchObject({ interrupted: true, parts: [{ type: "text", text: said }] });
  });

  it("interrupts in mid-tool: the call and those behind it get their results, and the next turn is valid", async () => {
    house = await openHouse(
      [
        {
          calls: [
            { name: "slow", input: {} },
            { name: "slow", input: {} },
          ],
        },
        { text: "later" },
      ],
      {
        tools: [
          toolOf("slow", "external", async ({ signal }) => {
            run.interrupt();
            await new Promise<void>((resolve) =>
              signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve()),
            );
            return { content: "stopped half-way", isError: true };
          }),
        ],
      },
    );
    const run = await house.harness.run("slowly");
    expect((await run.result).reason).toBe("interrupted");
    await run.taken.agent.send("go on");
    expect(await run.taken.agent.oneTurn()).toBe("done");
    expect(house.server.log().requests[1]!.body.messages.slice(-3)).toEqual([
      { role: "tool", tool_call_id: "c00000001", content: "stopped half-way" },
      { role: "tool", tool_call_id: "c00000002", content: "Not run: the turn was interrupted." },
      { role: "user", content: "go on" },
    ]);
    // What decides by it does not read the sentence.
    const results = run.taken.agent.turn.state.items.filter((item) => item.kind === "result");
    expect(results.map(({ stopped }) => stopped)).toEqual(["during", "before"]);
    expect(house.server.log().invalid).toEqual([]);
  });
});

describe("limits", () => {
  it("warn the model when one call gives the same result 3 times in a row, and end the turn at 6", async () => {
    house = await openHouse(() => ({ calls: [{ name: "look", input: {} }] }), {
      tools: [toolOf("look", "read", () => ({ content: "the same" }))],
    });
    const result = await (await house.harness.run("look")).result;
    const { requests } = house.server.log();
    const warned = requests.map((r) => JSON.stringify(r.body.messages).split("3 times in a row").length - 1);
    expect(result).toMatchObject({
      reason: "limit",
      error: "stopped: the same look call gave the same result 6 times in a row",
    });
    expect(warned).toEqual([0, 0, 0, 1, 1, 1]);
  });

  it("let honest repetition run: results that differ do not count", async () => {
    let n = 0;
    house = await openHouse(
      ({ round }) => (round < 12 ? { calls: [{ name: "poll", input: {} }] } : { text: "arrived" }),
      {
        tools: [toolOf("poll", "read", () => ({ content: `waiting ${n++}` }))],
      },
    );
    expect(await (await house.harness.run("wait for it")).result).toMatchObject({
      reason: "done",
      text: "arrived",
      rounds: 13,
    });
  });

  it("stop after --max-rounds, with a result for every call", async () => {
    let n = 0;
    house = await openHouse(() => ({ calls: [{ name: "poll", input: {} }] }), {
      maxRounds: 4,
      tools: [toolOf("poll", "read", () => ({ content: `${n++}` }))],
    });
    expect(await (await house.harness.run("go")).result).toMatchObject({ reason: "limit", rounds: 4 });
  });
});
