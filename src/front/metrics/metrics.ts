// `/metrics`: what a scrape is answered. Nothing is read for it before somebody asks; counters come from the ledgers, so no restart of anything sets them back.
import fs from "node:fs";
import { type LastBackup, lastBackups } from "../../backup/own-ledgers.ts";
import { contextEntries } from "../../contexts/listing.ts";
import type { Seq, Store } from "../../ledger/store.ts";
import { VERSION } from "../../version.ts";
import type { ContextRow, Need, Overview, ProjectRow } from "../monitor/api.ts";
import { oneLine } from "../presentation/printable.ts";
import type { CountedContexts } from "./count-contexts.ts";
import { dataBytes } from "./counts.ts";
import { exposition } from "./exposition.ts";
import { familiesOf, type ProjectFigures } from "./families.ts";
import { addTotals, noTotals, type Totals, withBreaks } from "./totals.ts";

interface MeasuredProject {
  readonly row: Pick<ProjectRow, "id" | "name">;
  readonly store: Store;
  readonly counts: CountedContexts;
}

export interface MetricsOptions {
  projects(): Iterable<MeasuredProject>;
  /** Contract: as of now, hosts that died unseen included. */
  overview(): Promise<Overview>;
}

/** Contract: one scrape at a time is computed; who asks meanwhile gets the same. */
export function createMetrics({ projects, overview }: MetricsOptions): () => Promise<string> {
  const measures = new Map<string, () => Promise<Measured>>();
  let asked: Promise<string> | undefined;

  async function scrape(): Promise<string> {
    const began = performance.now();
    const all = await overview();
    const figures: ProjectFigures[] = [];
    for (const project of projects()) {
      const { id } = project.row;
      const measure = measures.get(id) ?? measuring(project);
      measures.set(id, measure);
      const isSilent = all.projects.some((one) => one.id === id && one.silentSince !== undefined);
      const measured = isSilent ? undefined : await measure().catch(() => undefined);
      // What a store said before it fell silent is not how things are.
      const contexts = all.contexts.filter((row: ContextRow) => measured && row.project === id);
      const needs = all.needs.filter((need: Need) => measured && need.project === id);
      figures.push({ row: project.row, contexts, needs, ...(measured && { measured }) });
    }
    const unreadable = all.projects.filter(({ id }) => !figures.some(({ row, measured }) => row.id === id && measured));
    const families = familiesOf(figures, {
      ...{ version: VERSION, unreadable: unreadable.length },
      seconds: (performance.now() - began) / 1_000,
    });
    return exposition(families);
  }

  return () => {
    asked ??= scrape().finally(() => {
      asked = undefined;
    });
    return asked;
  };
}

/** What its store says. */
export interface Measured {
  totals: Totals;
  events: Seq;
  dataBytes: number;
  storeBytes?: number;
  ready: number;
  oldestReadyMs: number;
  backups: { place: string; lag: Seq; ageMs: number }[];
}

function measuring({ store, counts }: MeasuredProject): () => Promise<Measured> {
  /** Of contexts that were removed: a counter does not fall while somebody looks. */
  const gone = noTotals();
  let goneEvents = 0;
  let before = new Map<string, Seq>();

  return async () => {
    const heads = new Map<string, Seq>();
    for await (const { ledger, head } of contextEntries(store)) heads.set(ledger, head);
    for (const [id, events] of before) {
      if (heads.has(id)) continue;
      const last = counts.of(id);
      if (last) addTotals(gone, withBreaks(last));
      goneEvents += events;
    }
    before = heads;
    counts.keepOnly(new Set(heads.keys()));
    await counts.upToDate([...heads].map(([id, events]) => ({ id, events })));
    const totals = noTotals();
    addTotals(totals, gone);
    let bytes = 0;
    for (const id of heads.keys()) {
      const one = counts.of(id);
      if (!one) continue;
      addTotals(totals, withBreaks(one));
      bytes += dataBytes(one);
    }
    const now = Date.now();
    const due = await store.due(now);
    const size = sizeOf(store);
    return {
      ...{ totals, dataBytes: bytes, events: [...heads.values()].reduce((sum, head) => sum + head, goneEvents) },
      ...(size !== undefined && { storeBytes: size }),
      ...{ ready: due.length, oldestReadyMs: Math.max(0, ...due.map(({ dueAt }) => now - dueAt)) },
      backups: backupsOf(await lastBackups(store), heads, now),
    };
  };
}

/** The newest of each place. */
function backupsOf(all: readonly LastBackup[], heads: ReadonlyMap<string, Seq>, now: number): Measured["backups"] {
  const found = new Map<string, Measured["backups"][number]>();
  for (const { place: named, at, seqs } of all) {
    const place = oneLine(named, PLACE_WIDTH);
    const lag = [...heads].reduce((sum, [id, head]) => sum + Math.max(0, head - (seqs.get(id) ?? 0)), 0);
    if (!found.has(place)) found.set(place, { place, ageMs: Math.max(0, now - at), lag });
  }
  return [...found.values()];
}

const PLACE_WIDTH = 200;
const FILE = "sqlite:";

/** Of the file and what was not written back into it yet; a server does not say. */
function sizeOf({ url }: Store): number | undefined {
  if (!url.startsWith(FILE)) return undefined;
  const file = url.slice(FILE.length);
  const sizes = [file, `${file}-wal`].map((one) => fs.statSync(one, { throwIfNoEntry: false })?.size ?? 0);
  return sizes.reduce((sum, size) => sum + size, 0);
}
