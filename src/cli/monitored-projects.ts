// The projects that `holdfast monitor` shows: those that were named, or every one of this user, wherever its ledgers are.
import path from "node:path";
import { type FoldersOf, type KnownProject, listProjects, ownFolders } from "../contexts/project/links.ts";
import { openHome, stateHome } from "../contexts/project.ts";
import { projectFiles } from "../contexts/project-files.ts";
import type { ProjectRow } from "../front/monitor/api.ts";
import type { MonitoredProject } from "../front/monitor/monitored-project.ts";
import type { OverviewSource } from "../front/monitor/overview.ts";
import { contextReaders } from "../front/monitor/readers.ts";
import { printable } from "../front/presentation/printable.ts";
import { messageOf } from "../ledger/error.ts";
import { openStore } from "../ledger/open-store.ts";
import { projectIn } from "../ledger/server-address.ts";
import type { Store } from "../ledger/store.ts";
import type { PlaceFlags } from "./flags.ts";
import { openState } from "./open.ts";

/** Projects that nothing was recorded in for long are opened when they are named. */
const MOST_PROJECTS = 64;

export interface MonitoredProjects {
  get(id: string): MonitoredProject | undefined;
  all(): MonitoredProject[];
  readonly count: number;
  /** Every project of this user that holds anything; what cannot be opened is a row with its reason. Contract: asked again, it opens what is new. */
  openKnown(): Promise<void>;
  open(dir: string): Promise<void>;
  close(): Promise<void>;
}

export function createProjects(flags: PlaceFlags, overview: OverviewSource): MonitoredProjects {
  const all = new Map<string, MonitoredProject>();
  /** By where its ledgers are: a project may have some in a file, and some on a server. */
  const openPlaces = new Set<string>();
  let opening = Promise.resolve();

  function keep(project: MonitoredProject): void {
    all.set(project.row.id, project);
    overview.add(project);
  }

  const freeId = (id: string): string => (all.has(shortId(id)) ? `${shortId(id)}-${all.size}` : shortId(id));

  async function openOne(known: KnownProject, at: PlaceFlags): Promise<ProjectRow | undefined> {
    const { id, ledgers, folders, here, stateDir, isElsewhere } = known;
    const place = JSON.stringify(ledgers);
    if (!ledgers || openPlaces.has(place)) return undefined;
    const [folder = "", ...others] = folders.map((one) => one.path);
    const row = projectRow({ id: freeId(id), folder, here });
    if (isElsewhere) return all.has(shortId(id)) ? undefined : { ...row, problem: ON_SERVER };
    try {
      // What changed about this folder since the last time is settled as by any command.
      const store = here ? (await openState(at, { patient: true })).store : await openStore(ledgers, { patient: true });
      const { home } = openHome(stateOf(at));
      keep(monitored({ store, row, root: folder, of: { stateDir, top: folder, alsoAt: others, place: { home } } }, at));
      openPlaces.add(place);
      return undefined;
    } catch (error) {
      return { ...row, problem: printable(messageOf(error)) };
    }
  }

  async function openAll(): Promise<void> {
    const unopened: ProjectRow[] = [];
    for (const at of placesOf(flags)) {
      const known = listProjects({ cwd: at.cwd, ...stateOf(at) });
      for (const one of known.filter(({ ledgers }) => ledgers).slice(0, MOST_PROJECTS)) {
        const row = await openOne(one, at);
        if (row) unopened.push(row);
      }
    }
    overview.setUnopened(unopened.filter(({ id }, i) => unopened.findIndex((one) => one.id === id) === i));
  }

  return {
    get: (id) => all.get(id),
    all: () => [...all.values()],
    get count() {
      return all.size;
    },
    openKnown() {
      opening = opening.then(openAll);
      return opening;
    },
    async open(dir) {
      const { project, store } = await openState({ ...flags, cwd: path.resolve(flags.cwd, dir) }, { patient: true });
      const { id, root, ledgers } = project;
      const place = JSON.stringify(ledgers);
      if (openPlaces.has(place)) return store.close();
      openPlaces.add(place);
      const row = projectRow({ id: freeId(id), folder: root, here: true });
      keep(monitored({ store, row, root, of: project }, flags));
    },
    async close() {
      await opening.catch(() => undefined);
      await Promise.all([...all.values()].map(({ store }) => store.close()));
    },
  };
}

const ON_SERVER =
  "its ledgers are on a server, whose address is not recorded here: start the monitor with HOLDFAST_STATE set as it was there";

const stateOf = ({ state }: PlaceFlags): { state?: string } => (state === undefined ? {} : { state });

/** `$HOLDFAST_STATE` says where the work of this shell is; the rest of this user's is where it always is. What was given as a flag is meant alone. */
function placesOf(flags: PlaceFlags): PlaceFlags[] {
  if (flags.state !== undefined || !process.env.HOLDFAST_STATE) return [flags];
  return [flags, { ...flags, state: stateHome() }];
}

/** `sqlite:FILE`, and a server's address with the project in it, are of one project, whatever is known on this machine. */
export function namesOneProject(flags: PlaceFlags): boolean {
  const { file, server = "" } = openHome(stateOf(flags));
  return file !== undefined || projectIn(server) !== undefined;
}

const shortId = (id: string): string => id.slice(0, 12);

const projectRow = ({ id, folder, here }: { id: string; folder: string; here: boolean }): ProjectRow => ({
  ...{ id, name: printable(path.basename(folder)) || id, folder: printable(folder), store: "", here },
});

interface Opened {
  store: Store;
  row: ProjectRow;
  root: string;
  of: FoldersOf;
}

function monitored({ store, row, root, of }: Opened, flags: PlaceFlags): MonitoredProject {
  const { readers } = contextReaders();
  const isOwn = ownFolders(store, of);
  return {
    ...{ store, readers, isOwnFolder: isOwn },
    row: { ...row, store: printable(store.url) },
    place: { cwd: root, ...stateOf(flags) },
    files: (named) => projectFiles({ root: named || root, dir: `${of.stateDir}/files`, isOwn }),
  };
}
