// A stream of the monitor, read as the page reads it.
import { createStreamReader } from "../../../src/front/monitor/page/event-stream.ts";
import type { TestMonitor } from "./monitor.ts";

/** Messages of a stream, in order, with their ids. Contract: ends with the signal or the connection. */
export async function* messages<T>(
  monitor: Pick<TestMonitor, "get">,
  path: string,
  { since, signal }: { since?: string; signal: AbortSignal },
): AsyncGenerator<{ id: string; data: T }> {
  const answer = await monitor.get(path, since === undefined ? {} : { "last-event-id": since }, signal);
  const reader = createStreamReader();
  for await (const piece of answer.body!.pipeThrough(new TextDecoderStream()))
    for (const { id = "", data } of reader.take(piece)) yield { id, data: JSON.parse(data) as T };
}
