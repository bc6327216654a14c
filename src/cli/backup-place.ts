// Which place, which key, which project a backup is about: from words, flags, the environment and the user's settings.
import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type BackupPlace, folderOfPlace, openPlace, pathOfUser } from "../backup/place.ts";
import { readKey } from "../backup/sealing.ts";
import { openVault, plainName, projectsIn, type Vault } from "../backup/vault.ts";
import { type KnownProject, listProjects } from "../contexts/project/links.ts";
import { type Project, stateHome } from "../contexts/project.ts";
import { isInside } from "../file-access/paths.ts";
import { printable } from "../front/presentation/printable.ts";
import { HoldfastError } from "../ledger/error.ts";
import { settingsPlaces } from "../settings/files.ts";
import { loadSettings } from "../settings/load.ts";
import { periodOf, type Settings } from "../settings/types.ts";
import type { PlaceFlags } from "./flags.ts";
import { stateRoot, trustOf } from "./settings.ts";

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
  const keyNamed = flags.keyFile ?? said.keyFile;
  const keyFile = keyNamed === undefined ? undefined : pathOfUser(keyNamed);
  const folder = folderOfPlace(named);
  if (write && folder !== undefined)
    refuseWithin(folder, { is: "a place for backups", project, root: stateRoot(flags, project) });
  if (write && keyFile !== undefined) refuseWithin(keyFile, { is: "the key of backups", project });
  const key = readKey(keyFile);
  const place = await openPlace(named, { write });
  const which = write ? nameOf(project) : await projectIn(place, flags, project);
  return openVault(place, which, key);
}

/** What the project's commands can change, or what goes with the state, is no place to keep what is to outlive them. */
function refuseWithin(path: string, { is, project, root }: { is: string; project: Project; root?: string }): void {
  const real = realPathOf(path);
  const inProject = [project.root, project.top].some((dir) => isInside(realPathOf(dir), real));
  const inState = root !== undefined && [root, stateHome()].some((dir) => isInside(realPathOf(dir), real));
  if (!inProject && !inState) return;
  const where = inProject ? "in the project's folder, where its commands reach it" : "in the state directory";
  throw new HoldfastError("invalid", `${path} lies ${where}: ${is} is to be outside of it`);
}

/** Of what is not there yet: where it would be. */
function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), basename(path));
  }
}

/** On a server a project has the same name for every machine. */
const nameOf = ({ id, ledgers }: Pick<KnownProject, "id" | "ledgers">): string =>
  ledgers && "server" in ledgers ? ledgers.project : id;

/** Contract: the project of this folder, or the one that is named; never another because it is the only one that is there. */
async function projectIn(place: BackupPlace, flags: BackupFlags, project: Project): Promise<string> {
  const all = await projectsIn(place);
  const { project: wanted } = flags;
  if (all.length === 0) throw new HoldfastError("not_found", `${place.shown} holds no backup`);
  if (wanted !== undefined) {
    const fitting = all.includes(plainName(wanted)) ? [plainName(wanted)] : all.filter((one) => one.startsWith(wanted));
    if (fitting[0] !== undefined && fitting.length === 1) return fitting[0];
    const what = fitting.length > 1 ? `several projects ${wanted}…: ${listed(fitting)}` : `no project ${wanted}`;
    throw new HoldfastError(
      "not_found",
      `${place.shown} has ${what}${fitting.length > 1 ? "" : `: it has ${listed(all)}`}`,
    );
  }
  const own = [nameOf(project), ...usualNames(flags)].find((name) => all.includes(plainName(name)));
  if (own !== undefined) return own;
  throw new HoldfastError(
    "not_found",
    `${place.shown} has no backup of this folder's project: give --project for another (it has ${listed(all)})`,
  );
}

const MOST_LISTED = 10;
const listed = (names: readonly string[]): string =>
  names.slice(0, MOST_LISTED).join(", ") +
  (names.length > MOST_LISTED ? ` and ${names.length - MOST_LISTED} more` : "");

/** With another state directory the folder has another id: what it is called in the usual ones is the same project. */
function usualNames({ cwd, state }: BackupFlags): string[] {
  const { HOLDFAST_STATE, ...env } = process.env;
  if (!state && !HOLDFAST_STATE) return [];
  const usual = [...(state && HOLDFAST_STATE ? [process.env] : []), env];
  return usual.flatMap((one) =>
    listProjects({ cwd, env: one })
      .filter(({ here }) => here)
      .map((known) => nameOf(known)),
  );
}

/** A time that a flag gives, such as 10s or 30d. */
export function timeFlag(name: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const ms = periodOf(given);
  if (ms === undefined) throw new HoldfastError("invalid", `--${name} ${given}: give a time such as 10s, 12h or 30d`);
  return ms;
}
