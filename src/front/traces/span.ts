// A span as it is recorded: what OTLP wants, before it is written. Its ids come from ids of events, so that whoever writes it down gives it the same.
import { hash } from "node:crypto";

export type AttributeValue = string | number | boolean | readonly string[];
export type Attributes = Readonly<Record<string, AttributeValue>>;

export interface SpanEvent {
  name: string;
  at: number;
  attributes: Attributes;
}

export interface SpanPlace {
  traceId: string;
  spanId: string;
}

export interface RecordedSpan extends SpanPlace {
  parentSpanId?: string;
  name: string;
  kind: "internal" | "client";
  /** Wall-clock milliseconds. */
  from: number;
  to: number;
  attributes: Attributes;
  events: readonly SpanEvent[];
  /** The span that it goes on from, in another trace. */
  link?: SpanPlace;
  failed: boolean;
  /** Whose it is, and the turn it is part of. */
  agent: string;
  turn: string;
}

/** Where a trace begins. */
export const placeIn = (context: string, event: string): SpanPlace => ({
  ...{ traceId: traceIdOf(context, event), spanId: spanIdOf(context, event) },
});

/** 16 bytes, in hexadecimal. */
const traceIdOf = (context: string, event: string): string => idOf(`trace ${context} ${event}`, 32);

/** 8 bytes, in hexadecimal. */
export const spanIdOf = (context: string, event: string): string => idOf(`span ${context} ${event}`, 16);

/** Contract: never all zeros, which would be no id. */
function idOf(text: string, digits: number): string {
  const id = hash("sha256", text, "hex").slice(0, digits);
  return /[^0]/.test(id) ? id : `${id.slice(1)}1`;
}
