// One context as a line of the list: its status and why it does not go on, who holds it, what waits in it for a person.
import { backedUpTo, type LastBackup } from "../../backup/own-ledgers.ts";
import type { ContextInfo } from "../../contexts/listing.ts";
import { isHoldfastError } from "../../ledger/error.ts";
import { thisHolder } from "../../ledger/holder.ts";
import type { HeldBy, Seq } from "../../ledger/store.ts";
import { oneLine, printable } from "../presentation/printable.ts";
import type { ContextRow, HostRow, Need } from "./api.ts";
import type { LedgerOf, MonitoredProject } from "./monitored-project.ts";
import { isFreshFork, lastError, needsOf, whyOf } from "./needs.ts";
import type { StoreTrouble } from "./store-trouble.ts";

export type Figures = Pick<ContextRow, "agents" | "tokens" | "cost" | "dataBytes" | "damaged">;

/** What takes reading: tokens, cost, data. Contract: undefined until it is known; what is not read up to `events` is read on, and `onKnown` is told what changed, several together. */
export interface FiguresSource {
  of(context: string, events: number): Figures | undefined;
  onKnown(tell: (contexts: readonly string[]) => void): void;
}

export interface ListedContext {
  row: ContextRow;
  needs: Need[];
  /** It may die unseen. */
  isHeld: boolean;
}

export interface ProjectState {
  project: MonitoredProject;
  waits: LedgerOf;
  figures: FiguresSource | undefined;
  backups: LastBackup[];
  /** Contexts with a team that may have to say something: a plan may wait where all else is over. */
  teams: ReadonlySet<string>;
  listed: Map<string, ListedContext>;
  dirty: Set<string>;
  /** The events of each context when all were last looked at. */
  heads: ReadonlyMap<string, Seq>;
  trouble: () => StoreTrouble | undefined;
  /** What goes on: one at a time, and of a store that does not answer no other project waits for it. */
  flushing?: Promise<boolean> | undefined;
  comparing?: Promise<void> | undefined;
}

/** What makes a ledger unreadable is known to whoever has read it; nothing is read for this alone. */
async function needsIn(state: ProjectState, info: ContextInfo): Promise<{ needs: Need[]; damaged?: string }> {
  const { project } = state;
  const isOver = info.status === "completed" || info.status === "idle";
  if (isOver && !state.teams.has(info.id)) return { needs: [] };
  try {
    const ledger = await state.waits(info.id);
    return { needs: await needsOf({ project: project.row.id, context: info.id }, info, { ...project, ledger }) };
  } catch (error) {
    return { needs: [], ...(isHoldfastError(error, "damaged") && { damaged: damagedText(error.message) }) };
  }
}

export const damagedText = (what: string): string =>
  oneLine(`its ledger is damaged: ${what}; holdfast contexts verify names all of it`, 300);

/** What was counted of it; where its ledger turned out to be damaged, that is why it does not go on. */
export const withFigures = (row: ContextRow, figures: Figures | undefined): ContextRow => ({
  ...row,
  ...figures,
  ...(figures?.damaged !== undefined && { why: figures.damaged }),
});

export async function listedContext(state: ProjectState, info: ContextInfo): Promise<ListedContext> {
  const { project, figures: known, backups } = state;
  const { needs, damaged } = await needsIn(state, info);
  const wantsEnd = info.status === "failed" || info.status === "paused";
  const why =
    damaged ?? whyOf(info, needs, wantsEnd ? await lastError(project.store, info).catch(() => "") : undefined);
  const waits = needs.some(({ kind }) => kind !== "failure");
  const backup = backupOf(backups, info);
  const row: ContextRow = {
    ...{ project: project.row.id, context: info.id },
    title: oneLine(info.title, 300),
    folder: printable(info.root),
    status: isFreshFork(info) ? "paused" : waits && info.status !== "interrupted" ? "waiting" : info.status,
    ...(why !== undefined && why !== "" && { why }),
    ...(damaged !== undefined && { damaged }),
    ...{ createdAt: info.createdAt, updatedAt: info.updatedAt, events: info.events },
    ...(info.heldBy && { host: hostRow(info.heldBy) }),
    ...(info.ttlMs !== undefined && { ttlMs: info.ttlMs }),
    ...(info.forkOf && { forkOf: { context: info.forkOf.context, seq: info.forkOf.seq } }),
    ...(backup && { backup }),
    rounds: info.rounds,
  };
  return { row: withFigures(row, known?.of(info.id, info.events)), needs, isHeld: info.heldBy !== undefined };
}

export function backupOf(backups: readonly LastBackup[], of: Pick<ContextInfo, "id" | "events">): ContextRow["backup"] {
  const found = backedUpTo(backups, of);
  return found && { at: found.at, lag: found.lag, place: printable(found.place) };
}

export const hostRow = ({ holder, alive }: HeldBy): HostRow => ({
  pid: holder.pid,
  machine: oneLine(holder.machine.replace(/#.*/s, ""), 40),
  here: holder.machine === thisHolder(false).machine,
  alive,
});
