// How a context was started: written by the front door alone, read back when somebody goes on with it.

import type { EventInput, Seq, Store, StoredEvent } from "../ledger/store.ts";
import { contextEvents } from "./events.ts";

/** What was chosen for the work. Never an endpoint, never a key. */
export interface Start {
  model?: string;
  fallbackModels?: string[];
  agent?: string;
  maxRounds?: number;
  contextWindow?: number;
  approvals?: "deny" | "wait";
  appendSystemPrompt?: string;
  systemPrompt?: string;
  /** Settings were given by --settings. Of what they say only deny and ask rules are kept: it may hold anything. */
  settings?: boolean;
  permissionMode?: string;
  allow?: string[];
  deny?: string[];
  ask?: string[];
  /** Absolute. */
  directories?: string[];
  /** Absolute. What they hold is trusted by its content, then and now. */
  pluginDirs?: string[];
  /** MCP servers were given by --mcp-config: files by their place and the hash of their text. Of JSON only that there was some: it may hold keys. */
  mcpConfig?: { files: { file: string; hash: string }[]; json: boolean };
  strictMcpConfig?: boolean;
}

/** Where and by whom it was given: what widens is taken up only where all of it is the same. */
export interface GivenIn {
  ledger: string;
  project: string;
  /** The very store: a copy of it is another one. */
  store: string;
  user: string;
  machine: string;
  /** Of the repository's own configuration as the user trusts it. */
  trust: string;
}

export interface Remembered {
  start: Start;
  given: GivenIn;
  /** Whoever reads it tells whether it fits: only where it was given can it be made. */
  seal?: string;
  /** It came in with an import: whoever wrote the file says so, nobody here. */
  imported: boolean;
}

/** No agent has this name, and facts of agents and tools carry their agent's. */
const FRONT_DOOR = "user";
const STARTED = "ctx:start";
const IMPORTED = "ctx:import";

export const startedEvent = (start: Start, given: GivenIn, seal?: string): EventInput => ({
  type: "context.started",
  actor: FRONT_DOOR,
  touches: [STARTED],
  data: { ...start, given, ...(seal !== undefined && { seal }) },
});

/** Stands behind everything that was copied: what those events say of permissions counts no more. */
export const importedEvent = (from: { context: string; events: Seq; root?: string }): EventInput => ({
  type: "context.imported",
  v: contextEvents["context.imported"].v,
  actor: FRONT_DOOR,
  touches: [IMPORTED],
  data: from,
});

/** How it was last started. Contract: two lookups and one event, however long the ledger is. */
export async function readStart(store: Store, context: string): Promise<Remembered | undefined> {
  const seq = await store.version(context, STARTED);
  if (seq === 0) return undefined;
  let event: StoredEvent | undefined;
  for await (const one of store.read(context, { after: seq - 1, upTo: seq })) event = one;
  const { v, schema } = contextEvents["context.started"];
  if (event?.type !== "context.started" || event.actor !== FRONT_DOOR || event.v !== v) return undefined;
  const parsed = schema().safeParse(event.data);
  if (!parsed.success) return undefined;
  const { given, seal, ...start } = parsed.data;
  return {
    start,
    given,
    ...(seal !== undefined && { seal }),
    imported: (await store.version(context, IMPORTED)) > seq,
  };
}
