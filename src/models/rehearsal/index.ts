// The rehearsal model: the built-in offline model that plans a few known requests, or plays a script. Not an AI.
import path from "node:path";
import type { Item, Limits, Model } from "../model.ts";
import { nextReply } from "./planner.ts";
import { type RehearsalScript, readScript, roundFor, verdictIn } from "./script.ts";
import { type Draft, streamReply } from "./stream.ts";

const LIMITS: Limits = { contextTokens: 200_000, outputTokens: 16_000, images: false, documents: false };
const CHUNKS = 4;

const isOfGoal = (item: Item): boolean => item.kind === "user" && item.note === true && item.from === "goal";

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
      const played = await script;
      const { items } = request;
      const says = (text: string): Draft => ({ text, calls: [], chunks: CHUNKS, delayMs: 0 });
      const judge = items.some(isOfGoal) ? await import("./judge.ts") : undefined;
      const planned = (): Draft => ({ ...says(""), ...nextReply(request, judge?.lookAt) });
      const condition = judge?.conditionAsked(items);
      const draft =
        condition !== undefined
          ? says((played && verdictIn(played, items)) ?? judge?.verdictOn(condition, items) ?? "")
          : played
            ? roundFor(played, items)
            : planned();
      return streamReply(draft, { model: id, request, signal, onDelta });
    },
  };
}
