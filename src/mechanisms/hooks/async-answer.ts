// The answer `{"async": true}`: a hook that says so on its first line is not waited for any longer, and what it prints later is its answer.
import { isRecord } from "../../ledger/guards.ts";

/** Nobody writes a longer one. */
const LONGEST = 4096;

/** What the first line of its output says: it goes on by itself, for so long at most; `more`: it is not whole yet. */
export function asyncAnswer(stdout: string): { timeoutMs?: number } | "more" | undefined {
  const text = stdout.trimStart();
  if (text === "" && stdout.length < LONGEST) return "more";
  if (!text.startsWith("{")) return undefined;
  const end = text.indexOf("\n");
  const value = objectIn(end < 0 ? text : text.slice(0, end));
  if (value) {
    if (value.async !== true) return undefined;
    const { asyncTimeout: ms } = value;
    return typeof ms === "number" && ms > 0 ? { timeoutMs: Math.min(ms, 2 ** 31 - 1) } : {};
  }
  return end < 0 && text.length < LONGEST ? "more" : undefined;
}

/** The first line after that one that is an answer; other lines are for nobody. */
export function laterAnswer(stdout: string): string {
  const [, ...later] = stdout.trimStart().split("\n");
  return later.find((line) => objectIn(line) !== undefined) ?? "";
}

function objectIn(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
