// What the tests of backups share: stores by kind, a project with some work in it, places by kind, and what two stores have in common.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { type BackupPlace, openPlace } from "../../src/backup/place.ts";
import { openVault, type Vault } from "../../src/backup/vault.ts";
import { openContexts } from "../../src/contexts/open.ts";
import { contextStateHash } from "../../src/contexts/verify.ts";
import { contentHashOf } from "../../src/ledger/content-hash.ts";
import { openRedisStore } from "../../src/ledger/redis/index.ts";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import type { Store } from "../../src/ledger/store.ts";
import { createMemory, openMemoryStore } from "../ledger/memory-store.ts";
import { hasRedis, type RedisServer, startRedis } from "../ledger/redis-server.ts";

/** The tree that the contexts of `fill` work in. */
export const ROOT = os.tmpdir();

export type AfterTest = (end: () => void | Promise<void>) => void;

export function folder(after: AfterTest): string {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-backup-"));
  after(() => fs.rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Every store that is to be had: one line each. */
export const STORES: Record<string, (after: AfterTest) => Promise<Store>> = {
  sqlite: async (after) => openSqliteStore(path.join(folder(after), "ledger.db")),
  ...(hasRedis() && { redis: redisStore }),
  memory: async () => Object.assign(openMemoryStore(createMemory()), { url: `memory:${Math.random()}` }),
};

let redis: Promise<RedisServer> | undefined;
let projects = 0;

/** One server a file of tests, each store a project of its own on it. */
async function redisStore(): Promise<Store> {
  redis ??= startRedis();
  return openRedisStore((await redis).url(`p${++projects}`));
}

/** For `afterAll` of whoever opens stores of every kind. */
export async function stopServers(): Promise<void> {
  const started = redis;
  redis = undefined;
  await (await started)?.stop();
}

export async function openStoreOf(kind: string, after: AfterTest): Promise<Store> {
  const store = await STORES[kind]!(after);
  after(() => store.close());
  return store;
}

/** Text that does not compress to nothing. */
export function noise(seed: number, length: number): string {
  let state = seed * 2654435761 + 1;
  let text = "";
  while (text.length < length) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    text += state.toString(36);
  }
  return text.slice(0, length);
}

export interface FillOptions {
  contexts?: number;
  /** Events of each. */
  events?: number;
  bytes?: number;
}

/** Contexts with shared data, a long value each, and a board. */
export async function fill(
  store: Store,
  { contexts = 3, events = 20, bytes = 300 }: FillOptions = {},
): Promise<string[]> {
  const all = await openContexts({ store });
  const ids: string[] = [];
  for (let n = 0; n < contexts; n++) {
    const context = await all.create({ task: `work ${n}`, root: ROOT });
    for (let i = 0; i < events - 3; i++) await context.share(`key${i}`, { text: noise(n * 1000 + i, bytes) });
    await context.share("long", noise(n, 20_000));
    ids.push(context.id);
  }
  await store.append([
    { ledger: "board", events: [{ type: "task.created", actor: "user", touches: ["task:1"], data: { n: 1 } }] },
  ]);
  return ids;
}

/** What a ledger says, and what its context is, in whatever store it lies. */
export async function contentsOf(store: Store, upTo: Record<string, number> = {}): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for await (const { ledger, head } of store.list()) {
    if (/^(?:backup|restore):/.test(ledger)) continue;
    const to = upTo[ledger] ?? head;
    const { sum } = await contentHashOf(store, ledger, { upTo: to });
    found[ledger] = [to, sum, ledger.startsWith("ctx_") ? await contextStateHash(store, ledger, to) : null];
  }
  return found;
}

export const headsIn = (contents: Record<string, unknown>): Record<string, number> =>
  Object.fromEntries(Object.entries(contents).map(([name, one]) => [name, (one as [number])[0]]));

export async function folderVault(after: AfterTest, key?: Buffer): Promise<Vault & { dir: string }> {
  const dir = folder(after);
  return { ...openVault(await openPlace(dir, { write: true }), "project-1", key), dir };
}

export const objectsIn = async (place: BackupPlace): Promise<string[]> => {
  const names: string[] = [];
  for await (const { name } of place.list("")) names.push(name);
  return names;
};
