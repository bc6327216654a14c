// All contexts of all projects as one list, and what waits for a person: kept up with what rings, and told to whoever listens.
import { setTimeout as sleep } from "node:timers/promises";
import { backedUpTo, type LastBackup, lastBackups } from "../../backup/own-ledgers.ts";
import { type ContextInfo, contextInfo, isContextId, listContexts } from "../../contexts/listing.ts";
import { thisHolder } from "../../ledger/holder.ts";
import type { HeldBy } from "../../ledger/store.ts";
import { isTeamWake } from "../../mechanisms/team/talk.ts";
import { VERSION } from "../../version.ts";
import { oneLine, printable } from "../presentation/printable.ts";
import type { ContextKey, ContextRow, HostRow, Need, Overview, OverviewMessage, ProjectRow } from "./api.ts";
import { keepLedgers, type LedgerOf, type MonitoredProject } from "./monitored-project.ts";
import { isFreshFork, lastError, needsOf, whyOf, withinBounds } from "./needs.ts";

/** What rings within this time is told together. */
const TOGETHER_MS = 40;
/** A host that dies writes nothing: those that were alive are looked at this often, while somebody listens. */
const LOOK_MS = 400;
/** A backup rings no bell: of so many looks one is for them. */
const LOOKS_FOR_BACKUPS = 10;
/** So many messages are kept for listeners that come back. */
const KEPT = 2_000;
/** Rows of the list; older contexts are found in their project. */
const MOST_ROWS = 5_000;
const MOST_WAITING = 400;

interface Told {
  /** Of the messages of this process: they begin with a name of their own. */
  id: string;
  message: OverviewMessage;
}

export type Figures = Pick<ContextRow, "rounds" | "agents" | "tokens" | "cost" | "dataBytes">;

/** What takes reading: tokens, cost, data. Contract: undefined until it is known; what is not read up to `events` is read on, and `onKnown` is told what changed, several together. */
export interface FiguresSource {
  of(context: string, events: number): Figures | undefined;
  onKnown(tell: (contexts: readonly string[]) => void): void;
}

export interface OverviewSource {
  now(): Promise<Overview>;
  /** Hosts that died have said nothing: those that were alive are looked at. Contract: what is found is told, and part of `now`. */
  look(): Promise<void>;
  /** `since`: the id of the last message that was heard; where it is not known any more, or none, everything comes first. */
  follow(since: string | undefined, signal: AbortSignal): AsyncGenerator<Told, void>;
  row(key: ContextKey): Promise<ContextRow | undefined>;
  /** One that began, or could be opened, later. */
  add(project: MonitoredProject): void;
  /** Those that cannot be opened, with their reasons. */
  setUnopened(rows: readonly ProjectRow[]): void;
  /** What was just written here is told at once. */
  rang(project: string, ledger: string): void;
}

interface Listed {
  row: ContextRow;
  needs: Need[];
  /** It may die unseen. */
  isHeld: boolean;
}

interface ProjectState {
  project: MonitoredProject;
  waits: LedgerOf;
  figures: FiguresSource | undefined;
  backups: LastBackup[];
  /** Contexts with a team that may have to say something: a plan may wait where all else is over. */
  teams: ReadonlySet<string>;
  listed: Map<string, Listed>;
  dirty: Set<string>;
}

export interface OverviewOptions {
  signal: AbortSignal;
  figures?: (project: MonitoredProject) => FiguresSource;
}

export function createOverview({ signal, figures }: OverviewOptions): OverviewSource {
  const states = new Map<string, ProjectState>();
  let unopened: readonly ProjectRow[] = [];

  function add(project: MonitoredProject): void {
    const { store, readers } = project;
    const waits = keepLedgers({ store, codec: readers.codec, fold: readers.waits, most: MOST_WAITING });
    const listed = new Map<string, Listed>();
    const known = figures?.(project);
    const state: ProjectState = {
      ...{ project, waits, figures: known, backups: [], teams: new Set(), listed, dirty: new Set() },
    };
    states.set(project.row.id, state);
    if (begun) begun = begun.then(() => beginOne(state)).then(tellAll);
  }
  const name = Math.random().toString(36).slice(2, 10);
  const messages: Told[] = [];
  const listeners = new Set<() => void>();
  let count = 0;
  let flushing: Promise<void> | undefined;
  let begun: Promise<void> | undefined;

  /** Of a message of this process. */
  const numberIn = (id: string | undefined): number | undefined =>
    id?.startsWith(`${name}.`) ? Number(id.slice(name.length + 1)) : undefined;

  function tell(message: OverviewMessage): void {
    messages.push({ id: `${name}.${++count}`, message });
    if (messages.length > KEPT) messages.splice(0, messages.length - KEPT);
    for (const wake of listeners) wake();
  }

  async function describe(state: ProjectState, info: ContextInfo): Promise<Listed> {
    const { project, figures: known, backups } = state;
    const key = { project: project.row.id, context: info.id };
    const isOver = info.status === "completed" || info.status === "idle";
    const needs =
      !isOver || state.teams.has(info.id)
        ? await state
            .waits(info.id)
            .then((ledger) => needsOf(key, info, { ledger, place: project.place }))
            .catch(() => [])
        : [];
    const wantsEnd = info.status === "failed" || info.status === "paused";
    const why = whyOf(info, needs, wantsEnd ? await lastError(project.store, info).catch(() => "") : undefined);
    const waits = needs.some(({ kind }) => kind !== "failure");
    const backup = backupOf(backups, info);
    const row: ContextRow = {
      ...key,
      title: oneLine(info.title, 300),
      folder: printable(info.root),
      status: isFreshFork(info) ? "paused" : waits && info.status !== "interrupted" ? "waiting" : info.status,
      ...(why !== undefined && why !== "" && { why }),
      ...{ createdAt: info.createdAt, updatedAt: info.updatedAt, events: info.events },
      ...(info.heldBy && { host: hostRow(info.heldBy) }),
      ...(info.ttlMs !== undefined && { ttlMs: info.ttlMs }),
      ...(info.forkOf && { forkOf: { context: info.forkOf.context, seq: info.forkOf.seq } }),
      ...(backup && { backup }),
      ...known?.of(info.id, info.events),
    };
    return { row, needs, isHeld: info.heldBy !== undefined };
  }

  async function readTeams(state: ProjectState): Promise<void> {
    const wakes = await state.project.store.due(Date.now());
    state.teams = new Set(wakes.filter(isTeamWake).map(({ context }) => context));
  }

  /** How far contexts are backed up, where that is another now. */
  async function readBackups(state: ProjectState): Promise<void> {
    const found = await lastBackups(state.project.store).catch(() => state.backups);
    const times = (all: readonly LastBackup[]) => JSON.stringify(all.map(({ place, at }) => [place, at]));
    if (times(found) === times(state.backups)) return;
    state.backups = found;
    const rows: ContextRow[] = [];
    for (const [id, listed] of state.listed) {
      const { backup: before, ...rest } = listed.row;
      const backup = backupOf(found, { id, events: rest.events });
      if (JSON.stringify(backup) === JSON.stringify(before)) continue;
      listed.row = { ...rest, ...(backup && { backup }) };
      rows.push(listed.row);
    }
    if (rows.length > 0) tell({ kind: "contexts", rows, gone: [] });
    tell({ kind: "project", project: state.project.row.id });
  }

  async function refresh(state: ProjectState, ids: Iterable<string>): Promise<void> {
    const rows: ContextRow[] = [];
    const gone: ContextKey[] = [];
    let needsChanged = false;
    await readTeams(state);
    for (const context of ids) {
      const info = await contextInfo(state.project.store, context);
      const before = state.listed.get(context);
      if (!info || info.aside) {
        if (before && state.listed.delete(context)) gone.push({ project: state.project.row.id, context });
        needsChanged ||= (before?.needs.length ?? 0) > 0;
        continue;
      }
      const now = await describe(state, info);
      state.listed.set(context, now);
      needsChanged ||= JSON.stringify(now.needs) !== JSON.stringify(before?.needs ?? []);
      if (JSON.stringify(now.row) !== JSON.stringify(before?.row)) rows.push(now.row);
    }
    if (rows.length + gone.length > 0) tell({ kind: "contexts", rows, gone });
    if (needsChanged) tell({ kind: "needs", needs: allNeeds() });
  }

  const allNeeds = (): Need[] =>
    withinBounds(
      [...states.values()]
        .flatMap(({ listed }) => [...listed.values()].flatMap(({ needs }) => needs))
        .sort((a, b) => Number(a.kind === "failure") - Number(b.kind === "failure") || b.at - a.at),
    );

  function flushSoon(): void {
    flushing ??= sleep(TOGETHER_MS, undefined, { signal })
      .then(async () => {
        for (const state of states.values()) {
          const ids = [...state.dirty];
          state.dirty.clear();
          if (ids.length > 0) await refresh(state, ids);
        }
      })
      .catch(() => undefined) // the store is closed, or hangs: the next bell tries again
      .finally(() => {
        flushing = undefined;
        if ([...states.values()].some(({ dirty }) => dirty.size > 0) && !signal.aborted) flushSoon();
      });
  }

  function rang(project: string, ledger: string): void {
    const state = states.get(project);
    if (!state) return;
    if (isContextId(ledger)) {
      state.dirty.add(ledger);
      flushSoon();
    } else tell({ kind: "project", project });
  }

  async function listen({ project }: ProjectState): Promise<void> {
    for await (const { ledger } of project.store.watchAll(signal)) rang(project.row.id, ledger);
  }

  /** A host that was killed has said nothing: its lease does. */
  function markHeld(): void {
    for (const state of states.values())
      for (const [id, { isHeld, row }] of state.listed) if (isHeld || row.status === "running") state.dirty.add(id);
    flushSoon();
  }

  async function lookOften(): Promise<void> {
    for (let looks = 1; !signal.aborted; looks++) {
      await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
      if (listeners.size === 0) continue;
      markHeld();
      if (looks % LOOKS_FOR_BACKUPS === 0) for (const state of states.values()) await readBackups(state);
    }
  }

  /** Only the figures: nothing else is looked at for them. */
  function figuresKnown({ listed, figures: known }: ProjectState, contexts: readonly string[]): void {
    const rows: ContextRow[] = [];
    for (const context of contexts) {
      const before = listed.get(context);
      if (!before) continue;
      const row = { ...before.row, ...known?.of(context, before.row.events) };
      if (JSON.stringify(row) === JSON.stringify(before.row)) continue;
      listed.set(context, { ...before, row });
      rows.push(row);
    }
    if (rows.length > 0) tell({ kind: "contexts", rows, gone: [] });
  }

  async function beginOne(state: ProjectState): Promise<void> {
    listen(state).catch(() => undefined);
    state.backups = await lastBackups(state.project.store).catch(() => []);
    await readTeams(state).catch(() => undefined);
    for (const info of await listContexts(state.project.store).catch(() => []))
      if (!info.aside) state.listed.set(info.id, await describe(state, info));
    state.figures?.onKnown((contexts) => figuresKnown(state, contexts));
  }

  const begin = (): Promise<void> => {
    begun ??= (async () => {
      for (const state of states.values()) await beginOne(state);
      lookOften().catch(() => undefined);
    })();
    return begun;
  };

  async function tellAll(): Promise<void> {
    tell({ kind: "projects", projects: projectRows() });
    const rows = [...states.values()].flatMap(({ listed }) => [...listed.values()].map(({ row }) => row));
    tell({ kind: "contexts", rows, gone: [] });
    tell({ kind: "needs", needs: allNeeds() });
  }

  const projectRows = (): ProjectRow[] => [...[...states.values()].map(({ project }) => project.row), ...unopened];

  async function now(): Promise<Overview> {
    await begin();
    const contexts = [...states.values()]
      .flatMap(({ listed }) => [...listed.values()].map(({ row }) => row))
      .sort((a, b) => b.updatedAt - a.updatedAt || (a.context < b.context ? 1 : -1));
    return {
      ...{ version: VERSION, now: Date.now(), total: contexts.length, needs: allNeeds() },
      projects: projectRows(),
      contexts: contexts.slice(0, MOST_ROWS),
    };
  }

  return {
    ...{ now, rang, add },
    async look() {
      await begin();
      markHeld();
      await flushing;
    },
    setUnopened(rows) {
      const isSame = JSON.stringify(rows) === JSON.stringify(unopened);
      unopened = rows;
      if (begun && !isSame) tell({ kind: "projects", projects: projectRows() });
    },
    async row({ project, context }) {
      const state = states.get(project);
      const info = state && (await contextInfo(state.project.store, context));
      return info && state && (await describe(state, info)).row;
    },
    async *follow(since, ends) {
      await begin();
      let wake = () => {};
      const heard = () => wake();
      listeners.add(heard);
      ends.addEventListener("abort", heard);
      try {
        let next = numberIn(since) ?? Number.NaN;
        while (!ends.aborted && !signal.aborted) {
          const oldest = count - messages.length; // what came before it is kept no more
          // Of another process, or too far behind: a reader that slept gets everything once more.
          if (!(next >= oldest && next <= count)) {
            next = count;
            yield { id: `${name}.${next}`, message: { kind: "hello", overview: await now() } };
            continue;
          }
          const told = messages[next - oldest];
          if (told) {
            next++;
            yield told;
            continue;
          }
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      } finally {
        listeners.delete(heard);
        ends.removeEventListener("abort", heard);
      }
    },
  };
}

function backupOf(backups: readonly LastBackup[], of: Pick<ContextInfo, "id" | "events">): ContextRow["backup"] {
  const found = backedUpTo(backups, of);
  return found && { at: found.at, lag: found.lag, place: printable(found.place) };
}

export const hostRow = ({ holder, alive }: HeldBy): HostRow => ({
  pid: holder.pid,
  machine: oneLine(holder.machine.replace(/#.*/s, ""), 40),
  here: holder.machine === thisHolder(false).machine,
  alive,
});
