// `openContexts`: the door to all contexts of a store, with or without the rest of Holdfast.
import { resolve } from "node:path";
import { HoldfastError } from "../ledger/error.ts";
import { newId } from "../ledger/id.ts";
import type { Store } from "../ledger/store.ts";
import { type Context, type ContextOptions, type ContextSettings, configuredEvent, createContext } from "./context.ts";
import { type ContextLedger, openContextLedger } from "./context-ledger.ts";
import { type ExportReport, exportContext } from "./export.ts";
import { collectGarbage, deleteContext, type GcOptions, type GcReport } from "./gc.ts";
import { type ImportOptions, type ImportReport, importContext } from "./import.ts";
import { type ContextInfo, type ContextStatus, isContextId, listContexts } from "./listing.ts";
import { newContext } from "./new-context.ts";
import { settleMovedRoots } from "./project/moved-roots.ts";
import { openProject } from "./project.ts";
import type { ConversationReader } from "./recall.ts";
import type { LocalSchemas } from "./schemas.ts";
import { checkCreate, checkGc, checkHandle, checkId, checkPlace } from "./settings.ts";
import { keepSweeping, sweepExpired } from "./sweep.ts";
import { type ContextsVerdict, verifyContexts } from "./verify.ts";

export interface CreateOptions extends ContextSettings, ContextOptions {
  task: string;
  /** The directory that agents work in; with it a context can be run by `holdfast -r`. */
  root?: string;
  title?: string;
}

export interface Resumable extends ContextInfo {
  /** When the last thing was recorded before it was paused or its process died. */
  interruptedAt: number;
}

export interface Contexts {
  readonly store: Store;
  create(opts: CreateOptions): Promise<Context>;
  /** Contract: throws `not_found`; never makes one. */
  get(id: string, opts?: ContextOptions): Promise<Context>;
  /** Newest first. */
  list(filter?: { status?: ContextStatus | ContextStatus[] }): Promise<ContextInfo[]>;
  /** Paused or interrupted: a context whose process was killed is here at once. */
  resumable(): Promise<Resumable[]>;
  /** Contract: throws `held` while an agent runs in it. */
  delete(id: string): Promise<void>;
  gc(opts?: GcOptions): Promise<GcReport>;
  verify(id?: string): Promise<ContextsVerdict>;
  export(id: string, file: string): Promise<ExportReport>;
  import(file: string, opts?: ImportOptions): Promise<ImportReport>;
  /** How many contexts this process keeps folded: a bounded number, the last used. */
  readonly kept: number;
  /** Closes the store if `openContexts` opened it. */
  close(): Promise<void>;
}

/**
 * A store that is open already, the SQLite file, or the project of a directory (`state` replaces the state directory). In a store that is
 * opened here contexts go whose time has passed, now and then and at `close`; `ttlMs`: for those that say nothing themselves.
 */
export type Where = { store: Store } | (({ file: string } | { cwd?: string; state?: string }) & { ttlMs?: number });

/** So many contexts stay folded; another one is read again from its snapshot. */
const KEPT_FOLDS = 32;

/** `conversations`: who reads what agents said; `holdfast/contexts` gives it. */
export async function openContexts(
  where: Where = {},
  defaults: ContextOptions = {},
  conversations?: ConversationReader,
): Promise<Contexts> {
  checkPlace(where);
  checkHandle(defaults, "openContexts");
  const store = "store" in where ? where.store : await storeOf(where);
  /** Folds of the contexts that were used last, the latest at the end. */
  const ledgers = new Map<string, Promise<ContextLedger>>();
  // What this program has in its hands is not taken from it.
  const sweeps = { defaultTtlMs: "store" in where ? undefined : where.ttlMs, except: (id: string) => ledgers.has(id) };
  const sweeper = "store" in where ? undefined : keepSweeping(store, sweeps);
  const schemas = new Map<string, LocalSchemas>();

  function ledgerOf(id: string): Promise<ContextLedger> {
    const found = ledgers.get(id) ?? openContextLedger(store, id);
    found.catch(() => ledgers.delete(id));
    ledgers.delete(id);
    ledgers.set(id, found);
    const [oldest] = ledgers.keys();
    if (oldest !== undefined && ledgers.size > KEPT_FOLDS) letGo(oldest).catch(() => {}); // only a matter of speed
    return found;
  }

  /** A handle that is still used keeps its own. Schemas that JSON cannot say are only here: they stay. */
  async function letGo(id: string): Promise<void> {
    const ledger = ledgers.get(id);
    ledgers.delete(id);
    if (schemas.get(id)?.size === 0) schemas.delete(id);
    await (await ledger)?.saveSnapshot();
  }

  function localSchemas(id: string): LocalSchemas {
    let local = schemas.get(id);
    if (!local) {
      local = new Map();
      schemas.set(id, local);
    }
    return local;
  }

  async function get(id: string, opts: ContextOptions = {}): Promise<Context> {
    checkId(id);
    checkHandle(opts);
    if (!isContextId(id))
      throw new HoldfastError("not_found", `${id} is not the id of a context: they begin with ctx_`);
    const ledger = await ledgerOf(id);
    await ledger.catchUp();
    const open = (fork: string) => get(fork, opts);
    const { agent } = { ...defaults, ...opts };
    const conversation = conversations && (() => conversations(store, id, agent));
    const own = { local: localSchemas(id), open, letGo: () => letGo(id), conversation };
    return createContext(ledger, { ...defaults, ...opts, ...own });
  }

  const forget = (id: string) => {
    ledgers.delete(id);
    schemas.delete(id);
  };

  return {
    store,
    get,
    get kept() {
      return ledgers.size;
    },
    async create(given) {
      checkCreate(given);
      const { task, root, title = task, metadata, budget, ttlMs, quotas, schema, schemas: byKey, ...opts } = given;
      const id = newId("ctx");
      const author = opts.author ?? defaults.author ?? "user";
      const said = { metadata, budget, ttlMs, quotas, schema, schemas: byKey, lists: opts.lists };
      const settings = Object.fromEntries(
        Object.entries(said).filter(([, value]) => value !== undefined),
      ) as ContextSettings;
      const configured = await configuredEvent({ task, ...settings }, localSchemas(id), author);
      const summary = ttlMs === undefined ? {} : { ttlMs };
      const named = root === undefined ? {} : { root: resolve(root) };
      await store.append([
        newContext({ id, title, ...named, author, version: "contexts", facts: [configured], summary }),
      ]);
      return get(id, opts);
    },
    async list({ status } = {}) {
      const wanted = status === undefined ? undefined : [status].flat();
      return (await listContexts(store)).filter((one) => wanted?.includes(one.status) ?? true);
    },
    async resumable() {
      const all = await listContexts(store);
      return all
        .filter((one) => one.status === "paused" || one.status === "interrupted")
        .map((one) => ({ ...one, interruptedAt: one.updatedAt }));
    },
    async delete(id) {
      await deleteContext(store, id);
      forget(id);
    },
    async gc(opts) {
      if (opts !== undefined) checkGc(opts);
      const report = await collectGarbage(store, opts);
      if (!opts?.dryRun) for (const { id } of report.removed) forget(id);
      return report;
    },
    verify: (id) => verifyContexts(store, (one) => get(one), id),
    export: (id, file) => exportContext(store, id, file),
    import: (file, importOpts) => importContext(store, file, importOpts),
    async close() {
      const own = [...ledgers.keys()];
      for (const id of own) await letGo(id).catch(() => {});
      if (!sweeper) return;
      await sweeper.stop();
      await sweepExpired(store, { ...sweeps, except: (id) => own.includes(id) });
      await store.close();
    },
  };
}

async function storeOf(where: { file: string } | { cwd?: string; state?: string }): Promise<Store> {
  const { openStore } = await import("../ledger/open-store.ts");
  if ("file" in where) return openStore(where);
  const project = openProject({ cwd: where.cwd ?? process.cwd(), ...(where.state && { state: where.state }) });
  const store = await openStore(project.ledgers);
  try {
    await settleMovedRoots(store, project);
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}
