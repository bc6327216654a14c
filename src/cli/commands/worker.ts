// `holdfast worker [DIR …]`: a process that hosts teammates, schedules and interrupted workflows of projects until it is told to end.
import { resolve } from "node:path";
import { printable } from "../../front/presentation/printable.ts";
import { createScreen, isLiveTerminal, type Screen } from "../../front/text/screen.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { createFairSlots } from "../../loop/fair-slots.ts";
import { openWorkerProject, type WorkerFlags, type WorkerProject } from "../worker-project.ts";

const CONCURRENCY = 8;
const DRAIN_MS = 30_000;
const CLOSING_MS = 10_000;

type Flags = WorkerFlags & { concurrency?: number; drain?: number; debug: boolean };

export async function worker(flags: Flags, dirs: readonly string[]): Promise<number> {
  const screen = createScreen({ isLive: isLiveTerminal() });
  const slots = createFairSlots(flags.concurrency ?? CONCURRENCY);
  const places = dirs.length === 0 ? [flags.cwd] : dirs.map((dir) => resolve(flags.cwd, dir));
  const projects: WorkerProject[] = [];
  try {
    for (const cwd of places) {
      const opened = await openWorkerProject({ ...flags, cwd }, { screen, slots });
      const same = projects.find(({ url }) => url === opened.url);
      if (!same) projects.push(opened);
      else await opened.close();
      // Two folders of one project: the first one counts.
      if (same && same.id !== opened.id) throw oneForAll(same, opened);
    }
    await untilTold(projects, { screen, quiet: flags.quiet, drainMs: flags.drain ?? DRAIN_MS });
    return 0;
  } finally {
    screen.close();
    for (const project of projects) await project.close();
  }
}

const oneForAll = (one: WorkerProject, other: WorkerProject): HoldfastError =>
  new HoldfastError(
    "invalid",
    `${one.root} and ${other.root} would be one project, as the state names it (project=…): leave that out, or start a worker for each`,
  );

/** The first signal lets what runs come to the end of its round, the second ends at once. */
async function untilTold(
  projects: readonly WorkerProject[],
  { screen, quiet, drainMs }: { screen: Screen; quiet: boolean; drainMs: number },
): Promise<void> {
  const drain = new AbortController();
  const over = new AbortController();
  let deadline: NodeJS.Timeout | undefined;
  const leave = (signal: NodeJS.Signals) => {
    if (drain.signal.aborted) {
      if (signal !== "SIGHUP") process.exit(130);
      return;
    }
    const running = () => projects.reduce((sum, one) => sum + one.running, 0);
    const until = Date.now() + drainMs;
    screen.print([`Ending: ${draining(running(), drainMs)}. What is left is taken up by the next host.`]);
    screen.status(() => draining(running(), until - Date.now()));
    // A store that does not answer keeps nobody: what is not recorded is taken up by the next host.
    setTimeout(() => process.exit(1), (running() === 0 ? 0 : drainMs) + CLOSING_MS).unref();
    deadline = setTimeout(() => over.abort(), drainMs);
    drain.abort();
  };
  process.on("SIGINT", leave).on("SIGTERM", leave).on("SIGHUP", leave);
  const names = projects.map(({ root }) => printable(root)).join(", ");
  if (!quiet) screen.print([`Hosting teams, schedules and workflows of ${names}. Ctrl-C ends it.`]);
  try {
    await Promise.all(projects.map((one) => one.run(over.signal, drain.signal)));
  } finally {
    clearTimeout(deadline);
    screen.status(undefined);
    process.removeListener("SIGINT", leave).removeListener("SIGTERM", leave).removeListener("SIGHUP", leave);
  }
}

function draining(running: number, leftMs: number): string {
  if (running === 0) return "nothing runs";
  const who = running === 1 ? "one agent comes" : `${running} agents come`;
  return `${who} to the end of a round, for ${Math.max(0, Math.ceil(leftMs / 1000))} s at most; Ctrl-C again ends at once`;
}
