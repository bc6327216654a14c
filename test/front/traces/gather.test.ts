// Spans of ledgers that went odd ways: copies, restores, refusals, retries. Always the same spans for the same events.
import { expect, test } from "vitest";
import { collectSpans } from "../../../src/front/traces/gather.ts";
import { traceSettings } from "../../../src/front/traces/settings.ts";
import type { StoredEvent } from "../../../src/ledger/store.ts";

function ledger(...events: [actor: string, type: string, data: object][]): StoredEvent[] {
  return events.map(([actor, type, data], i) => ({
    ...{ seq: i + 1, id: `evt_${i + 1}`, at: 1_000 * (i + 1), actor, type, data, v: 1, touches: [] },
  }));
}

const spansOf = (events: readonly StoredEvent[]) => {
  const spans = collectSpans("ctx_a");
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
