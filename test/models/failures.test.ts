import { createServer } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { ModelError } from "../../src/models/model.ts";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import type { Fault } from "../../src/testing/model-server-script.ts";
import { asking, BEFORE_TEXT, failure, open, reply, user, WIRES } from "./asking.ts";

let server: ModelServer;
afterEach(() => server?.close());

const seen = (error: ModelError) => ({
  kind: error.kind,
  status: error.status,
  retryAfterMs: error.retryAfterMs,
  partial: error.partial,
});

describe.each(WIRES)("over the %s wire", (wire) => {
  const failWith = async (fault: Fault, opts: { stallMs?: number } = {}) => {
    server = await startModelServer({ script: [{ text: "one two three", faults: [fault] }] });
    const error = await failure(open(wire, server, opts), asking([user("go")]));
    expect(error).toBeInstanceOf(ModelError);
    expect(error.message).not.toContain("\n");
    return error;
  };
  const headed = (headers: Record<string, string>): Fault => ({ status: 429, headers });

  test("an event that is no object is a fault of the server, which is asked again, not one of this program", async () => {
    server = await startModelServer({ script: [{ chunks: ["data: null\n\n"] }] });
    const error = await failure(open(wire, server), asking([user("go")]));
    expect([error.kind, error.message]).toEqual(["server", `${wire}/test-model: the answer is not JSON: null`]);
    if (wire !== "anthropic") return;
    server.setScript([{ chunks: ['data: {"type":"content_block_start","index":0}\n\n'] }]);
    const none = await failure(open(wire, server), asking([user("go")]));
    expect([none.kind, none.message]).toEqual(["server", "anthropic/test-model: a block begins that is none"]);
  });

  test.each<[string, Fault, object]>([
    ["429 with retry-after", headed({ "retry-after": "7" }), { kind: "rate_limit", status: 429, retryAfterMs: 7000 }],
    [
      "429 with retry-after-ms",
      headed({ "retry-after-ms": "12.5" }),
      { kind: "rate_limit", status: 429, retryAfterMs: 12.5 },
    ],
    [
      "429 with a date that is past",
      headed({ "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" }),
      { kind: "rate_limit", status: 429, retryAfterMs: 0 },
    ],
    ["529", { status: 529 }, { kind: "overloaded", status: 529 }],
    ["500", { status: 500 }, { kind: "server", status: 500 }],
    ["502 with a page of HTML", { status: 502, body: "<html>\nBad Gateway</html>" }, { kind: "server", status: 502 }],
    ["401", { status: 401 }, { kind: "auth", status: 401 }],
    ["403", { status: 403 }, { kind: "auth", status: 403 }],
    ["404", { status: 404 }, { kind: "invalid", status: 404 }],
    ["400", { status: 400, message: "messages: bad" }, { kind: "invalid", status: 400 }],
    [
      "400 that means overflow",
      { status: 400, message: "prompt is too long: 210000 tokens > 200000 maximum" },
      { kind: "overflow", status: 400 },
    ],
    ["413", { status: 413 }, { kind: "overflow", status: 413 }],
    [
      "400 that means throttling",
      { status: 400, message: "too many tokens per minute" },
      { kind: "invalid", status: 400 },
    ],
  ])("%s is told by its kind", async (_name, fault, expected) => {
    expect(seen(await failWith(fault))).toEqual({
      status: undefined,
      retryAfterMs: undefined,
      partial: undefined,
      ...expected,
    });
  });

  test("an error event inside the stream is told by its type", async () => {
    const kinds = [];
    for (const type of ["overloaded_error", "rate_limit_error", "api_error"]) {
      kinds.push((await failWith({ errorAt: 3, type })).kind);
      await server.close();
    }
    expect(kinds).toEqual(["overloaded", "rate_limit", "server"]);
  });

  test("a connection that is destroyed mid-stream is cut, with what had streamed", async () => {
    const error = await failWith({ cutAt: BEFORE_TEXT[wire] + 1 });
    expect(seen(error)).toMatchObject({ kind: "cut", partial: [{ type: "text", text: "one t" }] });
  });

  test("a stream that ends cleanly but without its end mark is cut", async () => {
    const error = await failWith({ endAt: BEFORE_TEXT[wire] + 2 });
    expect(seen(error)).toMatchObject({ kind: "cut", partial: [{ type: "text", text: "one two th" }] });
  });

  test("a connection that is destroyed before any answer is a network error", async () => {
    expect((await failWith({ cutAt: 0 })).kind).toBe("network");
  });

  test("a stream that falls silent is stalled", async () => {
    const error = await failWith({ stallAt: 2 }, { stallMs: 60 });
    expect(error.kind).toBe("stalled");
    expect(error.message).toContain("no byte for 0.06 s");
  });

  test("a slow stream that keeps sending is not stalled", async () => {
    server = await startModelServer({ script: [{ text: "a b c d e f", pieces: 6, chunkDelayMs: 150 }] });
    const { answer } = await reply(open(wire, server, { stallMs: 1000 }), asking([user("go")]));
    expect(answer.parts).toEqual([{ type: "text", text: "a b c d e f" }]);
  });

  test("an abort mid-stream ends at once with what had streamed", async () => {
    const pauseAt = BEFORE_TEXT[wire] + 2;
    server = await startModelServer({ script: [{ text: "one two three", faults: [{ pauseAt }] }] });
    const abort = new AbortController();
    const model = open(wire, server);
    let heard = "";
    const call = model.reply(asking([user("go")]), {
      signal: abort.signal,
      onDelta: (delta) => {
        if (delta.type === "text") heard += delta.text;
        if (heard === "one two th") abort.abort();
      },
    });
    const error = await call.catch((e) => e);
    expect(seen(error)).toEqual({
      kind: "aborted",
      status: undefined,
      retryAfterMs: undefined,
      partial: [{ type: "text", text: "one two th" }],
    });
  });

  test("a call with an aborted signal is never sent", async () => {
    server = await startModelServer({ script: [{ text: "hi" }] });
    const error = await failure(open(wire, server), asking([user("go")]), AbortSignal.abort());
    expect(seen(error)).toMatchObject({ kind: "aborted", partial: [] });
    expect(server.log().requests).toEqual([]);
  });

  test("a paused stream goes on when it is released", async () => {
    server = await startModelServer({ script: [{ text: "one two three", faults: [{ pauseAt: 2 }] }] });
    const call = reply(open(wire, server), asking([user("go")]));
    const held = await server.paused();
    expect({ chunksSent: held.chunksSent, delivered: held.delivered }).toEqual({ chunksSent: 2, delivered: false });
    server.release();
    expect((await call).answer.parts).toEqual([{ type: "text", text: "one two three" }]);
  });

  test("nobody listening on this machine ends at once and names the address", async () => {
    const probe = createServer();
    await new Promise<void>((done) => probe.listen(0, "127.0.0.1", done));
    const { port } = probe.address() as { port: number };
    await new Promise((done) => probe.close(done));
    const gone = { anthropicUrl: `http://127.0.0.1:${port}`, openaiUrl: `http://127.0.0.1:${port}/v1` } as ModelServer;
    const error = await failure(open(wire, gone), asking([user("go")]));
    expect(error.kind).toBe("invalid");
    expect(error.message).toBe(
      `${wire}/test-model: nothing listens on 127.0.0.1:${port}: is the server running, and is the base URL right?`,
    );
  });
});
