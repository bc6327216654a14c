// OTLP/HTTP in JSON: the body of one request, as the official exporter writes it.
import { VERSION } from "../../version.ts";
import type { Attributes, AttributeValue, RecordedSpan } from "./span.ts";

const KINDS = { internal: 1, client: 3 } as const;
const STATUS = { unset: 0, error: 2 } as const;
/** Sampled, and known not to come from elsewhere. */
const FLAGS = 0x101;
const SCOPE = "holdfast";

type AnyValue =
  | { stringValue: string }
  | { intValue: number }
  | { doubleValue: number }
  | { boolValue: boolean }
  | { arrayValue: { values: AnyValue[] } };

interface KeyValue {
  key: string;
  value: AnyValue;
}

/** Contract: `resource` has the name of the service. */
export function otlpBody(spans: readonly RecordedSpan[], resource: Attributes): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: keyValues(resource), droppedAttributesCount: 0 },
        scopeSpans: [{ scope: { name: SCOPE, version: VERSION }, spans: spans.map(otlpSpan) }],
      },
    ],
  });
}

const otlpSpan = (span: RecordedSpan) => ({
  ...{ traceId: span.traceId, spanId: span.spanId },
  ...(span.parentSpanId !== undefined && { parentSpanId: span.parentSpanId }),
  ...{ name: span.name, kind: KINDS[span.kind] },
  ...{ startTimeUnixNano: nanoseconds(span.from), endTimeUnixNano: nanoseconds(span.to) },
  ...{ attributes: keyValues(span.attributes), droppedAttributesCount: 0 },
  events: span.events.map(({ name, at, attributes }) => ({
    ...{ attributes: keyValues(attributes), name, timeUnixNano: nanoseconds(at), droppedAttributesCount: 0 },
  })),
  droppedEventsCount: 0,
  status: { code: span.failed ? STATUS.error : STATUS.unset },
  links: span.link ? [{ attributes: [], ...span.link, flags: FLAGS, droppedAttributesCount: 0 }] : [],
  ...{ droppedLinksCount: 0, flags: FLAGS },
});

/** A number of 64 bits does not fit into JSON's: it is a text. */
const nanoseconds = (ms: number): string => (BigInt(Math.round(ms)) * 1_000_000n).toString();

const keyValues = (attributes: Attributes): KeyValue[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));

function anyValue(value: AttributeValue): AnyValue {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number") return Number.isInteger(value) ? { intValue: value } : { doubleValue: value };
  return { arrayValue: { values: value.map(anyValue) } };
}
