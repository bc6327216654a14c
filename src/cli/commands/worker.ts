// `holdfast worker`: a process that hosts teammates and schedules of this project until it is told to end.
import { keepSweeping } from "../../contexts/sweep.ts";
import { requestLine } from "../../front/presentation/command-line.ts";
import { printable } from "../../front/presentation/printable.ts";
import { createHostedOutput } from "../../front/text/hosted-output.ts";
import { createScreen, isLiveTerminal } from "../../front/text/screen.ts";
import type { WorkFlags } from "../flags.ts";
import { type OpenState, openState } from "../open.ts";
import { openHarness } from "../open-harness.ts";

export async function worker(flags: WorkFlags & { concurrency?: number; debug: boolean }): Promise<number> {
  const state = await openState(flags);
  try {
    const screen = createScreen({ isLive: isLiveTerminal() });
    const { harness, settings, asksHere } = await openHarness(flags, state, { screen });
    for (const line of settings.says) process.stderr.write(`holdfast: ${printable(line)}\n`);
    const show = createHostedOutput({ quiet: flags.quiet, screen, asksHere, toSee: (id) => requestLine(id, flags) });
    const over = new AbortController();
    let times = 0;
    const leave = (signal: NodeJS.Signals) => {
      if (signal !== "SIGHUP" && ++times > 1) process.exit(130);
      over.abort();
      screen.print(["Ending; what runs is taken up by the next host."]);
    };
    process.on("SIGINT", leave).on("SIGTERM", leave).on("SIGHUP", leave);
    const hosting = await harness.hosting({
      ...(flags.concurrency !== undefined && { concurrency: flags.concurrency }),
      onProblem: (text) => screen.print([`holdfast: ${printable(text)}`]),
      onTaken: ({ ledger }, agent) => show(ledger, agent),
    });
    if (!flags.quiet)
      screen.print([`Hosting the teams and schedules of ${printable(state.project.root)}. Ctrl-C ends it.`]);
    const { ttlMs } = state.expiry;
    const sweeper = keepSweeping(state.store, ttlMs === undefined ? {} : { defaultTtlMs: ttlMs });
    const backup = await backingUp(flags, state, (line) => screen.print([`holdfast: ${printable(line)}`]));
    try {
      await hosting.run(over.signal);
    } finally {
      await sweeper.stop();
      process.removeListener("SIGINT", leave).removeListener("SIGTERM", leave).removeListener("SIGHUP", leave);
      screen.close();
      await harness.close();
      await backup?.stop(); // with what was recorded last
    }
    return 0;
  } finally {
    await state.store.close();
  }
}

/** Where the settings name a place: a worker keeps a backup there up to date. */
async function backingUp(
  flags: WorkFlags,
  state: OpenState,
  onProblem: (line: string) => void,
): Promise<{ stop(): Promise<void> } | undefined> {
  const { backupSettings, openVaultFor } = await import("../backup-place.ts");
  const settings = await backupSettings(flags, state.project);
  if (settings.place === undefined) return undefined;
  const [{ DEFAULT_EVERY_MS, doubts, filesDirOf }, { keepBackedUp }] = await Promise.all([
    import("./backup.ts"),
    import("../../backup/keep-backed-up.ts"),
  ]);
  const { store, project } = state;
  const vault = await openVaultFor(flags, project, { write: true, settings });
  const { everyMs = DEFAULT_EVERY_MS, keepMs } = settings;
  return keepBackedUp({
    ...{ store, vault, path: project.top, filesDir: filesDirOf(state), everyMs, onProblem },
    ...(keepMs !== undefined && { keepMs }),
    onBackup: (report) => doubts(report).forEach(onProblem),
  });
}
