// Going back in a conversation: each agent's transcript as it was at a checkpoint, and forward again when that is undone.
import type { contextEvents } from "../contexts/events.ts";
import { LEAD_AGENT } from "../contexts/listing.ts";
import { knownFact } from "../ledger/guards.ts";
import { own } from "../ledger/own.ts";
import type { StoredEvent } from "../ledger/store.ts";
import { type Item, textOf } from "../models/model.ts";
import { sharedItems } from "./item-names.ts";
import type { AgentState, ContextState } from "./transcript.ts";

/** Where an agent stood. `saved` once a restore went behind it: what it had is kept, so that the restore can be undone. */
interface Mark {
  count: number;
  cwd: string;
  root?: string;
  saved?: Item[];
}

/** By the seq of the checkpoint. */
export type Marks = Record<number, Record<string, Mark>>;

export const REWINDS = ["context.checkpointed", "context.restored", "context.forked", "context.imported"];

/** Contract: true when the event was one of these. */
export function applyRewind(state: ContextState, event: StoredEvent): boolean {
  if (event.type === "context.checkpointed") {
    state.marks ??= {};
    state.marks[event.seq] = marksOf(state);
    return true;
  }
  const fact = knownFact<typeof contextEvents>(event);
  if (fact.type === "context.imported") bringHome(state, fact.data.root ?? "");
  if (fact.type === "context.forked" || fact.type === "context.imported") {
    const goesOn = fact.type === "context.forked" && fact.data.goesOn ? LEAD_AGENT : undefined;
    // The original goes on with what was open, and its inputs wait there; this one begins with what was done.
    for (const agent of Object.values(state.agents)) {
      if (agent.name === goesOn && agent.turn && agent.pending.length === 0) goOn(agent, agent.turn);
      else settle(agent, closed(agent.items, COPIED));
    }
    return true;
  }
  if (fact.type !== "context.restored") return false;
  const { seq, conversation } = fact.data;
  if (conversation) rewind(state, seq, event.seq - 1);
  return true;
}

/** Whatever folders a file names: its agents work in the tree that it was imported into. */
function bringHome(state: ContextState, root: string): void {
  state.root = root;
  const everyone = [...Object.values(state.agents), ...Object.values(state.marks ?? {}).flatMap(Object.values<Mark>)];
  for (const one of everyone) Object.assign(one, { cwd: root, root: undefined });
}

/** What stands for the result of a call that was open then, in a copy and after going back. */
export const COPIED =
  "Open where this conversation was copied from: it is finished there, not here. Whether it had an effect is unknown; look before you repeat it.";
export const LEFT =
  "The conversation went back to a checkpoint before this call had a result. Look before you repeat it.";

const marksOf = (state: ContextState): Record<string, Mark> =>
  Object.fromEntries(
    Object.values(state.agents).map((a) => [a.name, { count: a.items.length, cwd: a.cwd, root: a.root }]),
  );

/** `before` is the checkpoint that the restore made of what it leaves. */
function rewind(state: ContextState, to: number, before: number): void {
  state.marks ??= {};
  state.marks[before] ??= marksOf(state);
  for (const agent of Object.values(state.agents)) {
    const mark = own(state.marks[to] ?? {}, agent.name);
    const items = closed(mark?.saved ?? agent.items.slice(0, mark?.count ?? 0), LEFT);
    const shared = sharedItems(agent.items, items);
    for (const at of Object.values(state.marks)) keepFor(own(at, agent.name), agent.items, shared);
    if (mark) Object.assign(agent, { cwd: mark.cwd, root: mark.root });
    settle(agent, items);
  }
}

/** A mark behind what both have keeps what it had: from here on other items stand there. */
function keepFor(mark: Mark | undefined, items: Item[], shared: number): void {
  if (mark && !mark.saved && mark.count > shared) mark.saved = items.slice(0, mark.count);
}

/** Nothing is open in the past: what waited then waits no more. */
function settle(agent: AgentState, items: Item[]): void {
  agent.items = items;
  agent.pending = [];
  agent.queue = [];
  agent.turn = undefined;
  const last = items.findLast((item) => item.kind === "reply");
  const text = last?.kind === "reply" ? textOf(last.parts) : "";
  if (agent.lastTurn) agent.lastTurn = { ...agent.lastTurn, reason: "done", text, error: undefined };
}

/** Its next request is the one that the original sent there. */
function goOn(agent: AgentState, turn: NonNullable<AgentState["turn"]>): void {
  agent.queue = [];
  agent.turn = { ...turn, isTakenIn: true };
}

/** Every call of the last reply has a result: those that were open get `text`. */
function closed(items: Item[], text: string): Item[] {
  const at = items.findLastIndex((item) => item.kind === "reply");
  const reply = items[at];
  if (reply?.kind !== "reply") return [...items];
  const later = items.slice(at + 1);
  const results = reply.parts.flatMap((part): Item[] => {
    if (part.type !== "call") return [];
    const done = later.find((item) => item.kind === "result" && item.callId === part.id);
    const content = [{ type: "text" as const, text }];
    return [done ?? { kind: "result", callId: part.id, name: part.name, content, isError: true, standsIn: true }];
  });
  return [...items.slice(0, at + 1), ...results, ...later.filter((item) => item.kind !== "result")];
}
