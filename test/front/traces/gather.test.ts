// Spans of ledgers that went odd ways: copies, restores, refusals, retries. Always the same spans for the same events.
import { expect, test } from "vitest";
import { captureContent, type SpanContent } from "../../../src/front/traces/content.ts";
import { collectSpans } from "../../../src/front/traces/gather.ts";
import { traceSettings } from "../../../src/front/traces/settings.ts";
import type { StoredEvent } from "../../../src/ledger/store.ts";

function ledger(...events: [actor: string, type: string, data: object][]): StoredEvent[] {
  return events.map(([actor, type, data], i) => ({
    ...{ seq: i + 1, id: `evt_${i + 1}`, at: 1_000 * (i + 1), actor, type, data, v: 1, touches: [] },
  }));
}

const spansOf = (events: readonly StoredEvent[], context = "ctx_a", content?: SpanContent) => {
  const spans = collectSpans(context, content);
  for (const event of events) spans.observe(event);
  return spans.take();
};

const started = (turnId: string) => ({ turnId, cause: "input" });
const ended = (turnId: string, reason = "done") => ({ turnId, reason, text: "" });
const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 };
const reply = { model: "google/gemini-x", parts: [], finish: "stop", usage };
const finished = { callId: "c1", name: "bash", content: [], isError: true, durationMs: 500 };

test("a model call begins with what was recorded before it; its retries are events of its span", () => {
  const spans = spansOf(
    ledger(
      ["lead", "turn.started", started("t1")],
      ["lead", "request.changed", {}],
      ["lead", "model.retried", { kind: "overloaded", attempt: 1, delayMs: 9.6, status: 529, model: "m", message: "" }],
      ["lead", "reply.received", { ...reply, askedAt: 3_900 }],
      ["lead", "turn.ended", ended("t1", "failed")],
    ),
  );
  expect(spans.map(({ name, from, to, failed }) => [name, from, to, failed])).toEqual([
    ["chat gemini-x", 2_000, 3_900, false],
    ["invoke_agent lead", 1_000, 5_000, true],
  ]);
  expect(spans[0]?.events).toEqual([
    {
      ...{ name: "holdfast.model.retried", at: 3_000 },
      attributes: {
        ...{ "error.type": "overloaded", "http.response.status_code": 529 },
        ...{ "holdfast.retry.attempt": 1, "holdfast.retry.delay_ms": 10 },
      },
    },
  ]);
  expect(spans.map(({ attributes }) => attributes["gen_ai.provider.name"])).toEqual(["gcp.gemini", "gcp.gemini"]);
  expect(spans[1]?.attributes).toMatchObject({ "error.type": "failed", "gen_ai.usage.input_tokens": 8 });
});

test("what a copy brought with it are no spans of its own", () => {
  const spans = spansOf(
    ledger(
      ["lead", "turn.started", started("t1")],
      ["lead", "reply.received", reply],
      ["lead", "turn.ended", ended("t1")],
      ["user", "context.forked", { context: "ctx_b", checkpoint: "c", seq: 3, title: "" }],
      ["lead", "turn.started", started("t2")],
      ["lead", "turn.ended", ended("t2")],
    ),
  );
  expect(spans.map(({ turn, from }) => [turn, from])).toEqual([["t2", 5_000]]);
});

test("a turn that goes on in a fork is a trace of its own, linked to the turn that it was copied from", () => {
  const [begun, replied, ...rest] = ledger(
    ["lead", "turn.started", started("t1")],
    ["lead", "reply.received", reply],
    ["user", "context.forked", { context: "ctx_a", checkpoint: "event 2", seq: 2, title: "", goesOn: true }],
    ["lead", "reply.received", reply],
    ["lead", "tool.finished", { ...finished, denied: "no", refusal: { code: "rule" } }],
    ["lead", "turn.ended", ended("t1")],
  );
  const { seq, at } = rest[0]!;
  const original = spansOf([begun!, replied!, { ...rest.at(-1)!, id: "evt_end", seq, at }]);
  const spans = spansOf([begun!, replied!, ...rest], "ctx_b");
  expect(spans.map(({ name, turn, from, to }) => [name, turn, from, to])).toEqual([
    ["chat gemini-x", "t1", 3_000, 4_000],
    ["execute_tool bash", "t1", 4_500, 5_000],
    ["invoke_agent lead", "t1", 3_000, 6_000],
  ]);
  const [whole, root] = [original.at(-1)!, spans.at(-1)!];
  expect(root).toMatchObject({ link: { traceId: whole.traceId, spanId: whole.spanId } });
  expect(root.attributes).toMatchObject({ "holdfast.turn.rounds": 1, "gen_ai.usage.output_tokens": 2 });
  expect(spans.map(({ traceId, parentSpanId }) => [traceId, parentSpanId])).toEqual([
    ...[
      [root.traceId, root.spanId],
      [root.traceId, root.spanId],
      [root.traceId, undefined],
    ],
  ]);
  const ids = [...original, ...spans].map(({ spanId }) => spanId);
  expect([new Set(ids).size, root.traceId === whole.traceId]).toEqual([5, false]);

  // A fork of the fork is linked to the fork.
  const again = [
    "user",
    "context.forked",
    { context: "ctx_b", checkpoint: "event 4", seq: 4, title: "", goesOn: true },
  ];
  const [copied] = ledger(again as [string, string, object]);
  const second = { ...copied!, ...{ id: "evt_again", seq: 5, at: 5_000 } };
  const third = spansOf([begun!, replied!, ...rest.slice(0, 2), second, { ...rest.at(-1)!, seq: 6 }], "ctx_c");
  expect(third.map(({ name, link }) => [name, link])).toEqual([
    ["invoke_agent lead", { traceId: root.traceId, spanId: root.spanId }],
  ]);
});

test("what a model wrote where a name stands is no name of a span, unless texts are asked for", () => {
  const words = "the password is hunter2";
  const events = ledger(
    [words, "turn.started", started("t1")],
    [words, "tool.finished", { ...finished, name: words, callId: words }],
    [words, "tool.finished", { ...finished, name: "edit_file" }],
    [words, "tool.started", { callId: "c3", name: "mcp__x__y", input: {}, effect: "external", cwd: "/" }],
    [words, "tool.finished", { ...finished, name: "mcp__x__y", callId: "c3" }],
    [words, "tool.finished", { ...finished, name: "mcp__x__y", callId: "c4" }],
    [words, "turn.ended", ended("t1")],
  );
  const spans = spansOf(events);
  expect(JSON.stringify(spans.map(({ agent: _, ...span }) => span))).not.toContain("password");
  expect(
    spans.map(({ name, attributes }) => [name, attributes["gen_ai.tool.name"], attributes["gen_ai.tool.call.id"]]),
  ).toEqual([
    ["execute_tool unknown", "unknown", undefined],
    ["execute_tool edit_file", "edit_file", "c1"],
    ["execute_tool mcp__x__y", "mcp__x__y", "c3"],
    ["execute_tool mcp__x__y", "mcp__x__y", "c4"],
    [expect.stringMatching(/^invoke_agent agent-[0-9a-f]{8}$/), undefined, undefined],
  ]);
  const { attributes } = spans.at(-1)!;
  expect(attributes["gen_ai.agent.id"]).toBe(`ctx_a/${attributes["gen_ai.agent.name"]}`);
  const content = captureContent((text) => text.replaceAll("hunter2", "[redacted]"));
  expect(spansOf(events, "ctx_a", content).map(({ name }) => name)).toEqual([
    "execute_tool the password is [redacted]",
    ...["execute_tool edit_file", "execute_tool mcp__x__y", "execute_tool mcp__x__y"],
    "invoke_agent the password is [redacted]",
  ]);
});

test("a turn that a restore left behind ends where it was left; a refused call failed by its refusal", () => {
  const spans = spansOf(
    ledger(
      ["lead", "turn.started", started("t1")],
      ["lead", "tool.finished", { ...finished, denied: "no", refusal: { code: "rule" } }],
      ["user", "context.restored", { checkpoint: "c", seq: 1, conversation: true, data: false, files: false }],
      ["lead", "turn.started", started("t2")],
    ),
  );
  expect(spans.map(({ name, to, failed, attributes }) => [name, to, failed, attributes["error.type"]])).toEqual([
    ["execute_tool bash", 2_000, true, "refused.rule"],
    ["invoke_agent lead", 2_000, false, undefined],
  ]);
  expect(spans[1]?.attributes["holdfast.turn.reason"]).toBe("left");
});

test("what is not wanted is kept while its turn is not over, and the same events give the same ids", () => {
  const events = ledger(
    ["lead", "turn.started", started("t1")],
    ["lead", "reply.received", reply],
    ["lead", "turn.ended", ended("t1")],
  );
  const spans = collectSpans("ctx_a");
  for (const event of events.slice(0, 2)) spans.observe(event);
  expect([spans.take((_, over) => over !== undefined), spans.size]).toEqual([[], 1]);
  spans.observe(events[2]!);
  const taken = spans.take((_, over) => over !== undefined);
  expect([taken, spans.size]).toEqual([spansOf(events), 0]);
  expect(taken.map(({ traceId, spanId }) => [traceId.length, spanId.length])).toEqual([
    [32, 16],
    [32, 16],
  ]);
});

test("the endpoint, its headers and who it is come from the usual variables", () => {
  const { settings } = traceSettings({
    OTEL_EXPORTER_OTLP_ENDPOINT: "https://c.example/otel/",
    OTEL_EXPORTER_OTLP_HEADERS: "a=1,b=x%3Dy, ,broken",
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: "a=2",
    OTEL_EXPORTER_OTLP_TIMEOUT: "70",
    OTEL_RESOURCE_ATTRIBUTES: "service.name=x,deployment.environment.name=a%20b",
  });
  expect({ ...settings, endpoint: { ...settings.endpoint, url: settings.endpoint?.url.href } }).toEqual({
    endpoint: { url: "https://c.example/otel/v1/traces", headers: { a: "2", b: "x=y" }, timeoutMs: 70 },
    resource: {
      ...{ "service.name": "x", "deployment.environment.name": "a b" },
      "service.version": expect.any(String),
    },
    content: false,
  });
  const says = (env: Record<string, string>) => traceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://x", ...env }).says;
  expect([
    says({}),
    says({ OTEL_TRACES_EXPORTER: "none" }),
    says({ OTEL_TRACES_EXPORTER: "zipkin" }),
    says({ OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/protobuf" }),
    says({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "file:///x" }),
  ]).toEqual([
    undefined,
    undefined,
    expect.stringContaining("only otlp"),
    expect.stringContaining("only http/json"),
    expect.stringContaining("no http address"),
  ]);
});
