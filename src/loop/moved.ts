// What a moved project means for a context: every directory that is recorded below the old path is below the new one.
import { thisMachine } from "../ledger/holder.ts";
import type { EventInput } from "../ledger/store.ts";
import type { ContextState } from "./transcript.ts";

export interface RootMove {
  from: string;
  to: string;
}

/** `note`: how a note reads to the model. */
export function applyMoved(state: ContextState, move: RootMove, note: (origin: string, text: string) => string): void {
  const there = (dir: string) => relocate(dir, move);
  state.root = there(state.root);
  for (const agent of Object.values(state.agents)) {
    agent.cwd = there(agent.cwd);
    if (agent.root !== undefined) agent.root = there(agent.root);
    // What was begun is looked for, and goes on, where its files are now.
    for (const { started } of agent.pending) {
      if (!started) continue;
      started.cwd = there(started.cwd);
      started.intent = relocated(started.intent, move);
      started.grants = alike(started.grants, (grants) => relocated(grants, move));
    }
    // The transcript speaks of the old path: whoever reads on must know.
    if (agent.items.length > 0)
      agent.items.push({
        ...{ kind: "user", note: true, from: "holdfast", n: ++agent.said },
        content: [{ type: "text", text: note("holdfast", movedText(move)) }],
      });
  }
  for (const marks of Object.values(state.marks ?? {}))
    for (const mark of Object.values(marks)) {
      mark.cwd = there(mark.cwd);
      if (mark.root !== undefined) mark.root = there(mark.root);
    }
}

export const movedText = ({ from, to }: RootMove): string =>
  `The project's folder was moved: ${from} is now ${to}. Paths below the old one are below the new one.`;

/** A path below the old folder is below the new one. */
export function relocate(value: string, { from, to }: RootMove): string {
  return value === from || value.startsWith(`${from}/`) ? to + value.slice(from.length) : value;
}

/** Every text that is a path below the old folder, however deep. */
function relocated(value: unknown, move: RootMove): unknown {
  if (typeof value === "string") return relocate(value, move);
  if (Array.isArray(value)) return value.map((one) => relocated(one, move));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, relocated(one, move)]));
}

/** Contract: what is made of it has its shape. */
const alike = <T>(value: T, make: (value: T) => unknown): T => make(value) as T;

/** A tree of one's own is on this machine: recorded with the move into it, where other machines reach the store. */
export function withMachine<E extends Omit<EventInput, "actor">>(event: E): E {
  const data = event.data as { root?: string | null; machine?: string };
  if (event.type !== "agent.moved" || typeof data.root !== "string") return event;
  return { ...event, data: { machine: thisMachine(), ...data } };
}
