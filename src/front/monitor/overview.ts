// All contexts of all projects as one list, and what waits for a person: kept up with what rings, and told to whoever listens.
import { setTimeout as sleep } from "node:timers/promises";
import { type LastBackup, lastBackups } from "../../backup/own-ledgers.ts";
import { contextEntries, contextInfo, isContextId, listContexts } from "../../contexts/listing.ts";
import type { Seq } from "../../ledger/store.ts";
import { isTeamWake } from "../../mechanisms/team/talk.ts";
import { counted } from "../../text/counted.ts";
import { VERSION } from "../../version.ts";
import { printable } from "../presentation/printable.ts";
import type { ContextKey, ContextRow, Need, Overview, OverviewMessage, ProjectRow } from "./api.ts";
import {
  backupOf,
  type FiguresSource,
  type ListedContext,
  listedContext,
  type ProjectState,
  withFigures,
} from "./listed-context.ts";
import { keepLedgers, type MonitoredProject } from "./monitored-project.ts";
import { withinBounds } from "./needs.ts";
import { watchTrouble } from "./store-trouble.ts";

/** What rings within this time is told together. */
const TOGETHER_MS = 40;
/** A host that dies writes nothing: those that were alive are looked at this often, while somebody listens. */
const LOOK_MS = 400;
/** A backup rings no bell: of so many looks one is for them. */
const LOOKS_FOR_BACKUPS = 10;
/** A removal rings no bell either, and of a store that did not answer bells were missed: of so many looks one compares all. */
const LOOKS_TO_COMPARE = 3;
/** So long a store is waited for by who asks; then what is known of it has to do. */
const PATIENCE_MS = 1_000;
/** So long after it failed it is listened to again. */
const AGAIN_MS = 1_000;
/** So many messages are kept for listeners that come back. */
const KEPT = 2_000;
/** Rows of the list: `total` says how many there are; `holdfast contexts ls` has the older ones. */
const MOST_ROWS = 5_000;
const MOST_WAITING = 400;

interface Told {
  /** Of the messages of this process: they begin with a name of their own. */
  id: string;
  message: OverviewMessage;
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
    const listed = new Map<string, ListedContext>();
    const known = figures?.(project);
    const state: ProjectState = {
      ...{ project, waits, figures: known, backups: [], teams: new Set(), listed, dirty: new Set() },
      ...{ heads: new Map<string, Seq>(), trouble: watchTrouble(store) },
    };
    states.set(project.row.id, state);
    if (begun) begun = begun.then(() => beginOne(state)).then(tellAll);
  }
  const name = Math.random().toString(36).slice(2, 10);
  const messages: Told[] = [];
  const listeners = new Set<() => void>();
  let count = 0;
  let toldProjects = "";
  let begun: Promise<void> | undefined;

  /** Of a message of this process. */
  const numberIn = (id: string | undefined): number | undefined =>
    id?.startsWith(`${name}.`) ? Number(id.slice(name.length + 1)) : undefined;

  function tell(message: OverviewMessage): void {
    messages.push({ id: `${name}.${++count}`, message });
    if (messages.length > KEPT) messages.splice(0, messages.length - KEPT);
    for (const wake of listeners) wake();
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
      const now = await listedContext(state, info);
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

  function flushSoon(state: ProjectState): void {
    state.flushing ??= sleep(TOGETHER_MS, undefined, { signal })
      .then(() => flush(state))
      .then(() => true)
      .catch(() => false) // the store is closed, or hangs: the next look tries again
      .finally(() => {
        state.flushing = undefined;
        if (state.dirty.size > 0 && !signal.aborted) flushSoon(state);
      });
  }

  async function flush(state: ProjectState): Promise<void> {
    const ids = [...state.dirty];
    state.dirty.clear();
    if (ids.length > 0) await refresh(state, ids);
  }

  /** Contexts that came, went on or are gone without a bell. Contract: throws nothing; one at a time. */
  function compare(state: ProjectState): Promise<void> {
    state.comparing ??= (async () => {
      const heads = new Map<string, Seq>();
      for await (const { ledger, head } of contextEntries(state.project.store)) heads.set(ledger, head);
      for (const id of state.listed.keys()) if (!heads.has(id)) state.dirty.add(id);
      for (const [id, head] of heads)
        if (state.listed.get(id)?.row.events !== head && state.heads.get(id) !== head) state.dirty.add(id);
      while (state.dirty.size > 0 && !signal.aborted) {
        flushSoon(state);
        if (!(await state.flushing)) return;
      }
      state.heads = heads;
    })()
      .catch(() => undefined)
      .finally(() => {
        state.comparing = undefined;
      });
    return state.comparing;
  }

  const within = (work: Iterable<Promise<unknown> | undefined>): Promise<unknown> =>
    Promise.race([Promise.all(work), sleep(PATIENCE_MS, undefined, { ref: false })]);

  function rang(project: string, ledger: string): void {
    const state = states.get(project);
    if (!state) return;
    if (isContextId(ledger)) {
      state.dirty.add(ledger);
      flushSoon(state);
    } else tell({ kind: "project", project });
  }

  async function listen({ project }: ProjectState): Promise<void> {
    while (!signal.aborted) {
      try {
        for await (const { ledger } of project.store.watchAll(signal)) rang(project.row.id, ledger);
      } catch {
        // It fell silent: what rings meanwhile is found by comparing.
      }
      await sleep(AGAIN_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** A host that was killed has said nothing: its lease does. */
  function markHeld(): void {
    for (const state of states.values()) {
      for (const [id, { isHeld, row }] of state.listed) if (isHeld || row.status === "running") state.dirty.add(id);
      if (state.dirty.size > 0) flushSoon(state);
    }
  }

  async function lookOften(): Promise<void> {
    for (let looks = 1; !signal.aborted; looks++) {
      await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
      if (listeners.size === 0) continue;
      markHeld();
      if (looks % LOOKS_TO_COMPARE === 0) for (const state of states.values()) compare(state);
      if (looks % LOOKS_FOR_BACKUPS === 0) await within([...states.values()].map(readBackups));
      tellProjects();
    }
  }

  /** Only the figures: nothing else is looked at for them. */
  function figuresKnown({ listed, figures: known }: ProjectState, contexts: readonly string[]): void {
    const rows: ContextRow[] = [];
    for (const context of contexts) {
      const before = listed.get(context);
      if (!before) continue;
      const row = withFigures(before.row, known?.of(context, before.row.events));
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
      if (!info.aside) state.listed.set(info.id, await listedContext(state, info));
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
    tellProjects();
    const rows = [...states.values()].flatMap(({ listed }) => [...listed.values()].map(({ row }) => row));
    tell({ kind: "contexts", rows, gone: [] });
    tell({ kind: "needs", needs: allNeeds() });
  }

  function projectRowOf({ project: { row, store }, listed, trouble }: ProjectState): ProjectRow {
    const silent = trouble();
    const damaged = [...listed.values()].filter((one) => one.row.damaged !== undefined).length;
    const problems = [
      ...(silent ? [silent.says] : []),
      // As of now: it may have turned out to be damaged since it was opened.
      ...(store.readOnly ? [printable(store.readOnly.message)] : []),
      ...(damaged > 0 ? [`${counted(damaged, "context")} damaged: holdfast contexts verify names what is wrong`] : []),
    ];
    return {
      ...row,
      ...(problems.length > 0 && { problem: problems.join("; ") }),
      ...(silent && { silentSince: silent.since }),
    };
  }

  const projectRows = (): ProjectRow[] => [...[...states.values()].map(projectRowOf), ...unopened];

  function tellProjects(): void {
    const projects = projectRows();
    const said = JSON.stringify(projects);
    if (said !== toldProjects) tell({ kind: "projects", projects });
    toldProjects = said;
  }

  async function now(): Promise<Overview> {
    await begin();
    await within([...states.values()].map(compare));
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
      await within([...states.values()].map(({ flushing }) => flushing));
    },
    setUnopened(rows) {
      unopened = rows;
      if (begun) tellProjects();
    },
    async row({ project, context }) {
      const state = states.get(project);
      const info = state && (await contextInfo(state.project.store, context));
      return info && state && (await listedContext(state, info)).row;
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
