// `holdfast monitor [DIR …]`: a page over all contexts of these projects, on this machine's loopback. A process of its own: nothing that runs needs it.
import { randomBytes } from "node:crypto";
import path from "node:path";
import { listProjects } from "../../contexts/project/links.ts";
import { openHome } from "../../contexts/project.ts";
import { projectFiles } from "../../contexts/project-files.ts";
import { countContexts } from "../../front/metrics/count-contexts.ts";
import { countsSlice } from "../../front/metrics/counts.ts";
import { figuresOf, keepCounts } from "../../front/metrics/figures.ts";
import { createMetrics } from "../../front/metrics/metrics.ts";
import type { ProjectRow } from "../../front/monitor/api.ts";
import { listenOnLoopback } from "../../front/monitor/listen.ts";
import type { MonitoredProject } from "../../front/monitor/monitored-project.ts";
import { createOverview, type OverviewSource } from "../../front/monitor/overview.ts";
import { pageFiles } from "../../front/monitor/page-files.ts";
import { monitorPageFolder } from "../../front/monitor/page-folder.ts";
import { contextReaders } from "../../front/monitor/readers.ts";
import { createMonitorApp } from "../../front/monitor/server.ts";
import { printable } from "../../front/presentation/printable.ts";
import { messageOf } from "../../ledger/error.ts";
import { openStore } from "../../ledger/open-store.ts";
import { projectIn } from "../../ledger/server-address.ts";
import type { Store } from "../../ledger/store.ts";
import { counted } from "../../text/counted.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";
import { makeKeyFile, readKeyFile } from "../key-file.ts";
import { openState } from "../open.ts";
import { openInBrowser } from "../open-in-browser.ts";

/** Where it is not taken. */
const USUAL_PORT = 7433;
const TOKEN_FILE = "monitor.token";
/** Projects that nothing was recorded in for long are opened when they are named. */
const MOST_PROJECTS = 64;

export interface MonitorFlags extends PlaceFlags, JsonToo {
  port?: number;
  open?: boolean;
}

/** Projects that begin while it runs are found this often. */
const LOOK_MS = 2_000;

/** Loaded when somebody wants one. */
const recordingOf = async (store: Store, context: string): Promise<string> =>
  (await (await import("../../replay/index.ts")).recordedFixture(store, context)).text;

export async function monitor(flags: MonitorFlags, dirs: readonly string[]): Promise<number> {
  const ends = new AbortController();
  const { readers, promptCache } = contextReaders();
  const slice = countsSlice(promptCache);
  const counts = keepCounts(({ store }) => countContexts({ store, codec: readers.codec, slice, signal: ends.signal }));
  const overview = createOverview({ signal: ends.signal, figures: (project) => figuresOf(counts.of(project)) });
  const projects = createProjects(flags, overview);
  const metrics = createMetrics({
    projects: () => projects.all().map((project) => ({ ...project, counts: counts.of(project) })),
    overview: () => overview.look().then(overview.now),
  });
  try {
    const { token, file } = tokenIn(flags);
    const named = dirs.length === 0 && namesOneProject(flags) ? ["."] : dirs;
    for (const dir of named) await projects.open(dir);
    if (named.length === 0) await projects.openKnown();
    overview.now().catch(() => undefined); // the list is there when the page asks for it
    const page = pageFiles(monitorPageFolder());
    const listening = await listenOnLoopback(
      (port) =>
        createMonitorApp({ project: projects.get, overview, promptCache, page, token, port, metrics, recordingOf }),
      { port: flags.port ?? USUAL_PORT, isGiven: flags.port !== undefined },
    );
    const url = `http://127.0.0.1:${listening.port}/?token=${token}`;
    if (flags.json)
      process.stdout.write(`${JSON.stringify({ url, port: listening.port, ...(file && { tokenFile: file }) })}\n`);
    else
      process.stdout.write(
        `${counted(projects.count, "project")}: ${url}\nNothing that runs depends on this page. Ctrl-C ends it.\n`,
      );
    if (flags.open) await openInBrowser(url, file).catch(notOpened);
    const looking =
      named.length > 0 ? undefined : setInterval(() => projects.openKnown().catch(() => undefined), LOOK_MS);
    await untilSignal();
    clearInterval(looking);
    await listening.close();
    return 0;
  } finally {
    ends.abort();
    await projects.close();
  }
}

const untilSignal = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
  });

/** `--state sqlite:FILE`, and a server's address with the project in it, are of one project, whatever is known on this machine. */
function namesOneProject({ state }: PlaceFlags): boolean {
  const { file, server = "" } = openHome({ ...(state !== undefined && { state }) });
  return file !== undefined || projectIn(server) !== undefined;
}

/** Kept: a page that is open stays so when the monitor is started again. Where nothing can be written, one for this time. */
function tokenIn(flags: PlaceFlags): { token: string; file?: string } {
  const { home } = openHome({ ...(flags.state !== undefined && { state: flags.state }) });
  const file = path.join(home, TOKEN_FILE);
  const token = readKeyFile(file) ?? makeKeyFile(file);
  return token === undefined ? { token: randomBytes(32).toString("hex") } : { token, file };
}

function notOpened(error: unknown): void {
  process.stderr.write(`holdfast: ${printable(messageOf(error))}: open the address yourself\n`);
}

function createProjects(flags: MonitorFlags, overview: OverviewSource) {
  const all = new Map<string, MonitoredProject>();
  let opening = Promise.resolve();

  function keep(project: MonitoredProject): void {
    all.set(project.row.id, project);
    overview.add(project);
  }

  /** Every project of this user that holds anything; what cannot be opened is a row with its reason. */
  async function openAll(): Promise<void> {
    const unopened: ProjectRow[] = [];
    const known = listProjects({ cwd: flags.cwd, ...(flags.state && { state: flags.state }) });
    for (const { id, ledgers, folders, here, stateDir } of known.filter((one) => one.ledgers).slice(0, MOST_PROJECTS)) {
      if (all.has(shortId(id))) continue;
      const folder = folders[0]?.path ?? "";
      const row = projectRow({ id, folder, here });
      try {
        // What changed about this folder since the last time is settled as by any command.
        const store = here
          ? (await openState(flags, { patient: true })).store
          : await openStore(ledgers!, { patient: true });
        keep(monitored({ store, stateDir, row, root: folder }, flags));
      } catch (error) {
        unopened.push({ ...row, problem: printable(messageOf(error)) });
      }
    }
    overview.setUnopened(unopened);
  }

  return {
    get: (id: string): MonitoredProject | undefined => all.get(id),
    all: (): MonitoredProject[] => [...all.values()],
    get count() {
      return all.size;
    },
    openKnown(): Promise<void> {
      opening = opening.then(openAll);
      return opening;
    },
    async open(dir: string): Promise<void> {
      const { project, store } = await openState({ ...flags, cwd: path.resolve(flags.cwd, dir) }, { patient: true });
      const { id, root, stateDir } = project;
      if (all.has(shortId(id))) await store.close();
      else keep(monitored({ store, stateDir, row: projectRow({ id, folder: root, here: true }), root }, flags));
    },
    async close(): Promise<void> {
      await opening.catch(() => undefined);
      await Promise.all([...all.values()].map(({ store }) => store.close()));
    },
  };
}

const shortId = (id: string): string => id.slice(0, 12);

const projectRow = ({ id, folder, here }: { id: string; folder: string; here: boolean }): ProjectRow => ({
  ...{
    id: shortId(id),
    name: printable(path.basename(folder)) || shortId(id),
    folder: printable(folder),
    store: "",
    here,
  },
});

function monitored(
  { store, stateDir, row, root }: { store: Store; stateDir: string; row: ProjectRow; root: string },
  flags: MonitorFlags,
): MonitoredProject {
  const { readers } = contextReaders();
  const problem = store.readOnly && { problem: printable(store.readOnly.message) };
  return {
    ...{ store, readers },
    row: { ...row, store: printable(store.url), ...problem },
    place: { cwd: root, ...(flags.state !== undefined && { state: flags.state }) },
    files: (of) => projectFiles({ root: of || root, dir: `${stateDir}/files` }),
  };
}
