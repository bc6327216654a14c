// The manifest of a backup: what the store held at one moment. Written last, never overwritten; small ones add to a full one.
import { hash } from "node:crypto";
import { HoldfastError } from "../ledger/error.ts";
import { isRecord } from "../ledger/guards.ts";
import type { Seq } from "../ledger/store.ts";
import type { Vault } from "./vault.ts";

const FORMAT = 1;
const FOLDER = "manifests/";
const NAME = /^manifests\/(\d{8}T\d{9}Z)\.([0-9a-f]{16})\.(full|\d{8}T\d{9}Z)\.json\.zst$/;

/** One ledger as it is backed up. */
export interface BackedUpLedger {
  head: Seq;
  /** Content hash up to the head. */
  sum: string;
  /** The store's own checksum there: another one at the same seq is another past. */
  base: string;
}

/** What a backup holds, whole. */
export interface BackupManifest {
  id: string;
  at: number;
  project: { id: string; path: string };
  /** Without a password. */
  store: string;
  version: string;
  /** Whether all ledgers are as of one moment; they are unless somebody wrote without a pause. */
  oneMoment: boolean;
  ledgers: Map<string, BackedUpLedger>;
  /** Since the full manifest that this one adds to. */
  removed: Map<string, { head: Seq; at: number }>;
  /** Packs of the files of checkpoints: the chunks of each. */
  packs: Map<string, string[]>;
  /** Who had something scheduled. */
  scheduled: { context: string; agent: string | null; dueAt: number }[];
}

/** What is known of a manifest by its name alone. */
export interface NamedManifest {
  id: string;
  name: string;
  at: number;
  /** The id of the full one that it adds to; undefined: it is full itself. */
  full?: string;
  bytes: number;
}

/** A full manifest, and what changed since: what the next one is written against. */
export interface Written {
  manifest: BackupManifest;
  full: BackupManifest;
  /** Ledgers and packs that came and went since the full one: nothing of them may be pruned while a manifest in between is kept. */
  passed: { ledgers: Map<string, { head: Seq; at: number }>; packs: Map<string, string[]> };
}

export type ReadManifest =
  | { kind: "whole"; written: Written }
  | { kind: "missing"; name: string }
  | { kind: "damaged"; name: string; why: string };

export const idOfTime = (at: number): string => new Date(at).toISOString().replace(/[-:.]/g, "");

function timeOfId(id: string): number {
  const [, y, mo, d, h, mi, s, ms] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z$/.exec(id) ?? [];
  return Date.parse(`${y}-${mo}-${d}T${h}:${mi}:${s}.${ms}Z`);
}

/** Oldest first. */
export async function listManifests(vault: Vault, prefix = ""): Promise<NamedManifest[]> {
  const found: NamedManifest[] = [];
  for await (const { name, bytes } of vault.list(FOLDER + prefix)) {
    const [, id, , full] = NAME.exec(name) ?? [];
    if (id === undefined) {
      vault.strays.add(name);
      continue;
    }
    found.push({ id, name, at: timeOfId(id), bytes, ...(full !== "full" && full !== undefined && { full }) });
  }
  return found.sort((a, b) => a.at - b.at);
}

type LedgerRow = [ledger: string, head: Seq, sum: string, base: string];

interface Stored {
  holdfast: "backup";
  format: number;
  at: number;
  project: BackupManifest["project"];
  store: string;
  version: string;
  oneMoment: boolean;
  full: string | null;
  ledgers: LedgerRow[];
  removed: [ledger: string, head: Seq, at: number][];
  packs: [name: string, chunks: string[]][];
  packsGone: string[];
  scheduled: BackupManifest["scheduled"];
}

/** Contract: the last step of a backup: everything that it names is there. Gives what the next one is written against. */
export async function putManifest(
  vault: Vault,
  manifest: BackupManifest,
  before: Written | undefined,
): Promise<{ written: Written; name: string }> {
  const against = before && isWorthAdding(manifest, before) ? before : undefined;
  const { at, project, store, version, oneMoment, scheduled } = manifest;
  const passed = against ? passedSince(against, manifest) : { ledgers: new Map(), packs: new Map() };
  const old = against?.full;
  const isNew = ([ledger, one]: [string, BackedUpLedger]) => {
    const known = old?.ledgers.get(ledger);
    return known?.head !== one.head || known.sum !== one.sum || known.base !== one.base;
  };
  const gone = [...(old?.packs.keys() ?? [])].filter((name) => !manifest.packs.has(name));
  const passedPacks = [...passed.packs].filter(([name]) => !old?.packs.has(name));
  const stored: Stored = {
    ...{ holdfast: "backup", format: FORMAT, at, project, store, version, oneMoment, scheduled },
    full: old?.id ?? null,
    ledgers: [...manifest.ledgers].filter(isNew).map(([ledger, { head, sum, base }]) => [ledger, head, sum, base]),
    removed: [...passed.ledgers].map(([ledger, one]) => [ledger, one.head, one.at]),
    packs: [...[...manifest.packs].filter(([name]) => !old?.packs.has(name)), ...passedPacks],
    packsGone: [...gone, ...passedPacks.map(([name]) => name)],
  };
  const bytes = Buffer.from(JSON.stringify(stored));
  const name = `${FOLDER}${manifest.id}.${vault.tag(hash("sha256", bytes, "hex"))}.${old?.id ?? "full"}.json.zst`;
  await vault.put(name, bytes);
  const whole = { ...manifest, removed: passed.ledgers };
  return { name, written: { manifest: whole, full: old ?? whole, passed } };
}

/** After so long one is written whole again: what is removed in the store can go from the place when old backups do. */
const FULL_MS = 86_400_000;

/** One that would say most of it anew is written whole. */
function isWorthAdding(manifest: BackupManifest, { full }: Written): boolean {
  const changed = [...manifest.ledgers].filter(([name, one]) => full.ledgers.get(name)?.sum !== one.sum).length;
  return changed * 4 <= full.ledgers.size && manifest.at - full.at < FULL_MS;
}

function passedSince({ full, manifest: last, passed }: Written, now: BackupManifest): Written["passed"] {
  const ledgers = new Map(passed.ledgers);
  for (const [name, { head }] of [...full.ledgers, ...last.ledgers])
    if (!now.ledgers.has(name) && !ledgers.has(name)) ledgers.set(name, { head, at: now.at });
  for (const name of now.ledgers.keys()) ledgers.delete(name);
  const packs = new Map(passed.packs);
  for (const [name, chunks] of last.packs) if (!now.packs.has(name)) packs.set(name, chunks);
  for (const name of now.packs.keys()) packs.delete(name);
  return { ledgers, packs };
}

export async function readManifest(
  vault: Vault,
  named: NamedManifest,
  all: readonly NamedManifest[],
): Promise<ReadManifest> {
  const own = await readStored(vault, named);
  if (own.kind !== "whole") return own;
  const { stored } = own;
  if (stored.full === null) {
    const manifest = manifestOf(named.id, stored, undefined);
    const passed = { ledgers: new Map(), packs: new Map() };
    return { kind: "whole", written: { manifest, full: manifest, passed } };
  }
  const base = all.find(({ id, full }) => id === stored.full && full === undefined);
  if (!base) return { kind: "missing", name: `${FOLDER}${stored.full}.full (that ${named.id} adds to)` };
  const read = await readStored(vault, base);
  if (read.kind !== "whole") return read;
  const full = manifestOf(base.id, read.stored, undefined);
  const manifest = manifestOf(named.id, stored, full);
  const gone = new Set(stored.packsGone);
  const packs = new Map(stored.packs.filter(([name]) => gone.has(name)));
  return { kind: "whole", written: { manifest, full, passed: { ledgers: manifest.removed, packs } } };
}

type ReadStored = { kind: "whole"; stored: Stored } | Exclude<ReadManifest, { kind: "whole" }>;

async function readStored(vault: Vault, { name }: NamedManifest): Promise<ReadStored> {
  const found = await vault.get(name);
  if (found.kind === "missing") return { kind: "missing", name };
  if (found.kind === "damaged") return { ...found, name };
  const [, id = "", tag] = NAME.exec(name) ?? [];
  if (vault.tag(hash("sha256", found.bytes, "hex")) !== tag)
    return { kind: "damaged", name, why: "it is not what was written under this name" };
  const stored = parsedJson(found.bytes.toString("utf8"));
  if (isRecord(stored) && typeof stored.format === "number" && stored.format > FORMAT)
    throw new HoldfastError("upgrade", `${name} was written by a newer Holdfast: upgrade to read it`);
  // Without a key anybody can name an object after its own checksum.
  return isStored(stored) && stored.at === timeOfId(id)
    ? { kind: "whole", stored }
    : { kind: "damaged", name, why: "it is no manifest" };
}

/** Undefined: it is none. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isText = (value: unknown): value is string => typeof value === "string";
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const isHash = (value: unknown): boolean => isText(value) && /^[0-9a-f]{64}$/.test(value);
const isListOf = (value: unknown, fits: (one: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(fits);
const isRow = (value: unknown, kinds: ((one: unknown) => boolean)[]): boolean =>
  Array.isArray(value) && value.length === kinds.length && kinds.every((fits, i) => fits(value[i]));

function isStored(value: unknown): value is Stored {
  if (!isRecord(value) || value.holdfast !== "backup" || !isRecord(value.project)) return false;
  const { at, project, store, version, oneMoment, full, ledgers, removed, packs, packsGone, scheduled } = value;
  return (
    [project.id, project.path, store, version].every(isText) &&
    isCount(at) &&
    typeof oneMoment === "boolean" &&
    (full === null || isText(full)) &&
    isListOf(ledgers, (one) => isRow(one, [isText, isCount, isText, isText])) &&
    isListOf(removed, (one) => isRow(one, [isText, isCount, isCount])) &&
    isListOf(packs, (one) => isRow(one, [isText, (chunks) => isListOf(chunks, isHash)])) &&
    isListOf(packsGone, isText) &&
    isListOf(scheduled, isScheduled)
  );
}

const isScheduled = (value: unknown): boolean =>
  isRecord(value) &&
  isText(value.context) &&
  (value.agent === null || isText(value.agent)) &&
  typeof value.dueAt === "number";

function manifestOf(id: string, stored: Stored, full: BackupManifest | undefined): BackupManifest {
  const { at, project, store, version, oneMoment, scheduled } = stored;
  const ledgers = new Map(full?.ledgers);
  for (const [ledger, head, sum, base] of stored.ledgers) ledgers.set(ledger, { head, sum, base });
  const removed = new Map(stored.removed.map(([ledger, head, when]) => [ledger, { head, at: when }]));
  for (const ledger of removed.keys()) ledgers.delete(ledger);
  const packs = new Map([...(full?.packs ?? []), ...stored.packs]);
  for (const name of stored.packsGone) packs.delete(name);
  return { id, at, project, store, version, oneMoment, scheduled, ledgers, removed, packs };
}
