// What an agent knows of files: the hash it last read or wrote, so that nobody's work is overwritten unread.
import { hash } from "node:crypto";
import type { ToolOutput, Turn } from "../loop/seams.ts";

/** By agent, then by real path: the hash it saw last, the event that says so, the input that brought it, and the last calls that read and wrote it. */
export type SeenFiles = Record<
  string,
  Record<string, { hash: string; seq: number; inputId?: string; read?: string; wrote?: string }>
>;

export const SEEN_SLICE = "files";

// What this turn saw and the ledger does not yet hold: several calls of one reply may touch the same file.
const fresh = new WeakMap<Turn, Map<string, string>>();

export const hashOf = (bytes: Uint8Array): string => hash("sha256", bytes, "hex");

export function hasSeen(turn: Turn, path: string, fileHash: string): boolean {
  return (
    fresh.get(turn)?.get(path) === fileHash || turn.slice<SeenFiles>(SEEN_SLICE)[turn.agent]?.[path]?.hash === fileHash
  );
}

export function everSaw(turn: Turn, path: string): boolean {
  return fresh.get(turn)?.has(path) === true || turn.slice<SeenFiles>(SEEN_SLICE)[turn.agent]?.[path] !== undefined;
}

/** What an input brings of files is read as if by a call. */
export interface SeenFile {
  /** The real one. */
  path: string;
  hash: string;
}

export const seenFacts = (files: readonly SeenFile[], inputId?: string): NonNullable<ToolOutput["events"]> =>
  files.map(({ path, hash }) => ({ type: "file.seen", data: { path, hash, ...(inputId && { inputId }) } }));

/** The call that saw it, and how. */
export interface SeenBy {
  callId: string;
  how: "read" | "wrote";
}

/** The facts to record with the result; none when the ledger knows already. */
export function markSeen(turn: Turn, path: string, fileHash: string, by?: SeenBy): NonNullable<ToolOutput["events"]> {
  let seen = fresh.get(turn);
  if (!seen) {
    seen = new Map();
    fresh.set(turn, seen);
  }
  seen.set(path, fileHash);
  const known = turn.slice<SeenFiles>(SEEN_SLICE)[turn.agent]?.[path];
  if (known?.hash === fileHash && (by?.how !== "wrote" || known.wrote !== undefined)) return [];
  return [{ type: "file.seen", data: { path, hash: fileHash, ...by } }];
}
