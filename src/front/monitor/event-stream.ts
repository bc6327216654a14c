// Server-sent events: messages with ids, a sign of life in between, and an end when the reader goes. So many at once, and no more.
import { inertJson } from "./inert-json.ts";

const ALIVE_MS = 15_000;

interface StreamMessage {
  id: string;
  data: unknown;
}

export type Messages = (signal: AbortSignal) => AsyncGenerator<StreamMessage, void>;

export interface EventStreams {
  /** Contract: undefined where too many are open. `messages` is ended when the reader goes; nothing is read ahead of a slow reader but what lies in its buffer. */
  open(request: Request, messages: Messages): Response | undefined;
}

const HEADERS = { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" };

export function createEventStreams({ most }: { most: number }): EventStreams {
  let open = 0;
  return {
    open(request, messages) {
      // Whoever asks only for the head is told that there is a stream; nobody would ever read it.
      if (request.method === "HEAD") return new Response(null, { headers: HEADERS });
      if (open >= most) return undefined;
      open++;
      let isOpen = true;
      const body = streamOf(messages, request.signal, () => {
        if (isOpen) open--;
        isOpen = false;
      });
      return new Response(body, { headers: HEADERS });
    },
  };
}

function streamOf(messages: Messages, reader: AbortSignal, onEnd: () => void): ReadableStream<Uint8Array> {
  const ends = new AbortController();
  const source = messages(AbortSignal.any([ends.signal, reader]));
  const encoder = new TextEncoder();
  let alive: NodeJS.Timeout | undefined;
  const over = () => {
    clearInterval(alive);
    reader.removeEventListener("abort", over);
    ends.abort();
    onEnd();
  };
  return new ReadableStream<Uint8Array>({
    start(controller) {
      // At once: whoever connected knows that it is.
      controller.enqueue(encoder.encode(": holdfast\n\n"));
      // Not to one who does not read: what waits for it is a sign of life already.
      const sign = () => (controller.desiredSize ?? 0) > 0 && controller.enqueue(encoder.encode(": alive\n\n"));
      alive = setInterval(sign, ALIVE_MS);
      alive.unref();
      reader.addEventListener("abort", over);
      if (reader.aborted) over();
    },
    async pull(controller) {
      try {
        const { value, done } = await source.next();
        if (!done) {
          controller.enqueue(encoder.encode(`id: ${value.id}\ndata: ${inertJson(JSON.stringify(value.data))}\n\n`));
          return;
        }
      } catch {
        // It cannot be read on now: its reader comes back for what it has not heard, and gets the reason then.
      }
      over();
      controller.close();
    },
    async cancel() {
      over();
      await source.return();
    },
  });
}
