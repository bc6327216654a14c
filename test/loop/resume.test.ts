import { afterEach, describe, expect, it } from "vitest";
import type { EffectOutcome, Mechanism } from "../../src/loop/seams.ts";
import { type House, openHouse, toolOf } from "../house.ts";

let house: House;
afterEach(() => house.close());

/** The events of a context as another process left them: everything after the n-th one of `type` is cut off. */
async function leaveAt(context: string, type: string, nth: number): Promise<string> {
  const events = await house.events(context);
  const end = events.indexOf(events.filter((e) => e.type === type)[nth - 1]!);
  const copy = `${context}x`;
  await house.store.append([{ ledger: copy, events: events.slice(0, end + 1).map(({ seq: _, at: __, ...e }) => e) }]);
  return copy;
}

/** A turn with one external call, as it stood when the n-th event of `type` was recorded. */
async function actedAndCut(type: string, nth = 1): Promise<{ copy: string; ran: () => number }> {
  let ran = 0;
  house = await openHouse([{ calls: [{ name: "act", input: {} }] }, { text: "done" }], {
    tools: [
      toolOf("act", "external", () => {
        ran++;
        return { content: "acted" };
      }),
    ],
  });
  const first = await house.harness.run("act");
  await first.result;
  return { copy: await leaveAt(first.context, type, nth), ran: () => ran };
}

describe("a turn that another process began", () => {
  it("runs the calls of a recorded reply without asking for that reply again", async () => {
    const { copy, ran } = await actedAndCut("reply.received");
    const second = await house.harness.run(undefined, { context: copy });
    expect(await second.result).toMatchObject({ reason: "done", text: "done", rounds: 1 });
    expect([ran(), house.server.log().requests.map((r) => r.round)]).toEqual([2, [0, 1, 1]]);
  });

  it("only closes a turn whose last reply asked for nothing", async () => {
    const { copy, ran } = await actedAndCut("reply.received", 2);
    const second = await house.harness.run(undefined, { context: copy });
    expect(await second.result).toMatchObject({ reason: "done", text: "done", rounds: 0 });
    expect([ran(), house.server.log().requests.length]).toEqual([1, 2]);
  });

  it("answers an external call whose outcome is unknown with exactly that, and does not repeat it", async () => {
    const { copy, ran } = await actedAndCut("tool.started");
    const second = await house.harness.run(undefined, { context: copy });
    await second.result;
    expect(ran()).toBe(1);
    expect(house.server.log().requests.at(-1)!.body.messages.at(-1)).toMatchObject({
      role: "tool",
      tool_call_id: "c00000001",
      content: expect.stringContaining("outcome is unknown"),
    });
    expect(house.server.log().invalid).toEqual([]);
  });

  it("is left alone once it is done: a second resume changes nothing", async () => {
    house = await openHouse([{ text: "done" }]);
    const first = await house.harness.run("hello");
    await first.result;
    await first.taken.release();
    const before = await house.events(first.context);
    const again = await house.harness.run(undefined, { context: first.context });
    expect(await again.result).toMatchObject({ reason: "done", text: "done", rounds: 0 });
    expect(await house.events(first.context)).toEqual(before);
  });

  it("goes on after an interrupt, a failure or a limit, with a valid transcript", async () => {
    house = await openHouse([{ calls: [{ name: "look", input: {} }] }, { text: "the end" }], {
      maxRounds: 1,
      tools: [toolOf("look", "read", () => ({ content: "seen" }))],
    });
    const first = await house.harness.run("look");
    expect((await first.result).reason).toBe("limit");
    await first.taken.release();
    const second = await house.harness.run(undefined, { context: first.context });
    expect(await second.result).toMatchObject({ reason: "done", text: "the end", rounds: 1 });
    expect(house.server.log().invalid).toEqual([]);
  });

  it("is refused to a second host while the first one lives, and says who holds it", async () => {
    house = await openHouse([{ text: "done" }]);
    const first = await house.harness.run("hello");
    await first.result;
    const other = await house.again();
    await expect(other.run("more", { context: first.context })).rejects.toMatchObject({
      code: "held",
      message: expect.stringContaining(`process ${process.pid}`),
    });
  });
});

describe("what a tool says became of an effect that another process began", () => {
  const copying: Mechanism = {
    name: "copying",
    seams: {
      tool: async (run, next) => {
        const output = await next(run);
        return { ...output, content: typeof output.content === "string" ? `seen: ${output.content}` : [] };
      },
    },
  };

  async function resumedAs(outcome: EffectOutcome): Promise<{ ran: number; said: string }> {
    let ran = 0;
    const act = {
      ...toolOf("act", "reconcile", () => {
        ran++;
        return { content: "acted" };
      }),
      intend: async () => ({}),
      reconcile: async () => outcome,
    };
    const script = [{ calls: [{ name: "act", input: {} }] }, { text: "done" }];
    house = await openHouse(script, { tools: [act], mechanisms: [copying] });
    const first = await house.harness.run("act");
    await first.result;
    const copy = await leaveAt(first.context, "tool.started", 1);
    ran = 0;
    const second = await house.harness.run(undefined, { context: copy });
    expect(await second.result).toMatchObject({ reason: "done" });
    return { ran, said: house.server.log().requests.at(-1)!.body.messages.at(-1).content };
  }

  it("undone: it runs now, once, whatever a seam makes of outputs", async () => {
    expect(await resumedAs({ kind: "undone" })).toEqual({ ran: 1, said: "seen: acted" });
  });

  it("finished: its output passes the seam like every result, an empty one too", async () => {
    const finished = (content: string): EffectOutcome => ({ kind: "finished", output: { content } });
    expect(await resumedAs(finished("was done"))).toEqual({ ran: 0, said: "seen: was done" });
    await house.close();
    expect(await resumedAs(finished(""))).toEqual({ ran: 0, said: "seen: " });
  });

  it("adopted: it is followed inside the seam", async () => {
    const follow = async () => ({ content: "its end" });
    expect(await resumedAs({ kind: "adopted", follow })).toEqual({ ran: 0, said: "seen: its end" });
  });

  it("unknown: it is not run, and the model is told why", async () => {
    const why = "somebody else was here";
    expect(await resumedAs({ kind: "unknown", why })).toEqual({ ran: 0, said: `seen: ${why}` });
  });
});
