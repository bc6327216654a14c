// What a request is made of besides the conversation: recorded when it changes, so that every request can be built again.
import { nameBlob } from "../ledger/checksum.ts";
import { sameJson } from "../ledger/same-json.ts";
import type { EventInput } from "../ledger/store.ts";
import type { ToolSpec } from "../models/model.ts";
import type { SentAs } from "./events.ts";
import type { Agent } from "./loop.ts";
import type { Merged } from "./merge.ts";
import type { ModelCall, Turn } from "./seams.ts";
import { shownHash } from "./shown.ts";
import { toolSpecs } from "./tool-specs.ts";

type Facts = Omit<EventInput, "actor">[];

interface RequestParts {
  system: readonly string[];
  tools: readonly ToolSpec[];
  /** JSON. */
  settings: string;
}

/** What this process has compared with the ledger: rounds in which nothing changed compare strings, and hash nothing. */
const known = new WeakMap<Turn, RequestParts>();

/** Contract: what is new of them becomes durable before the next effect. */
export async function partsOf(agent: Agent): Promise<RequestParts> {
  const parts = await assembled(agent);
  const changed = changedParts(agent.turn, parts);
  if (changed.length > 0) await agent.turn.append(changed, { durability: "deferred" });
  return parts;
}

/** To be recorded with what the first round of a process takes in; nothing in later rounds. */
export const firstParts = async (agent: Agent): Promise<Facts> =>
  known.has(agent.turn) ? [] : changedParts(agent.turn, await assembled(agent));

const assembled = async ({ turn, seams }: Agent): Promise<RequestParts> => ({
  system: await seams.system(turn),
  tools: toolSpecs(seams.tools(turn)),
  settings: known.get(turn)?.settings ?? settingsOf(turn, seams),
});

/** They stay the same as long as a process holds the agent. */
function settingsOf({ model: { id, limits } }: Turn, seams: Merged): string {
  return JSON.stringify({ model: { id, limits }, by: seams.settings() });
}

/** Empty where the ledger says so already. */
function changedParts(turn: Turn, parts: RequestParts): Facts {
  const before = known.get(turn);
  if (before !== undefined && before.tools === parts.tools && sameTexts(before.system, parts.system)) return [];
  known.set(turn, parts);
  const { sent } = turn.state;
  const specs = JSON.stringify(parts.tools);
  const system = { hash: hashOf(JSON.stringify(parts.system)), blocks: [...parts.system] };
  const tools = { hash: hashOf(specs), specs };
  const settings = { hash: hashOf(parts.settings), json: parts.settings };
  const data = {
    ...(sent?.system !== system.hash && { system }),
    ...(sent?.tools !== tools.hash && { tools }),
    ...(sent?.settings !== settings.hash && { settings }),
  };
  return Object.keys(data).length === 0 ? [] : [{ type: "request.changed", data }];
}

/** How the reply in `call` was asked for, where the reply before it was asked otherwise; and the fingerprint of what was shown. `isAltered`: with something else than the seams built. */
export function sentAs(
  { turn, seams }: Agent,
  call: ModelCall,
  { isAltered }: { isAltered: boolean },
): { sentAs?: SentAs; shown: string } {
  const wire = call.model.wire?.(call.request);
  const now: SentAs = {
    maxOutputTokens: call.request.maxOutputTokens,
    ...(wire && { wire }),
    viewedBy: [...seams.viewers],
    ...(isAltered && { isAltered }),
  };
  const shown = shownHash(turn, call.request.items);
  return sameJson(turn.state.sent?.as, now) ? { shown } : { sentAs: now, shown };
}

const hashOf = (text: string): string => nameBlob(Buffer.from(text));

const sameTexts = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((text, i) => text === b[i]);
