// The backup that a worker keeps up to date, where the settings name a place for one.
import type { WorkFlags } from "./flags.ts";
import type { OpenState } from "./open.ts";

export async function backupOfWorker(
  flags: WorkFlags,
  state: OpenState,
  onProblem: (line: string) => void,
): Promise<{ stop(): Promise<void> } | undefined> {
  const { backupSettings, openVaultFor } = await import("./backup-place.ts");
  const settings = await backupSettings(flags, state.project);
  if (settings.place === undefined) return undefined;
  const [{ DEFAULT_EVERY_MS, doubts, filesDirOf }, { keepBackedUp }] = await Promise.all([
    import("./commands/backup.ts"),
    import("../backup/keep-backed-up.ts"),
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
