// The first facts of a context, whoever makes it: the loop, or a program that only shares data.
import type { EventInput, Write } from "../ledger/store.ts";
import { LEAD_AGENT, type Summary } from "./listing.ts";

export interface NewContext {
  id: string;
  title: string;
  /** The tree that agents work in. Undefined: it has no lead yet. */
  root?: string;
  /** Whose folder that is, where other machines reach the store. */
  machine?: string;
  author: string;
  /** Of what made it. */
  version: string;
  /** What else is true from its first moment. */
  facts: EventInput[];
  summary?: Summary;
}

/** Touched by the first event of every context. */
export const CONFIG = "ctx:config";

export function newContext({ id, title, root, machine, author, version, facts, summary }: NewContext): Write {
  const data = { root: root ?? "", title, version, ...(machine !== undefined && { machine }) };
  const lead = { type: "agent.created", actor: LEAD_AGENT, data: { name: LEAD_AGENT, cwd: root } };
  return {
    ledger: id,
    events: [
      { type: "context.created", actor: author, touches: [CONFIG], data },
      ...(root === undefined ? [] : [lead]),
      ...facts,
    ],
    summary: { title, root: root ?? "", open: false, reason: null, rounds: 0, ...summary } satisfies Summary,
  };
}
