// `holdfast monitor [DIR …]`: a page over all contexts of these projects, on this machine's loopback. A process of its own: nothing that runs needs it.
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { openHome } from "../../contexts/project.ts";
import { countContexts } from "../../front/metrics/count-contexts.ts";
import { countsSlice } from "../../front/metrics/counts.ts";
import { figuresOf, keepCounts } from "../../front/metrics/figures.ts";
import { createMetrics } from "../../front/metrics/metrics.ts";
import { listenOnLoopback } from "../../front/monitor/listen.ts";
import { createOverview } from "../../front/monitor/overview.ts";
import { pageFiles } from "../../front/monitor/page-files.ts";
import { monitorPageFolder } from "../../front/monitor/page-folder.ts";
import { contextReaders } from "../../front/monitor/readers.ts";
import { createMonitorApp } from "../../front/monitor/server.ts";
import { printable } from "../../front/presentation/printable.ts";
import { HoldfastError, isHoldfastError, messageOf } from "../../ledger/error.ts";
import type { Store } from "../../ledger/store.ts";
import { counted } from "../../text/counted.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";
import { makeKeyFile, readKeyFile } from "../key-file.ts";
import { createProjects, namesOneProject } from "../monitored-projects.ts";
import { openInBrowser } from "../open-in-browser.ts";

/** Where it is not taken. */
const USUAL_PORT = 7433;
const MOST_PORT = 65_535;
const TOKEN_FILE = "monitor.token";

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
  const { port: wanted } = flags;
  if (wanted !== undefined && (!Number.isSafeInteger(wanted) || wanted < 0 || wanted > MOST_PORT))
    throw new HoldfastError("invalid", `--port takes a number up to ${MOST_PORT}, such as ${USUAL_PORT}`);
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
    // Of a variable that names one project, the others of this user are shown too.
    const showsAll = dirs.length === 0 && (named.length === 0 || flags.state === undefined);
    for (const dir of named)
      await projects.open(folderIn(flags, dir)).catch((error: unknown) => {
        // A row that says so, until the server is there: the others are shown meanwhile.
        if (!showsAll || !isHoldfastError(error, "unreachable")) throw error;
      });
    if (showsAll) await projects.openKnown();
    overview.now().catch(() => undefined); // the list is there when the page asks for it
    const page = pageFiles(monitorPageFolder());
    const listening = await listenOnLoopback(
      (port) =>
        createMonitorApp({ project: projects.get, overview, promptCache, page, token, port, metrics, recordingOf }),
      { port: flags.port ?? USUAL_PORT, isGiven: flags.port !== undefined },
    );
    if (flags.port === undefined && listening.port !== USUAL_PORT) sayElsewhere(listening.port);
    const url = `http://127.0.0.1:${listening.port}/?token=${token}`;
    if (flags.json)
      process.stdout.write(`${JSON.stringify({ url, port: listening.port, ...(file && { tokenFile: file }) })}\n`);
    else
      process.stdout.write(
        `${counted(projects.count, "project")}: ${url}\nNothing that runs depends on this page. Ctrl-C ends it.\n`,
      );
    if (flags.open) await openInBrowser(url, file).catch(notOpened);
    const looking = showsAll ? setInterval(() => projects.openKnown().catch(() => undefined), LOOK_MS) : undefined;
    await untilSignal();
    clearInterval(looking);
    await listening.close();
    return 0;
  } finally {
    ends.abort();
    await projects.close();
  }
}

/** What was named is told by its name. */
function folderIn({ cwd }: PlaceFlags, dir: string): string {
  const folder = path.resolve(cwd, dir);
  if (fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder;
  throw new HoldfastError("invalid", `${printable(folder)} is not a folder: give one that is, or none`);
}

function sayElsewhere(port: number): void {
  process.stderr.write(
    `holdfast: port ${USUAL_PORT} is taken, most often by a monitor that runs already: this one listens on ${port}\n`,
  );
}

const untilSignal = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
  });

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
