// What makes a call old: its file changed by a later one of the same agent, or the same thing done once more. The ledger knows; nothing is guessed.
import { resolve } from "node:path";
import type { RecallEnd, RecallSince } from "../../contexts/recall.ts";
import { isFileTool, isSearch, isWriter } from "../../file-access/file-tools.ts";
import { isRecord } from "../../ledger/guards.ts";
import { sameJson } from "../../ledger/same-json.ts";
import type { CallPart, ResultItem } from "../../models/model.ts";
import type { Recallables } from "./recall-parts.ts";

export function recallEndOf({ isError, exitCode, stopped }: ResultItem): RecallEnd {
  const outcome = stopped === "before" ? "not run" : stopped ? "stopped" : isError ? "failed" : "succeeded";
  return { outcome, ...(exitCode !== undefined && { exitCode }) };
}

/** What a call is about. */
type Subject = { file: string } | { command: string; cwd: string } | { tool: string; input: unknown };

function subjectOf({ name, input }: CallPart, cwd: string): Subject {
  const fields = isRecord(input) ? input : {};
  if (isFileTool(name) && !isSearch(name) && typeof fields.path === "string")
    return { file: resolve(cwd, fields.path) };
  if (name === "bash" && typeof fields.command === "string") return { command: fields.command.trim(), cwd };
  return { tool: name, input };
}

function isSame(a: Subject, b: Subject): boolean {
  if ("file" in a) return "file" in b && a.file === b.file;
  if ("command" in a) return "command" in b && a.command === b.command && a.cwd === b.cwd;
  return "tool" in b && a.tool === b.tool && sameJson(a.input, b.input);
}

/**
 * Of every kind the newest. Later is what has a higher number: calls are counted over all timelines. `root`: of the context, where calls ran that
 * say nothing else.
 */
export function sinceThen({ list, calls }: Recallables, result: ResultItem, root: string): RecallSince[] {
  const call = calls.get(result.callId);
  if (!call) return [];
  const subject = subjectOf(call, result.cwd ?? root);
  const found = new Map<RecallSince["what"], RecallSince>();
  for (const { item, isAbandoned } of list) {
    if (found.size === 2) break;
    if (item.kind !== "result" || numberOf(item.callId) <= numberOf(result.callId)) continue;
    const later = calls.get(item.callId);
    const end = recallEndOf(item);
    if (!later || end.outcome === "not run" || !isSame(subject, subjectOf(later, item.cwd ?? root))) continue;
    const what = isWriter(later.name) && "file" in subject ? "changed" : "again";
    if ("file" in subject && end.outcome === "failed") continue; // it changed nothing, and showed nothing
    if (!found.has(what)) found.set(what, { what, ref: item.callId, tool: later.name, ...end, isAbandoned });
  }
  return [...found.values()];
}

const numberOf = (callId: string): number => Number(callId.slice(1));
