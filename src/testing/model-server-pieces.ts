// What the wires of the scripted model server share: events as text, and what a round means where it says nothing.
import type { ScriptCall, ScriptRound } from "./model-server-script.ts";

export const sse = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;
export const named = (data: { type: string; [field: string]: unknown }) => `event: ${data.type}\n${sse(data)}`;

export const usageOf = (round: ScriptRound) => ({ input: 10, output: 5, cacheRead: 0, cacheWrite: 0, ...round.usage });
export const argumentsOf = (call: ScriptCall) => call.raw ?? JSON.stringify(call.input ?? {});

export function pieces(text: string, count: number): string[] {
  if (text === "") return [];
  const size = Math.max(1, Math.ceil(text.length / count));
  const out: string[] = [];
  for (let at = 0; at < text.length; at += size) out.push(text.slice(at, at + size));
  return out;
}

export function reasoningOf(round: ScriptRound): { text: string; signature?: string; redacted?: string } | undefined {
  if (round.reasoning === undefined) return undefined;
  if (typeof round.reasoning === "string") return { text: round.reasoning };
  return "redacted" in round.reasoning ? { text: "", redacted: round.reasoning.redacted } : round.reasoning;
}
