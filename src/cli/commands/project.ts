// `holdfast project ls|adopt|forget`: whose state lies where, and which folder goes on with it.
import { adoptProject, forgetProject, type KnownProject, projectsOfFolders } from "../../contexts/project/links.ts";
import { settleMovedRoots } from "../../contexts/project/moved-roots.ts";
import { printable } from "../../front/presentation/printable.ts";
import { openStore } from "../../ledger/open-store.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";

type Look = PlaceFlags & JsonToo;

const placeOf = (flags: PlaceFlags) => ({ cwd: flags.cwd, ...(flags.state && { state: flags.state }) });

export async function ls(flags: Look): Promise<number> {
  return list(projectsOfFolders(placeOf(flags)), flags);
}

export async function forget(flags: Look, which: string): Promise<number> {
  const { id, stateDir, folders } = forgetProject({ ...placeOf(flags), which });
  if (flags.json) print({ id, stateDir, forgotten: true });
  else
    process.stdout.write(
      `Forgotten: no folder leads to project ${id.slice(0, 8)} any more${folders[0] ? ` (it was ${printable(folders[0].path)})` : ""}.\nIts data stays in ${printable(stateDir)}; in any folder \`holdfast project adopt ${id.slice(0, 8)}\` goes on with it.\n`,
    );
  return 0;
}

export async function adopt(flags: Look, which: string): Promise<number> {
  const { project: now, left } = adoptProject({ ...placeOf(flags), which });
  if (now.formerly.length > 0) {
    const store = await openStore(now.ledgers);
    await settleMovedRoots(store, now).finally(() => store.close());
  }
  if (flags.json) print({ id: now.id, top: now.top, stateDir: now.stateDir, ...(left && { left }) });
  else {
    const what =
      which === "new" ? "begins anew, as project" : "goes on with the contexts, tasks and schedules of project";
    process.stdout.write(`${printable(now.top)} ${what} ${now.id.slice(0, 8)}.\n`);
    if (left)
      process.stdout.write(
        `What it had until now (project ${left.id.slice(0, 8)}) stays in ${printable(left.stateDir)}.\n`,
      );
  }
  return 0;
}

function list(all: KnownProject[], flags: Look): number {
  if (flags.json) {
    print(all.map(({ ledgers: _, ...known }) => known)); // an address may hold a password
    return 0;
  }
  if (all.length === 0) process.stderr.write("No projects yet: one begins with the first work in a folder.\n");
  for (const one of all) {
    const unknown = one.ledgers && "server" in one.ledgers ? "on a server" : "never used";
    const used = one.usedAt === undefined ? unknown : new Date(one.usedAt).toISOString().slice(0, 16).replace("T", " ");
    process.stdout.write(
      `${one.here ? "*" : " "} ${one.id.slice(0, 8)}  ${used.padEnd(16)}  ${printable(foldersOf(one))}\n`,
    );
  }
  return 0;
}

function foldersOf({ folders, unlinked }: KnownProject): string {
  const shown = folders.map(({ path, there }) => (there ? path : `${path} (not there any more)`)).join(", ");
  return unlinked ? `forgotten; it was ${shown}` : shown || "no folder";
}

const print = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
