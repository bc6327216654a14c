// One context as its users see it: its shared data, checkpoints, agents and errors under one handle.
import { isHoldfastError } from "../ledger/error.ts";
import type { EventInput, Fence, Seq } from "../ledger/store.ts";
import type { Writer } from "./authority.ts";
import { type Checkpoints, createCheckpoints } from "./checkpoints.ts";
import { closable } from "./closable.ts";
import type { ContextLedger } from "./context-ledger.ts";
import type { FileKeeper } from "./file-keeper.ts";
import { type AgentNote, type Config, presentAt, recordsOf } from "./fold.ts";
import { type ForkChanges, type ForkOptions, forkContext } from "./fork.ts";
import type { ForkOrigin } from "./listing.ts";
import { isValueProblem, readEntry, type ValueProblem } from "./read-value.ts";
import { type Recall, recallWith } from "./recall.ts";
import { openDoor } from "./runtime.ts";
import { createChecker, type LocalSchemas, type SchemaOptions, schemaFacts } from "./schemas.ts";
import { checkContextSettings } from "./settings.ts";
import { createSharedData, type Reducer, type SharedData, sharedEvent } from "./shared-data.ts";
import { encodeValue } from "./values.ts";
import { type BeginOptions, beginWork, type Work } from "./work.ts";

export interface ContextSettings extends SchemaOptions {
  task?: string;
  metadata?: Record<string, unknown>;
  budget?: Record<string, unknown>;
  /** `gc` removes the context when nothing was recorded for so long. Null: never. */
  ttlMs?: number | null;
  quotas?: Config["quotas"];
  /** Keys that are lists: agents may append to them, whoever they belong to. */
  lists?: string[];
}

export interface ContextDetails extends Omit<Config, "schemas" | "others" | "required"> {
  id: string;
  title: string;
  root: string;
  createdAt: number;
  keys: number;
  /** Of the shared data that is there now. */
  bytes: number;
  checkpoints: number;
  errors: number;
  forkOf?: ForkOrigin;
}

export interface LoggedError {
  agent?: string;
  tool?: string;
  message: string;
  cause?: string;
  at: number;
}

export interface Context extends SharedData, Checkpoints {
  readonly id: string;
  details(): Promise<ContextDetails>;
  /** ForkChanges what was said at `create`. */
  configure(settings: ContextSettings): Promise<void>;
  agents(): Promise<Record<string, AgentNote>>;
  /** Merged field by field; null takes a field away. */
  setAgent(name: string, patch: Record<string, unknown>): Promise<void>;
  /** Oldest first. */
  errors(): Promise<LoggedError[]>;
  logError(error: { agent?: string; tool?: string; message: string; cause?: unknown }): Promise<void>;
  /** Any part of what its agents said, were told and did, by name or by words. Needs no lease. */
  readonly recall: Recall;
  /**
   * A second timeline beside this one: from a checkpoint (by name or position), from any event by its number, or from now. From an event in
   * the middle of a turn of the lead it begins where the model was last asked, with that turn open: `details().forkOf` says so.
   */
  fork(checkpoint?: string | Seq, opts?: ForkOptions): Promise<Context>;
  /** A fork whose shared data is edited; null removes a key. */
  updateState(checkpoint: string | Seq, changes: ForkChanges, opts?: ForkOptions): Promise<Context>;
  /** Looks at every value: what cannot be had, and which version stands in. */
  problems(): Promise<ValueProblem[]>;
  /** Writes the last good version over each value that cannot be had; says what it did. */
  recover(): Promise<ValueProblem[]>;
  /** Holds the context while this process works on it without the loop. `wait`: for a holder elsewhere whose lease has not lapsed yet, instead of `held` at once. */
  begin(opts?: BeginOptions): Promise<Work>;
  /** Lets go of what this process keeps of the context. The handle is of no use any more; the context stays as it is. */
  close(): Promise<void>;
}

export interface ContextOptions {
  /** Who writes, where a call does not say. */
  author?: string;
  /** Writes as this agent: only what belongs to it, and as nobody else. For tools of your own. */
  agent?: string;
  /** How a new value is joined with the one there, key by key. */
  reducers?: Record<string, Reducer>;
  /** Keys that are lists here, beside `accumulated_results` and those that the context declares. */
  lists?: string[];
  files?: FileKeeper;
  /** Fences every write. */
  lease?: Fence;
  /** Told of every value that was read from an older version. */
  onProblem?: (problem: ValueProblem) => void;
}

export function createContext(
  opened: ContextLedger,
  opts: ContextOptions & {
    local: LocalSchemas;
    open: (id: string) => Promise<Context>;
    letGo: () => Promise<void>;
    conversation?: () => Promise<Recall>;
  },
): Context {
  const { ledger, close } = closable(opened);
  const { agent, lease, local } = opts;
  const author = agent ?? opts.author ?? "user";
  const writer: Writer = { kind: agent === undefined ? "caller" : "agent", name: author };
  const checker = createChecker(local);
  const appendOpts = lease ? { lease } : {};
  const append = (...events: EventInput[]) => ledger.decide(() => ({ events }), appendOpts);
  const shared = { ledger, checker, writer, lists: new Set(opts.lists), reducers: opts.reducers ?? {} };

  async function look(): Promise<(ValueProblem & { value?: unknown })[]> {
    const state = await ledger.catchUp();
    const found: (ValueProblem & { value?: unknown })[] = [];
    for (const key of state.keys.keys()) {
      const entry = presentAt(state, key, { now: Date.now() });
      if (!entry) continue;
      try {
        const { value, problems } = await readEntry(ledger, state, { key, entry, checker });
        // The value is kept for those few only that want writing again.
        for (const [i, problem] of problems.entries()) found.push(i === 0 ? { ...problem, value } : problem);
      } catch (error) {
        found.push(problemIn(error, { key, version: entry.seq }));
      }
    }
    const records = recordsOf(state);
    for (const name of records.keys.keys()) {
      const entry = presentAt(records, name, { now: Date.now() });
      if (!entry) continue;
      const lost = await readEntry(ledger, records, { key: name, entry, checker }).then(
        ({ problems }) => problems,
        (error: unknown) => [problemIn(error, { key: name, version: entry.seq })],
      );
      for (const problem of lost) found.push({ ...problem, key: `(record ${name})` });
    }
    const files = state.restores.findLast((one) => one.files);
    if (files && files.filesDoneAt === undefined) {
      const reason = `the files of ${files.checkpoint} did not all come back: restore them again`;
      found.push({ key: "(files)", version: files.seq, reason });
    }
    return found;
  }

  const context: Context = {
    id: ledger.id,
    ...createSharedData({ ...shared, ...(lease && { lease }), ...(opts.onProblem && { onProblem: opts.onProblem }) }),
    ...createCheckpoints({
      ...{ ledger, author, ...(opts.files && { keeper: opts.files }), ...(lease && { lease }) },
      read: async (key, entry) => (await readEntry(ledger, ledger.state, { key, entry, checker })).value,
    }),
    async details() {
      const state = await ledger.catchUp();
      const { schemas: _, others: __, required: ___, ...config } = state.config;
      const present = [...state.keys.keys()].flatMap((key) => presentAt(state, key, { now: Date.now() }) ?? []);
      const { title, root, createdAt, errors, forkOf } = state;
      const bytes = present.reduce((sum, one) => sum + one.bytes, 0);
      const counts = { keys: present.length, bytes, checkpoints: state.checkpoints.length, errors };
      return {
        id: ledger.id,
        title,
        root,
        createdAt,
        ...structuredClone(config),
        ...counts,
        ...(forkOf && { forkOf }),
      };
    },
    async configure(settings) {
      checkContextSettings(settings);
      const event = await configuredEvent(settings, local, author);
      const summary = settings.ttlMs === undefined ? {} : { summary: { ttlMs: settings.ttlMs } };
      await ledger.decide(() => ({ events: [event], ...summary }), appendOpts);
    },
    async agents() {
      return structuredClone(Object.fromEntries((await ledger.catchUp()).agents));
    },
    async setAgent(name, patch) {
      encodeValue(name, patch);
      await append({ type: "agent.updated", actor: author, touches: [`agent:${name}`], data: { name, patch } });
    },
    async errors() {
      const found: LoggedError[] = [];
      for await (const { data, at } of ledger.store.read(ledger.id, { types: ["error.logged"] })) {
        found.push({ ...(data as Omit<LoggedError, "at">), at });
      }
      return found;
    },
    async logError(error) {
      const { agent, tool, message, cause } = error;
      const data = {
        ...(agent !== undefined && { agent: String(agent) }),
        ...(tool !== undefined && { tool: String(tool) }),
        message: message === undefined ? String(error) : String(message),
        ...(cause !== undefined && { cause: causeText(cause) }),
      };
      await append({ type: "error.logged", actor: data.agent ?? author, data });
    },
    recall: recallWith(opts.conversation, () => void ledger.state),
    async fork(checkpoint, { title, author: by = author } = {}) {
      return opts.open(await forkContext(ledger, checker, { checkpoint, title, author: by, writer }));
    },
    async updateState(checkpoint, changes, { title, author: by = author } = {}) {
      return opts.open(await forkContext(ledger, checker, { checkpoint, changes, title, author: by, writer }));
    },
    problems: async () => (await look()).map(({ value: _, ...problem }) => problem),
    async recover() {
      const found = await look();
      for (const { key, version, value } of found) {
        if (value === undefined) continue;
        const { facts, blob } = encodeValue(key, value);
        const event = sharedEvent(key, facts, { author, recovers: version });
        // Someone who shared it anew meanwhile has mended it.
        const seen = ledger.state.keys.get(key)?.at(-1)?.seq ?? 0;
        await ledger.decide((state) => {
          const still = state.keys.get(key)?.at(-1)?.seq === seen;
          return {
            events: still ? [event] : [],
            reads: [`key:${key}`],
            blobs: blob ? [blob] : [],
          };
        }, appendOpts);
      }
      return found.map(({ value: _, ...problem }) => problem);
    },
    begin: ({ agent: as = agent, ...how } = {}) =>
      beginWork(ledger, { ...how, ...(as !== undefined && { agent: as }) }),
    async close() {
      close();
      await opts.letGo();
    },
  };
  if (writer.kind !== "agent") openDoor(context, { ledger, checker, ...(lease && { lease }) });
  return context;
}

/** Contract: throws what says nothing about the value: a store that cannot be read, or is closed. */
function problemIn(error: unknown, of: Pick<ValueProblem, "key" | "version">): ValueProblem {
  if (!isHoldfastError(error, "damaged")) throw error;
  return isValueProblem(error.detail) ? error.detail : { ...of, reason: error.message };
}

export async function configuredEvent(
  settings: ContextSettings,
  local: LocalSchemas,
  author: string,
): Promise<EventInput> {
  const { schema, schemas, ttlMs, ...rest } = settings;
  const facts = await schemaFacts({ ...(schema !== undefined && { schema }), ...(schemas && { schemas }) }, local);
  encodeValue("settings", { ...rest });
  const data = { ...rest, ...(ttlMs !== undefined && { ttlMs }), ...facts };
  return { type: "context.configured", actor: author, touches: ["ctx:config"], data };
}

function causeText(cause: unknown): string {
  return (cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)).slice(0, 4000);
}
