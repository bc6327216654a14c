// What a request is made of besides the conversation: recorded when it changes, so that every request can be built again.
import { nameBlob } from "../ledger/checksum.ts";
import type { EventInput } from "../ledger/store.ts";
import type { ToolSpec } from "../models/model.ts";
import type { Turn } from "./seams.ts";

export interface RequestParts {
  system: readonly string[];
  tools: readonly ToolSpec[];
}

/** What this process has compared with the ledger: rounds in which nothing changed compare strings, and hash nothing. */
const known = new WeakMap<Turn, RequestParts>();

/** The first time that this process asks: it can stand beside what the round takes in. */
export const isNew = (turn: Turn): boolean => !known.has(turn);

/** Contract: empty where the ledger says so already; what it returns is to be appended before the request is sent. */
export function changedParts(turn: Turn, parts: RequestParts): Omit<EventInput, "actor">[] {
  const before = known.get(turn);
  if (before !== undefined && before.tools === parts.tools && sameTexts(before.system, parts.system)) return [];
  known.set(turn, parts);
  const { sent } = turn.state;
  const specs = JSON.stringify(parts.tools);
  const system = { hash: hashOf(JSON.stringify(parts.system)), blocks: [...parts.system] };
  const tools = { hash: hashOf(specs), specs };
  const data = {
    ...(sent?.system !== system.hash && { system }),
    ...(sent?.tools !== tools.hash && { tools }),
  };
  return Object.keys(data).length === 0 ? [] : [{ type: "request.changed", data }];
}

const hashOf = (text: string): string => nameBlob(Buffer.from(text));

const sameTexts = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((text, i) => text === b[i]);
