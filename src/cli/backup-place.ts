// Which place, which key, which project a backup is about: from words, flags, the environment and the user's settings.
import { homedir } from "node:os";
import { resolve } from "node:path";
import { type BackupPlace, openPlace } from "../backup/place.ts";
import { readKey } from "../backup/sealing.ts";
import { openVault, plainName, projectsIn, type Vault } from "../backup/vault.ts";
import type { Project } from "../contexts/project.ts";
import { printable } from "../front/presentation/printable.ts";
import { HoldfastError } from "../ledger/error.ts";
import { settingsPlaces } from "../settings/files.ts";
import { loadSettings } from "../settings/load.ts";
import { periodOf, type Settings } from "../settings/types.ts";
import type { PlaceFlags } from "./flags.ts";
import { trustOf } from "./settings.ts";

export type BackupFlags = PlaceFlags & { keyFile?: string | undefined; project?: string | undefined };

export async function backupSettings(flags: PlaceFlags, project: Project): Promise<Settings["backup"]> {
  const places = settingsPlaces();
  const { settings, warnings } = await loadSettings({ root: project.root, ...places, trust: trustOf(flags, project) });
  for (const line of warnings) process.stderr.write(`holdfast: ${printable(line)}\n`);
  return settings.backup;
}

/** The place that was named, or that the settings name. */
export async function openVaultFor(
  flags: BackupFlags,
  project: Project,
  { given, write = false, settings }: { given?: string | undefined; write?: boolean; settings?: Settings["backup"] },
): Promise<Vault> {
  const said = settings ?? (await backupSettings(flags, project));
  const named = given ?? said.place;
  if (named === undefined)
    throw new HoldfastError(
      "invalid",
      'no place for backups is named: give s3://BUCKET/PREFIX or a folder, or set "backup": { "place": "…" } in your settings',
    );
  const key = readKey(keyFileOf(flags.keyFile ?? said.keyFile));
  const place = await openPlace(named, { write });
  const which = write ? nameOf(project) : await projectIn(place, flags.project, project);
  return openVault(place, which, key);
}

/** On a server a project has the same name for every machine. */
const nameOf = ({ id, ledgers }: Project): string => ("server" in ledgers ? ledgers.project : id);

const keyFileOf = (file: string | undefined): string | undefined =>
  file === undefined ? undefined : resolve(file.replace(/^~(?=\/)/, process.env.HOME || homedir()));

/** Restored elsewhere, a project has another id: the only one that is there is meant. */
async function projectIn(place: BackupPlace, wanted: string | undefined, project: Project): Promise<string> {
  const all = await projectsIn(place);
  const [only, ...more] = all;
  if (only === undefined) throw new HoldfastError("not_found", `${place.shown} holds no backup`);
  if (wanted !== undefined) {
    const fitting = all.filter((one) => one.startsWith(wanted));
    if (fitting[0] !== undefined && fitting.length === 1) return fitting[0];
    throw new HoldfastError("not_found", `${place.shown} has no project ${wanted}: it has ${all.join(", ")}`);
  }
  const own = nameOf(project);
  if (all.includes(plainName(own))) return own;
  if (more.length === 0) return only;
  throw new HoldfastError(
    "invalid",
    `${place.shown} has backups of several projects: give --project ${all.join(" or ")}`,
  );
}

/** A time that a flag gives, such as 10s or 30d. */
export function timeFlag(name: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const ms = periodOf(given);
  if (ms === undefined) throw new HoldfastError("invalid", `--${name} ${given}: give a time such as 10s, 12h or 30d`);
  return ms;
}
