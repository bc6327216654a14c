// The rehearsal model: the built-in offline model that plans a few known requests, or plays a script. Not an AI.
import path from "node:path";
import type { Limits, Model } from "../model.ts";
import { nextReply } from "./planner.ts";
import { type RehearsalScript, readScript, roundFor } from "./script.ts";
import { type Draft, streamReply } from "./stream.ts";

const LIMITS: Limits = { contextTokens: 200_000, outputTokens: 16_000, images: false, documents: false };
const CHUNKS = 4;

/**
 * Contract: stateless; the same items and tools always give the same reply. With `script`, a bad file throws HoldfastError
 * `invalid` at the first reply; call `readScript` first to know sooner.
 */
export function createRehearsal(opts: { script?: string } = {}): Model {
  const file = opts.script === undefined ? undefined : path.resolve(opts.script);
  const id = file === undefined ? "rehearsal/planner" : "rehearsal/script";
  let script: Promise<RehearsalScript> | undefined;
  return {
    id,
    limits: LIMITS,
    async reply(request, { signal, onDelta }) {
      if (file !== undefined) script ??= readScript(file);
      const planned = (): Draft => ({ ...nextReply(request), chunks: CHUNKS, delayMs: 0 });
      const draft = script ? roundFor(await script, request.items) : planned();
      return streamReply(draft, { model: id, request, signal, onDelta });
    },
  };
}
