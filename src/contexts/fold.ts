// The light fold of a context: for every key the list of what happened to it, as references. It never holds a value.
import type { Fact } from "../ledger/events.ts";
import type { Slice } from "../ledger/fold.ts";
import { isRecord, knownFact } from "../ledger/guards.ts";
import type { Seq, StoredEvent } from "../ledger/store.ts";
import type { contextEvents } from "./events.ts";
import type { FileMark } from "./file-keeper.ts";
import type { ForkOrigin } from "./listing.ts";
import { type JsonType, previewOf, type ValueFacts } from "./values.ts";

export interface SharedEntry {
  seq: Seq;
  op: "set" | "append" | "remove";
  at: number;
  author: string;
  /** Who wrote the key first on this timeline, where that was somebody else. */
  first?: string;
  call?: string;
  /** Of this value or item alone. */
  hash?: string;
  inline?: boolean;
  type: JsonType;
  preview: string;
  /** Of the whole value, and its items appended since it was set. */
  bytes: number;
  items: number;
  expiresAt?: number;
  /** What the key was before, on this ledger. */
  prev?: Seq;
  /** The value that a list of appended items begins with, if one was set. */
  base?: Seq;
  /** Written by `recover` in place of a damaged version. */
  recovers?: Seq;
}

export interface Parts {
  conversation: boolean;
  data: boolean;
  files: boolean;
}

export interface RestoreFact extends Parts {
  seq: Seq;
  at: number;
  checkpoint: string;
  /** The position gone back to. */
  to: Seq;
  /** The checkpoint made just before. */
  before: Seq;
  undoes?: Seq;
  /** When the files were back too. */
  filesDoneAt?: number;
}

export interface CheckpointFact {
  name: string;
  seq: Seq;
  at: number;
  author: string;
  /** Made by Holdfast itself: at a prompt, a phase, before a restore. */
  auto: boolean;
  note?: string;
  files?: FileMark;
}

export interface Config {
  task: string;
  metadata: Record<string, unknown>;
  budget?: Record<string, unknown>;
  ttlMs?: number;
  quotas: { valueBytes?: number; contextBytes?: number; keys?: number };
  /** JSON Schema for each key. */
  schemas: Record<string, unknown>;
  /** For keys without one: anything (undefined), nothing (false), or what this says. */
  others?: unknown;
  required: string[];
  /** Keys that are lists, whoever writes first: agents that do not own them may append. */
  lists?: string[];
}

/** What a workflow says about a key: given at its beginning, by agents of phases, by a person in phases that wait. */
export interface WorkflowKey {
  key: string;
  input: boolean;
  phases: string[];
  people: string[];
}

export interface AgentNote {
  at: number;
  [field: string]: unknown;
}

export interface FoldState {
  title: string;
  root: string;
  createdAt: number;
  config: Config;
  forkOf?: ForkOrigin;
  /** In order of seq, on every ledger. */
  keys: Map<string, SharedEntry[]>;
  /** Agents that were asked by the hub to export a key. */
  asked: Map<string, string[]>;
  /** What the workflow of this context declares. */
  declared: WorkflowKey[];
  /** What the runtime keeps for itself (workflow records, a person's answers), by name: no tool and no caller writes here. */
  records: Map<string, SharedEntry[]>;
  /** When the schema of a key last changed. */
  schemaAt: Map<string, Seq>;
  restores: RestoreFact[];
  checkpoints: CheckpointFact[];
  agents: Map<string, AgentNote>;
  errors: number;
  /** Versions of the entities that guard invariants. */
  versions: { config: Seq; quota: Seq; data: Seq };
}

function initialState(): FoldState {
  return {
    title: "",
    root: "",
    createdAt: 0,
    config: { task: "", metadata: {}, quotas: {}, schemas: {}, required: [] },
    keys: new Map(),
    asked: new Map(),
    declared: [],
    records: new Map(),
    schemaAt: new Map(),
    restores: [],
    checkpoints: [],
    agents: new Map(),
    errors: 0,
    versions: { config: 0, quota: 0, data: 0 },
  };
}

/** What was there for a key at a position: a restore in between leads back to the position that it restored. */
export function entryAt(
  state: FoldState,
  key: string,
  position: Seq = Number.POSITIVE_INFINITY,
): SharedEntry | undefined {
  const entries = state.keys.get(key);
  if (!entries) return undefined;
  for (let at = position; ; ) {
    const entry = lastUpTo(entries, at);
    const restore = lastUpTo(state.restores, at, (one) => one.data);
    if (!restore || (entry && entry.seq > restore.seq)) return entry;
    at = restore.to;
  }
}

/** Present: set or appended to, and not past its time. */
export function presentAt(
  state: FoldState,
  key: string,
  { position, now }: { position?: Seq; now: number },
): SharedEntry | undefined {
  const entry = entryAt(state, key, position);
  return entry && !isGone(entry, now) ? entry : undefined;
}

function isGone(entry: SharedEntry, now: number): boolean {
  return entry.op === "remove" || (entry.expiresAt !== undefined && entry.expiresAt <= now);
}

/** What `expect` compares: the last event that touched the key, or the last restore of data. 0: never there. */
export function versionOf(state: FoldState, key: string): Seq {
  const last = state.keys.get(key)?.at(-1);
  return last ? Math.max(last.seq, state.versions.data) : 0;
}

export function entryOf(state: FoldState, key: string, seq: Seq | undefined): SharedEntry | undefined {
  if (seq === undefined) return undefined;
  const entry = lastUpTo(state.keys.get(key) ?? [], seq);
  return entry?.seq === seq ? entry : undefined;
}

/** The last of a list in order of seq that is not beyond `at`. */
function lastUpTo<T extends { seq: Seq }>(list: T[], at: Seq, wanted: (one: T) => boolean = () => true): T | undefined {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle]!.seq <= at) low = middle + 1;
    else high = middle;
  }
  for (let i = low - 1; i >= 0; i--) if (wanted(list[i]!)) return list[i];
  return undefined;
}

type Known = Fact<typeof contextEvents>;

type Cases = {
  [T in Known["type"]]?: (state: FoldState, event: StoredEvent, data: Extract<Known, { type: T }>["data"]) => void;
};

const CASES: Cases = {
  "context.created"(state, event, data) {
    state.title = data.title;
    state.root = data.root;
    state.createdAt = event.at;
  },
  "context.moved"(state, _, { from, to }) {
    if (state.root === from || state.root.startsWith(`${from}/`)) state.root = to + state.root.slice(from.length);
  },
  "agent.created"(state, event, data) {
    state.agents.set(data.name, { at: event.at });
  },
  "context.configured"(state, event, data) {
    const { schemas, ...rest } = data;
    const kept = Object.entries({ ...state.config, ...rest }).filter(([, value]) => value !== null);
    state.config = Object.fromEntries(kept) as unknown as Config;
    if (!isRecord(schemas)) return;
    for (const key of Object.keys(schemas)) state.schemaAt.set(key, event.seq);
    // Joined, not assigned one by one: a key may be named as what every object inherits.
    const joined = Object.entries({ ...state.config.schemas, ...schemas }).filter(([, schema]) => schema !== null);
    state.config.schemas = Object.fromEntries(joined);
  },
  "data.shared": (state, event, data) => put(state, data.key, event, "set"),
  "data.appended": (state, event, data) => put(state, data.key, event, "append"),
  "workflow.begun"(state, event, data) {
    state.declared = data.keys;
    put(recordsOf(state), recordName(event), event, "set");
  },
  "workflow.recorded": (state, event) => put(recordsOf(state), recordName(event), event, "set"),
  "input.given": (state, event) => put(recordsOf(state), recordName(event), event, "set"),
  /** The hub's own event: its exports are that agent's to write. */
  "hub.asked"(state, event, data) {
    for (const key of Object.keys(data.exports)) {
      const agents = state.asked.get(key);
      if (!agents) state.asked.set(key, [event.actor]);
      else if (!agents.includes(event.actor)) agents.push(event.actor);
    }
  },
  "data.removed"(state, event, data) {
    const prev = entryAt(state, data.key)?.seq;
    const { seq, at, actor: author } = event;
    const gone = { op: "remove", type: "null", preview: "", bytes: 0, items: 0 } as const;
    const first = firstAuthor(entryAt(state, data.key), author);
    entriesOf(state.keys, data.key).push({ seq, at, author, ...first, ...gone, ...(prev && { prev }) });
  },
  "context.checkpointed"(state, event, data) {
    const { seq, at, actor: author } = event;
    const { name, auto = false, note, files } = data;
    state.checkpoints.push({ name, seq, at, author, auto, ...(note && { note }), ...(files && { files }) });
  },
  "checkpoint.kept"(state, _, data) {
    const found = state.checkpoints.find((one) => one.seq === data.checkpoint);
    if (found) found.files = data.files;
  },
  "context.restored"(state, event, data) {
    const { checkpoint, seq: to, conversation, data: dataToo, files, undoes } = data;
    const parts = { conversation, data: dataToo, files };
    // The checkpoint before it stands in the same append.
    const { seq, at } = event;
    state.restores.push({ seq, at, checkpoint, to, before: seq - 1, ...parts, ...(undoes && { undoes }) });
  },
  "files.restored"(state, event, data) {
    const found = state.restores.find((one) => one.seq === data.restore);
    if (found) found.filesDoneAt = event.at;
  },
  "context.forked"(state, event, data) {
    const { context, checkpoint, seq, goesOn } = data;
    state.forkOf = { context, checkpoint, seq, ...(goesOn && { goesOn }) };
    state.title = data.title ?? state.title;
    stopAgents(state, event.at);
  },
  "context.imported"(state, event, data) {
    stopAgents(state, event.at);
    state.root = data.root ?? "";
    // A file may say anything: what a person answered elsewhere is asked again here, also where an older Holdfast recorded it.
    const gates = new Set(state.declared.flatMap((one) => one.people));
    forgetRecords(state, (name) => name.startsWith("input/") || gates.has(name.slice("phase/".length)));
    for (const key of [...state.keys.keys()]) if (/^workflow(?:\.|$)/.test(key)) state.keys.delete(key);
  },
  "agent.updated"(state, event, data) {
    const before = state.agents.get(data.name) ?? { at: 0 };
    const merged = Object.entries({ ...before, ...data.patch, at: event.at }).filter(([, value]) => value !== null);
    state.agents.set(data.name, { ...Object.fromEntries(merged), at: event.at });
  },
  "work.started"(state, event, data) {
    state.agents.set(data.agent, { ...state.agents.get(data.agent), status: "running", at: event.at });
  },
  "work.ended"(state, event, data) {
    const lastError = data.error === undefined ? {} : { lastError: data.error };
    state.agents.set(data.agent, { ...state.agents.get(data.agent), status: data.reason, ...lastError, at: event.at });
  },
  "error.logged"(state) {
    state.errors++;
  },
};

/** Everything else in the ledger belongs to the loop and its mechanisms, and is not even read. */
export const contextSlice = {
  version: 5,
  types: Object.keys(CASES),
  initial: initialState,
  apply(state, event) {
    applyEvent(state, event);
    return state;
  },
  freeze: ({ keys, asked, records, schemaAt, agents, ...rest }) => ({
    ...rest,
    ...{ keys: [...keys], asked: [...asked], records: [...records], schemaAt: [...schemaAt], agents: [...agents] },
  }),
  thaw(frozen) {
    const state = frozen as Record<"keys" | "asked" | "records" | "schemaAt" | "agents", [string, never][]>;
    return {
      ...(frozen as FoldState),
      keys: new Map(state.keys),
      asked: new Map(state.asked),
      records: new Map(state.records),
      schemaAt: new Map(state.schemaAt),
      agents: new Map(state.agents),
    };
  },
} satisfies Slice<FoldState>;

function applyEvent(state: FoldState, event: StoredEvent): void {
  const { type, data } = knownFact<typeof contextEvents>(event);
  CASES[type]?.(state, event, data as never); // its own: both are found by the type
  for (const entity of event.touches) {
    if (entity === "ctx:config") state.versions.config = event.seq;
    else if (entity === "ctx:quota") state.versions.quota = event.seq;
    else if (entity === "ctx:data") state.versions.data = event.seq;
  }
}

/** A person's answer was given to the original. */
function forgetRecords({ records }: FoldState, isGone: (name: string) => boolean): void {
  for (const name of [...records.keys()]) if (isGone(name)) records.delete(name);
}

/** Whoever works on the original does not work on its copy. */
function stopAgents(state: FoldState, at: number): void {
  for (const note of state.agents.values()) if (note.status === "running") Object.assign(note, { status: "idle", at });
}

/** The records as one looks at shared data: by name, and as a restore of data left them. */
export function recordsOf(state: FoldState): FoldState {
  return { ...state, keys: state.records, schemaAt: new Map() };
}

/** Where the record of an event is kept. A phase's id has no slash. */
export function recordName({ type, data }: Pick<StoredEvent, "type" | "data">): string {
  const { phase, run, key } = data as { phase: string; run: number; key: string };
  if (type === "workflow.begun") return HEADER;
  return type === "input.given" ? `input/${phase}/${run}/${key}` : `phase/${phase}`;
}

const HEADER = "workflow";

function put(state: FoldState, key: string, event: StoredEvent, op: "set" | "append"): void {
  const facts = event.data as ValueFacts & { call?: string; ttlMs?: number; recovers?: Seq };
  const before = entryAt(state, key);
  const list = op === "append" && before && !isGone(before, event.at) ? before : undefined;
  const base = list?.op === "set" ? list.seq : list?.base;
  const expiresAt = facts.ttlMs === undefined ? list?.expiresAt : event.at + facts.ttlMs;
  entriesOf(state.keys, key).push({
    seq: event.seq,
    op,
    at: event.at,
    author: event.actor,
    ...firstAuthor(before, event.actor),
    hash: facts.hash,
    type: op === "append" ? "array" : facts.type,
    preview: previewOf(facts),
    bytes: facts.bytes + (list?.bytes ?? 0),
    items: op === "append" ? (list?.items ?? 0) + 1 : 0,
    ...("value" in facts && { inline: true }),
    ...(facts.call && { call: facts.call }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(before && { prev: before.seq }),
    ...(base && { base }),
    ...(facts.recovers && { recovers: facts.recovers }),
  });
}

function firstAuthor(before: SharedEntry | undefined, author: string): { first?: string } {
  const first = before ? ownerOfEntry(before) : author;
  return first === author ? {} : { first };
}

/** Who wrote the key first. */
export const ownerOfEntry = ({ first, author }: SharedEntry): string => first ?? author;

function entriesOf(keys: Map<string, SharedEntry[]>, key: string): SharedEntry[] {
  let entries = keys.get(key);
  if (!entries) {
    entries = [];
    keys.set(key, entries);
  }
  return entries;
}
