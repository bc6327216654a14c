// Whether there is a backup to restore, asked before a state directory is made for it: what is refused leaves nothing behind.
import fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProject, openHome, withLedgers } from "../contexts/project.ts";
import { settingsPlaces } from "../settings/files.ts";
import { loadSettings } from "../settings/load.ts";
import { type BackupFlags, openVaultFor } from "./backup-place.ts";
import { knownState } from "./known-state.ts";
import { trustOf } from "./settings.ts";

/** Contract: reads only. Where the project has a state already, the restore itself asks. */
export async function refuseUnlessRestorable(
  flags: BackupFlags & { at?: string | undefined; partial: boolean },
  given: string | undefined,
): Promise<void> {
  if (knownState(flags)) return;
  const { chooseManifest } = await import("../backup/check-backup.ts");
  const aside = fs.mkdtempSync(join(tmpdir(), "holdfast-restorable-"));
  try {
    const found = findProject({ cwd: flags.cwd, state: aside });
    if ("kind" in found) return;
    const { at, partial } = flags;
    const { server } = openHome(flags.state === undefined ? {} : { state: flags.state });
    const project = withLedgers(found, { home: aside, server });
    // What is wrong with the settings is said by the restore itself.
    const { settings } = await loadSettings({
      ...{ root: project.root, trust: trustOf(flags, project) },
      ...settingsPlaces(),
    });
    const vault = await openVaultFor(flags, project, { given, settings: settings.backup });
    await chooseManifest(vault, { partial, ...(at !== undefined && { at }) });
  } finally {
    fs.rmSync(aside, { recursive: true, force: true });
  }
}
