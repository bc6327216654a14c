// How a reply of the rehearsal model goes out: in a few deltas, stoppable between any two, with an estimate of its usage.
import { setTimeout as sleep } from "node:timers/promises";
import { type Delta, type Finish, ModelError, type ModelRequest, type Reply, type ReplyPart } from "../model.ts";

export interface Draft {
  reasoning?: string;
  text: string;
  calls: { name: string; input: unknown; broken?: string }[];
  /** By default what the parts say. */
  finish?: Finish;
  /** How many deltas the text takes. */
  chunks: number;
  /** Waited before each delta, or once when there is no text. */
  delayMs: number;
}

export async function streamReply(
  draft: Draft,
  to: { model: string; request: ModelRequest; signal: AbortSignal; onDelta?: (delta: Delta) => void },
): Promise<Reply> {
  const sent: ReplyPart[] = [];
  const emit = async (type: "text" | "reasoning", text: string) => {
    for (const piece of piecesOf(text, draft.chunks)) {
      await pause(draft.delayMs, to.signal, sent);
      to.onDelta?.({ type, text: piece });
      const last = sent.at(-1);
      if (last?.type === type) last.text += piece;
      else sent.push({ type, text: piece });
    }
  };
  await emit("reasoning", draft.reasoning ?? "");
  await emit("text", draft.text);
  if (sent.length === 0) await pause(draft.delayMs, to.signal, sent);
  // Each reply and each result is an item: no two calls of a transcript have the same number.
  const first = to.request.items.length;
  const calls = draft.calls.map((call, i): ReplyPart => ({ type: "call", id: `c${first + i}`, ...call }));
  for (const call of draft.calls) to.onDelta?.({ type: "call", name: call.name });
  if (to.signal.aborted) throw aborted(sent);
  const parts = [...sent, ...calls];
  return {
    model: to.model,
    parts,
    finish: draft.finish ?? (calls.length > 0 ? "calls" : "stop"),
    usage: { input: tokens(inputSize(to.request)), output: tokens(sizeOf(parts)), cacheRead: 0, cacheWrite: 0 },
  };
}

async function pause(delayMs: number, signal: AbortSignal, sent: ReplyPart[]): Promise<void> {
  // Also without a delay: others get a turn between two deltas, as with a real stream.
  await sleep(delayMs, undefined, { signal }).catch(() => undefined);
  if (signal.aborted) throw aborted(sent);
}

const aborted = (sent: ReplyPart[]): ModelError =>
  new ModelError("aborted", "The reply was interrupted. Send the request again to go on.", {
    partial: structuredClone(sent),
  });

/** Never between the two halves of a surrogate pair. */
function piecesOf(text: string, count: number): string[] {
  const characters = [...text];
  const size = Math.max(1, Math.ceil(characters.length / count));
  const pieces: string[] = [];
  for (let at = 0; at < characters.length; at += size) pieces.push(characters.slice(at, at + size).join(""));
  return pieces;
}

const tokens = (characters: number): number => Math.ceil(characters / 4);

const sizeOf = (value: unknown): number => JSON.stringify(value).length;

/** Items never change, so each is measured once. */
const sizes = new WeakMap<object, number>();

function inputSize(request: ModelRequest): number {
  let size = request.system.reduce((sum, text) => sum + text.length, 0);
  for (const value of [...request.tools, ...request.items]) {
    const known = sizes.get(value) ?? sizeOf(value);
    sizes.set(value, known);
    size += known;
  }
  return size;
}
