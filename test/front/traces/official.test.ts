// What is written is what OpenTelemetry's own exporter writes for the same spans, field by field; every name is one of its conventions.

import fs from "node:fs";
import path from "node:path";
import { type Attributes, context as ambient, type SpanContext, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { type SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { expect, onTestFinished, test } from "vitest";
import { runCli } from "../../cli/cli.ts";
import { scratch } from "../../turn.ts";
import { type Body, type Collector, said, spansIn, startCollector } from "./collector.ts";

const SCRIPT = `rounds:
  - text: I look
    calls:
      - { name: glob, input: { pattern: "*.md" } }
      - { name: read_file, input: { path: missing.md } }
  - calls:
      - { name: bash, input: { command: "exit 3" } }
  - text: finished
`;

async function recordedTurn(prompt = "go") {
  const opts = { cwd: scratch(onTestFinished), state: scratch(onTestFinished) };
  const script = path.join(opts.state, "script.yaml");
  fs.writeFileSync(script, SCRIPT);
  const { code } = await runCli(["-p", prompt, "--model", `rehearsal:${script}`, "--permission-mode", "bypass"], opts);
  expect(code).toBe(0);
  return opts;
}

const valueIn = ({ arrayValue, ...value }: Body): unknown =>
  arrayValue ? arrayValue.values.map(valueIn) : Object.values(value)[0];
const attributesIn = (all: Body[]): Attributes =>
  Object.fromEntries(all.map(({ key, value }) => [key, valueIn(value)])) as Attributes;
const timeOf = (nano: string): [number, number] => [
  Number(BigInt(nano) / 1_000_000_000n),
  Number(BigInt(nano) % 1_000_000_000n),
];

/** Makes these spans with the official library and has it send them. */
async function sentOfficially(spans: Body[], scope: Body, collector: Collector): Promise<Body> {
  let now: Body;
  const provider = new TracerProvider({
    idGenerator: { generateTraceId: () => now.traceId, generateSpanId: () => now.spanId },
    spanProcessors: [
      { onStart() {}, onEnd: (span) => ended.push(span), forceFlush: async () => {}, shutdown: async () => {} },
    ],
  });
  const ended: Parameters<SimpleSpanProcessor["onEnd"]>[0][] = [];
  const tracer = provider.getTracer(scope.name, scope.version);
  for (now of spans) {
    const above: SpanContext = { traceId: now.traceId, spanId: now.parentSpanId, traceFlags: 1 };
    const parent = now.parentSpanId ? trace.setSpanContext(ambient.active(), above) : ambient.active();
    const links = now.links.map(({ traceId, spanId }: Body) => ({ context: { traceId, spanId, traceFlags: 1 } }));
    const options = { kind: now.kind - 1, startTime: timeOf(now.startTimeUnixNano), root: !now.parentSpanId, links };
    const span = tracer.startSpan(now.name, { ...options, attributes: attributesIn(now.attributes) }, parent);
    for (const { name, attributes, timeUnixNano } of now.events)
      span.addEvent(name, attributesIn(attributes), timeOf(timeUnixNano));
    if (now.status.code !== 0) span.setStatus({ code: now.status.code });
    span.end(timeOf(now.endTimeUnixNano));
  }
  const exporter = new OTLPTraceExporter({ url: `${collector.url}/v1/traces` });
  await new Promise<void>((resolve, reject) => {
    exporter.export(ended, ({ code, error }) => (code === 0 ? resolve() : reject(error)));
  });
  await exporter.shutdown();
  return collector.requests.at(-1)!.body;
}

test("a turn that goes on in a fork is written with its link as the official exporter writes it", async () => {
  const opts = await recordedTurn();
  const json = async (...args: string[]) => JSON.parse((await runCli([...args, "--json"], opts)).stdout);
  const [{ id }] = await json("contexts");
  const collector = await startCollector();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  await runCli(["traces", "send", id], { ...opts, env });
  const original = spansIn(collector.requests[0]!.body);
  const { events } = await json("contexts", "show", id);
  const { seq } = events.findLast(({ type }: Body) => type === "tool.finished");
  const fork = await json("contexts", "fork", id, String(seq));
  expect(fork.goesOn).toBe(true);
  const nothing = await runCli(["traces", "show", fork.id], opts);
  expect([nothing.code, nothing.stdout, nothing.stderr]).toEqual([0, "", `holdfast: ${fork.id} has no spans\n`]);
  const script = path.join(opts.state, "script.yaml");
  const flags = ["--model", `rehearsal:${script}`, "--permission-mode", "bypass"];
  const { code } = await runCli(["-p", "-r", fork.id, ...flags], { ...opts, env });
  const spans = spansIn(collector.requests.at(-1)!.body);
  const [root, whole] = [spans.at(-1), original.at(-1)];
  expect([code, root.name, root.links]).toEqual([
    ...[0, "invoke_agent lead"],
    [expect.objectContaining({ traceId: whole.traceId, spanId: whole.spanId })],
  ]);
  const { scope } = collector.requests.at(-1)!.body.resourceSpans[0].scopeSpans[0];
  expect(spansIn(await sentOfficially(spans, scope, collector))).toEqual(spans);
});

test("a recorded turn is written as the official exporter writes it", async () => {
  const opts = await recordedTurn();
  const collector = await startCollector();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20b" };
  const { stdout } = await runCli(["traces", "send"], { ...opts, env });
  expect(stdout).toBe("7 spans of 1 context sent\n");
  const [own] = collector.requests;
  expect([own!.path, own!.headers["content-type"], own!.headers["x-key"]]).toEqual([
    "/v1/traces",
    "application/json",
    "a b",
  ]);
  const spans = spansIn(own!.body);
  const { scope } = own!.body.resourceSpans[0].scopeSpans[0];
  const official = await sentOfficially(spans, scope, collector);
  expect(collector.requests.at(-1)!.path).toBe("/v1/traces");
  // Whose program it is, each says of itself.
  const { resource, ...rest } = official.resourceSpans[0];
  expect(Object.keys(resource).sort()).toEqual(Object.keys(own!.body.resourceSpans[0].resource).sort());
  expect(own!.body).toEqual({ resourceSpans: [{ ...rest, resource: own!.body.resourceSpans[0].resource }] });
});

test("spans have the names of the conventions, and no text of the conversation", async () => {
  const opts = await recordedTurn();
  const { stdout } = await runCli(["traces", "show"], opts);
  const spans = spansIn(JSON.parse(stdout));
  expect(spans.map(({ name, kind, status }) => [name, kind, status.code])).toEqual([
    [expect.stringMatching(/^chat /), 3, 0],
    ["execute_tool glob", 1, 0],
    ["execute_tool read_file", 1, 2],
    [expect.stringMatching(/^chat /), 3, 0],
    ["execute_tool bash", 1, expect.any(Number)],
    [expect.stringMatching(/^chat /), 3, 0],
    ["invoke_agent lead", 1, 0],
  ]);
  const root = spans.at(-1);
  const [context] = JSON.parse((await runCli(["contexts", "--json"], opts)).stdout);
  for (const span of spans) {
    expect([span.traceId, span.parentSpanId]).toEqual([root.traceId, span === root ? undefined : root.spanId]);
    expect(said(span)).toMatchObject({ "gen_ai.conversation.id": context.id, "gen_ai.agent.name": "lead" });
    expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano));
    expect(BigInt(span.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(root.startTimeUnixNano));
  }
  expect(said(spans[2])).toMatchObject({
    ...{ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read_file", "gen_ai.tool.call.id": "c2" },
    "error.type": "tool_error",
  });
  expect(stdout).not.toMatch(/I look|finished|\*\.md|exit 3/);
  const file = import.meta
    .resolve("@opentelemetry/api")
    .replace(/@opentelemetry\/api\/.*/, "@opentelemetry/semantic-conventions/dist/");
  const conventions = fs.readFileSync(new URL("experimental_attributes.mjs", file), "utf8");
  const names = new Set(spans.flatMap((span) => Object.keys(said(span))).filter((name) => name.startsWith("gen_ai.")));
  expect([...names].filter((name) => !conventions.includes(`"${name}"`))).toEqual([]);
  expect(names.size).toBeGreaterThan(12);
});

test("texts come where they are asked for, without known secrets", async () => {
  const opts = await recordedTurn("go with hunter2-and-more");
  const env = { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true", MY_API_TOKEN: "hunter2-and-more" };
  const { stdout } = await runCli(["traces", "show"], { ...opts, env });
  const spans = spansIn(JSON.parse(stdout));
  const [chat, glob] = spans.map(said);
  expect(JSON.parse(String(chat!["gen_ai.input.messages"]))).toEqual([
    { role: "user", parts: [{ type: "text", content: expect.stringMatching(/^go with \[redacted MY_API_TOKEN\]/) }] },
  ]);
  expect(stdout).not.toContain("hunter2");
  expect(JSON.parse(String(chat!["gen_ai.output.messages"]))[0].parts[1]).toEqual({
    ...{ type: "tool_call", id: "c1", name: "glob", arguments: '{"pattern":"*.md"}' },
  });
  expect(glob!["gen_ai.tool.call.arguments"]).toBe('{"pattern":"*.md"}');
  expect(said(spans.at(-1))["gen_ai.output.messages"]).toContain("finished");
});
