// Reading a backup: every ledger followed from its first event to the head that the manifest names, and what is lost on the way, by ledger and seq.

import { blobHash } from "../ledger/checksum.ts";
import { NO_CONTENT, type PortableEvent } from "../ledger/content-hash.ts";
import type { LedgerSource } from "../ledger/copy-ledger.ts";
import { HoldfastError } from "../ledger/error.ts";
import type { LedgerSummary, Seq } from "../ledger/store.ts";
import { isOurName, STRANGE_NAME } from "./ledger-names.ts";
import { blobName } from "./make-backup.ts";
import {
  type BackedUpLedger,
  type BackupManifest,
  listManifests,
  type NamedManifest,
  readManifest,
  type Written,
} from "./manifest.ts";
import { packProblem } from "./packs.ts";
import { inParallel } from "./parallel.ts";
import { LEDGERS, type LedgerSegment, type NamedSegment, namedSegment, readSegment } from "./segments.ts";
import type { Vault } from "./vault.ts";

/** What a backup no longer has. */
export interface Loss {
  /** Undefined: a pack of the files of checkpoints. */
  ledger?: string;
  /** The first event that is gone; of a blob, the event that names it. */
  seq?: Seq;
  /** Its events up to the head are there; only a value that one of them names is not. */
  only?: "blob";
  what: string;
}

/** One ledger of a backup, as far as it is proven. */
export interface ProvenLedger {
  ledger: string;
  wanted: BackedUpLedger;
  head: Seq;
  /** Content hash up to there. */
  sum: string;
  segments: NamedSegment[];
  listing: Omit<LedgerSummary, "ledger" | "head">;
}

export interface CheckedBackup {
  manifest: BackupManifest;
  ledgers: ProvenLedger[];
  packs: string[];
  losses: Loss[];
  /** Events that lie there beyond the manifest: of a backup that did not end, or whose manifest is gone. */
  beyond: { ledger: string; from: Seq; to: Seq }[];
}

const AT_ONCE = 4;

export interface Chosen {
  written: Written;
  named: NamedManifest;
  /** Newer manifests that cannot be read. */
  passedOver: { id: string; why: string }[];
}

/** The newest backup, or the one that `at` means: its id, the beginning of it, or a time. `partial`: one that cannot be read is passed over. */
export async function chooseManifest(
  vault: Vault,
  { at, partial = false }: { at?: string; partial?: boolean } = {},
): Promise<Chosen> {
  const all = await listManifests(vault);
  if (all.length === 0)
    throw new HoldfastError("not_found", `${vault.place.shown} holds no backup of project ${vault.project}`);
  const fitting = at === undefined ? all : all.filter(fits(at));
  if (fitting.length === 0)
    throw new HoldfastError(
      "not_found",
      `there is no backup ${at} in ${vault.place.shown}: see \`holdfast backup ls\``,
    );
  const passedOver: Chosen["passedOver"] = [];
  for (const named of fitting.toReversed()) {
    const read = await readManifest(vault, named, all);
    if (read.kind === "whole") return { written: read.written, named, passedOver };
    const why = read.kind === "missing" ? `${read.name} is missing` : `${read.name} is damaged: ${read.why}`;
    passedOver.push({ id: named.id, why });
    if (!partial) break;
  }
  const [first] = passedOver;
  const older = all.findLast(({ id }) => id < (first?.id ?? ""));
  const hint = older ? `: --at ${older.id} takes the one before, --partial the newest that is whole` : "";
  throw new HoldfastError("damaged", `backup ${first?.id} cannot be read: ${first?.why}${hint}`, {
    detail: passedOver,
  });
}

/** An id or the beginning of one; else everything up to that time. */
function fits(at: string): (one: NamedManifest) => boolean {
  if (/^\d{4,8}(?:T\d{0,9}Z?)?$/.test(at)) return ({ id }) => id.startsWith(at);
  const time = Date.parse(at);
  if (Number.isNaN(time))
    throw new HoldfastError("invalid", `"${at}" is no backup: give its id, or a time such as 2026-11-18T09:00`);
  return (one) => one.at <= time;
}

export async function checkBackup(
  vault: Vault,
  manifest: BackupManifest,
  opts: { progress?: (done: number, total: number) => void; signal?: AbortSignal } = {},
): Promise<CheckedBackup> {
  const byFolder = await segmentsByFolder(vault);
  const total = [...manifest.ledgers.values()].reduce((sum, { head }) => sum + head, 0);
  let done = 0;
  const losses: Loss[] = [];
  const ledgers: ProvenLedger[] = [];
  const blobs = createBlobCheck(vault);
  await inParallel(manifest.ledgers, AT_ONCE, async ([ledger, wanted]) => {
    opts.signal?.throwIfAborted();
    done += wanted.head;
    if (!isOurName(ledger)) {
      losses.push({ ledger, seq: 1, what: STRANGE_NAME });
      return;
    }
    const candidates = byFolder.get(vault.folderOf(ledger)) ?? [];
    const found = await followChain(vault, { ledger, wanted, candidates });
    if (found.loss) losses.push(found.loss);
    ledgers.push(found.proven);
    for (const named of found.proven.segments) losses.push(...(await blobs(ledger, named)));
    opts.progress?.(done, total);
  });
  const packs: string[] = [];
  for (const [name, chunks] of manifest.packs) {
    const problem = await packProblem(vault, chunks);
    if (problem === undefined) packs.push(name);
    else losses.push({ what: `files of checkpoints, ${name}: ${problem}` });
  }
  losses.sort((a, b) => ((a.ledger ?? "~") < (b.ledger ?? "~") ? -1 : 1));
  return { manifest, ledgers, packs, losses, beyond: beyondOf(vault, manifest, byFolder) };
}

async function segmentsByFolder(vault: Vault): Promise<Map<string, NamedSegment[]>> {
  const found = new Map<string, NamedSegment[]>();
  for await (const { name } of vault.list(LEDGERS)) {
    const named = namedSegment(name);
    if (!named || named.isBlobList) continue;
    const list = found.get(named.folder) ?? [];
    list.push(named);
    found.set(named.folder, list);
  }
  return found;
}

interface Wanted {
  ledger: string;
  wanted: BackedUpLedger;
  candidates: readonly NamedSegment[];
}

/** A ledger that was put back and went on otherwise has two chains: the one that ends in the manifest's sum is meant. */
async function followChain(vault: Vault, of: Wanted): Promise<{ proven: ProvenLedger; loss?: Loss }> {
  const { ledger, wanted, candidates } = of;
  const empty = { createdAt: 0, updatedAt: 0, summary: null };
  const start: ProvenLedger = { ledger, wanted, head: 0, sum: NO_CONTENT, segments: [], listing: empty };
  let best = start;
  const faults = new Map<Seq, string>();
  /** Not gone down again: every one of them ends nowhere. */
  const open: ProvenLedger[] = [start];
  for (let at = open.pop(); at; at = open.pop()) {
    if (at.head === wanted.head && at.sum === wanted.sum) return { proven: at };
    if (at.head > best.head && at.head < wanted.head) best = at;
    const from = at.head + 1;
    const next = candidates.filter((one) => one.from === from && one.to <= wanted.head);
    for (const named of next.toSorted((a, b) => a.to - b.to)) {
      const read = await readSegment(vault, named, ledger);
      if (read.kind !== "whole") {
        const why = read.kind === "missing" ? "it is gone" : read.why;
        faults.set(from, `${named.name} is damaged: ${why}`);
      } else if (read.segment.header.before === at.sum) {
        const { to: head, after: sum, listing } = read.segment.header;
        open.push({ ...at, head, sum, listing, segments: [...at.segments, named] });
      }
    }
  }
  const seq = best.head + 1;
  const later = candidates.find((one) => one.from > seq);
  const gap = `events ${seq} to ${later ? later.from - 1 : wanted.head} are missing`;
  return { proven: best, loss: { ledger, seq, what: faults.get(seq) ?? gap } };
}

/** Each blob is looked at once, whoever names it. */
function createBlobCheck(vault: Vault): (ledger: string, named: NamedSegment) => Promise<Loss[]> {
  const known = new Map<string, Promise<string | undefined>>();
  const problemOf = async (hash: string): Promise<string | undefined> => {
    const found = await vault.get(blobName(vault, hash));
    if (found.kind === "missing") return "is missing";
    return found.kind === "whole" && blobHash(found.bytes) === hash ? undefined : "is damaged";
  };
  return async (ledger, named) => {
    if (named.blobs === 0) return [];
    const read = await readSegment(vault, named, ledger);
    if (read.kind !== "whole") return []; // said already
    const losses: Loss[] = [];
    for (const hash of read.segment.header.blobs) {
      const problem = known.get(hash) ?? problemOf(hash);
      known.set(hash, problem);
      const what = await problem;
      if (what === undefined) continue;
      losses.push({
        ledger,
        seq: namingSeq(read.segment, hash),
        only: "blob",
        what: `value ${hash.slice(0, 16)}… ${what}`,
      });
    }
    return losses;
  };
}

const namingSeq = ({ header, events }: LedgerSegment, hash: string): Seq =>
  events.find(({ data }) => JSON.stringify(data)?.includes(hash))?.seq ?? header.from;

function beyondOf(
  vault: Vault,
  manifest: BackupManifest,
  byFolder: Map<string, NamedSegment[]>,
): CheckedBackup["beyond"] {
  const names = new Map([...manifest.ledgers.keys()].map((ledger) => [vault.folderOf(ledger), ledger]));
  const found: CheckedBackup["beyond"] = [];
  for (const [folder, segments] of byFolder) {
    const ledger = names.get(folder);
    if (ledger === undefined) continue;
    const head = manifest.ledgers.get(ledger)?.head ?? 0;
    const to = Math.max(...segments.map((one) => one.to));
    if (to > head) found.push({ ledger, from: head + 1, to });
  }
  return found;
}

/** Contract: reads what was proven, and nothing behind it. */
export function sourceIn(vault: Vault, { ledger, head, listing, segments }: ProvenLedger): LedgerSource {
  async function* read(after: Seq): AsyncGenerator<PortableEvent> {
    for (const named of segments) {
      if (named.to <= after) continue;
      const found = await readSegment(vault, named, ledger);
      if (found.kind !== "whole")
        throw new HoldfastError("damaged", `${named.name} changed while it was read: start again`);
      for (const event of found.segment.events) if (event.seq > after) yield event;
    }
  }
  return {
    listing: { ledger, head, ...listing },
    read,
    async blob(hash) {
      const found = await vault.get(blobName(vault, hash));
      return found.kind === "whole" && blobHash(found.bytes) === hash ? found.bytes : undefined;
    },
  };
}
