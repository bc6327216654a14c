// What makes a call old: its file changed by a later one of the same agent, or the same thing done once more. The ledger knows; nothing is guessed.
import { basename, resolve } from "node:path";
import type { RecallEnd, RecallSince } from "../../contexts/recall.ts";
import { isFileTool, isSearch, isWriter } from "../../file-access/file-tools.ts";
import { isRecord } from "../../ledger/guards.ts";
import { sameJson } from "../../ledger/same-json.ts";
import type { CallPart, ResultItem } from "../../models/model.ts";
import { newestFirst, type RecallTimelines } from "./recall-parts.ts";

export function recallEndOf({ isError, exitCode, stopped }: ResultItem): RecallEnd {
  const outcome = stopped === "before" ? "not run" : stopped ? "stopped" : isError ? "failed" : "succeeded";
  return { outcome, ...(exitCode !== undefined && { exitCode }) };
}

/** Whether a call is about the same thing. */
type SameThing = (call: CallPart, cwd: string) => boolean;

function sameFile(path: string, cwd: string): SameThing {
  const [name, whole] = [basename(path), resolve(cwd, path)];
  return (other, at) => {
    const theirs = fileOf(other);
    return theirs !== undefined && basename(theirs) === name && resolve(at, theirs) === whole;
  };
}

const sameCommand =
  (command: string, cwd: string): SameThing =>
  (other, at) =>
    at === cwd && commandOf(other)?.trim() === command.trim();

const sameCall =
  (call: CallPart): SameThing =>
  (other) =>
    other.name === call.name && sameJson(other.input, call.input);

const field = ({ input }: CallPart, name: string): string | undefined => {
  const value = isRecord(input) ? input[name] : undefined;
  return typeof value === "string" ? value : undefined;
};
const fileOf = (call: CallPart): string | undefined =>
  isFileTool(call.name) && !isSearch(call.name) ? field(call, "path") : undefined;
const commandOf = (call: CallPart): string | undefined => (call.name === "bash" ? field(call, "command") : undefined);

/**
 * Of every kind the newest. Later is what has a higher number: calls are counted over all timelines. `root`: of the context, where calls ran that
 * say nothing else.
 */
export function sinceThen(
  timelines: RecallTimelines,
  { item: result, call }: { item: ResultItem; call?: CallPart | undefined },
  root: string,
): RecallSince[] {
  if (!call) return [];
  const cwd = result.cwd ?? root;
  const [file, command] = [fileOf(call), commandOf(call)];
  const isSame =
    file !== undefined ? sameFile(file, cwd) : command !== undefined ? sameCommand(command, cwd) : sameCall(call);
  const found = new Map<RecallSince["what"], RecallSince>();
  for (const { item, call: later, isAbandoned } of newestFirst(timelines)) {
    if (item.kind !== "result" || !later) continue;
    if (numberOf(item.callId) <= numberOf(result.callId)) break;
    if (!isSame(later, item.cwd ?? root)) continue;
    const end = recallEndOf(item);
    if (end.outcome === "not run" || (file !== undefined && end.outcome === "failed")) continue; // nothing came of it
    const what = file !== undefined && isWriter(later.name) ? "changed" : "again";
    if (!found.has(what)) found.set(what, { what, ref: item.callId, tool: later.name, ...end, isAbandoned });
    if (found.size === (file === undefined ? 1 : 2)) break;
  }
  return [...found.values()];
}

const numberOf = (callId: string): number => Number(callId.slice(1));
