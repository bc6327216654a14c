// Server-sent events: messages with ids, a sign of life in between, and an end when the reader goes.

const ALIVE_MS = 15_000;

export interface StreamMessage {
  id: string;
  data: unknown;
}

/** Contract: `messages` is ended when the reader goes; nothing is read ahead of a slow reader but what lies in its buffer. */
export function eventStream(
  messages: (signal: AbortSignal) => AsyncGenerator<StreamMessage, void>,
  reader: AbortSignal,
): Response {
  const ends = new AbortController();
  const source = messages(AbortSignal.any([ends.signal, reader]));
  const encoder = new TextEncoder();
  let alive: NodeJS.Timeout | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      // At once: whoever connected knows that it is.
      controller.enqueue(encoder.encode(": holdfast\n\n"));
      alive = setInterval(() => controller.enqueue(encoder.encode(": alive\n\n")), ALIVE_MS);
      alive.unref();
      reader.addEventListener("abort", () => clearInterval(alive));
    },
    async pull(controller) {
      try {
        const { value, done } = await source.next();
        if (done) {
          clearInterval(alive);
          controller.close();
        } else controller.enqueue(encoder.encode(`id: ${value.id}\ndata: ${JSON.stringify(value.data)}\n\n`));
      } catch (error) {
        clearInterval(alive);
        controller.error(error);
      }
    },
    async cancel() {
      clearInterval(alive);
      ends.abort();
      await source.return();
    },
  });
  return new Response(body, {
    headers: { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
  });
}
