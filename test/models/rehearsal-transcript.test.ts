import { describe, expect, it } from "vitest";
import { type Delta, type Item, ModelError } from "../../src/models/model.ts";
import { createRehearsal } from "../../src/models/rehearsal/index.ts";
import { asked, createRoom, note, play as playAll, user } from "./rehearsing.ts";

const { put, tools } = createRoom();
const play = (items: Item[], offered = tools) => playAll(items, offered);
const say = (text: string, offered = tools) => play([user(text)], offered);

describe("the rehearsal model reads the transcript", () => {
  it("takes what is added while it works into the same plan", async () => {
    put("README.md", "# Hi\n");
    const first = user("run `a`, then run `b`");
    const half: Item[] = [
      first,
      { kind: "reply", model: "m", parts: [{ type: "call", id: "c1", name: "bash", input: { command: "a" } }] },
      { kind: "result", callId: "c1", name: "bash", content: [{ type: "text", text: "ran a" }], isError: false },
    ];
    const { calls } = await play([...half, user("also read README.md")]);
    expect(calls).toEqual([[["bash", { command: "b" }]], [["read_file", { path: "README.md" }]]]);
  });

  it("makes a call that an interrupt kept from running when told to go on, and drops it for another request", async () => {
    const stopped: Item[] = [
      user("run `a`"),
      { kind: "reply", model: "m", parts: [{ type: "call", id: "c1", name: "bash", input: { command: "a" } }] },
      {
        kind: "result",
        callId: "c1",
        name: "bash",
        content: [{ type: "text", text: "It was kept from running." }],
        isError: true,
        stopped: "before",
      },
    ];
    expect((await play([...stopped, user("続けて")])).calls).toEqual([[["bash", { command: "a" }]]]);
    expect((await play([...stopped, user("run `b`")])).calls).toEqual([[["bash", { command: "b" }]]]);
  });

  it("says when it passed over a request that another one followed at once", async () => {
    const { calls, text } = await play([user("run `a`"), user("run `b`")]);
    expect(calls).toEqual([[["bash", { command: "b" }]]]);
    expect(text).toContain("I took up only the last request. Not done: “run `a`”");
  });

  it("starts anew with each request, also with the same one", async () => {
    const first = await say("run `a`");
    const second = await play([...first.items, user("run `a`")]);
    expect([second.calls, second.text]).toEqual([first.calls, first.text]);
  });

  it("ignores notes that are no jobs while it works", async () => {
    const { text } = await play([note("memory", "prefers tabs"), user("list Python files")], { glob: () => "a.py" });
    expect(text).toBe("1 Python file:\n- a.py");
  });

  it("streams its text in deltas that add up to the reply, with an estimate of usage", async () => {
    const deltas: Delta[] = [];
    const reply = await createRehearsal().reply(asked([user("read 「日本語😀.md」")], tools), {
      signal: new AbortController().signal,
      onDelta: (delta) => deltas.push(delta),
    });
    const text = deltas.map((d) => (d.type === "text" ? d.text : "")).join("");
    expect(reply).toEqual({
      model: "rehearsal/planner",
      parts: [
        { type: "text", text },
        { type: "call", id: "c1", name: "read_file", input: { path: "日本語😀.md" } },
      ],
      finish: "calls",
      usage: { input: expect.any(Number), output: expect.any(Number), cacheRead: 0, cacheWrite: 0 },
    });
    expect(reply.usage.input).toBeGreaterThan(10);
    expect(deltas.map((d) => d.type)).toEqual(["text", "text", "text", "text", "call"]);
  });

  it("stops in mid-stream on abort and hands over what it had said", async () => {
    const abort = new AbortController();
    const running = createRehearsal().reply(asked([user("hello")], tools), {
      signal: abort.signal,
      onDelta: () => abort.abort(),
    });
    const error = await running.catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ModelError);
    const { kind, partial } = error as ModelError;
    expect({ kind, partial }).toEqual({
      kind: "aborted",
      partial: [{ type: "text", text: expect.stringMatching(/^I am the offline/) }],
    });
  });
});
