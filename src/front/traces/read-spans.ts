// Reading the spans of a context from its ledger, further with each call, without holding up whoever else works in this process.
import { setImmediate as nextTick } from "node:timers/promises";
import { isHoldfastError } from "../../ledger/error.ts";
import type { Codec } from "../../ledger/events.ts";
import { isRecord } from "../../ledger/guards.ts";
import { unspill } from "../../ledger/spill.ts";
import type { Seq, Store } from "../../ledger/store.ts";
import type { SpanContent } from "./content.ts";
import { collectSpans, SPAN_TYPES, type SpanCollector } from "./gather.ts";

const STRETCH_MS = 12;

export interface SpanReader extends Omit<SpanCollector, "observe"> {
  /** To the end of what is recorded. */
  readOn(): Promise<void>;
}

export interface SpanReading {
  store: Pick<Store, "read" | "blob">;
  codec: Codec;
  context: string;
  /** Left out: no texts. */
  content?: SpanContent | undefined;
}

export function readSpans({ store, codec, context, content }: SpanReading): SpanReader {
  const spans = collectSpans(context, content);
  let seq: Seq = 0;

  /** Long texts are read only where texts are wanted. */
  async function wholeOf(data: unknown): Promise<unknown> {
    if (!isRecord(data) || !("$spill" in data)) return data;
    return content ? (await unspill(data, store.blob)).data : data.value;
  }

  return {
    take: spans.take,
    get size() {
      return spans.size;
    },
    async readOn() {
      let since = performance.now();
      try {
        for await (const raw of store.read(context, { after: seq, types: [...SPAN_TYPES] })) {
          seq = raw.seq;
          const decoded = codec.decode({ ...raw, data: await wholeOf(raw.data) });
          if (decoded.ok) spans.observe(decoded.event);
          if (performance.now() - since < STRETCH_MS) continue;
          await nextTick();
          since = performance.now();
        }
      } catch (error) {
        if (!isHoldfastError(error, "damaged")) throw error; // what stands before the damage is told
      }
    },
  };
}
