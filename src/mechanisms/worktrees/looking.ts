// Looking at a worktree, finding the way to it, and marking it for review.
import { join } from "node:path";
import { refused } from "../../file-access/refused.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { cutText } from "../../text/cut.ts";
import { visible } from "../../text/visible.ts";
import { openDir, type WorktreePlace } from "./make.ts";
import { branchOf, checkWorktreeName, type WorktreeState } from "./port.ts";
import { checkInPlace, findRegistered, reasonOf, writeLock } from "./registered.ts";
import { registeredAt } from "./remove.ts";
import { openGit, repositoryOf } from "./repository.ts";
import { countUnmerged, worktreesState } from "./state.ts";
import { afterOthers, inTurn } from "./turns.ts";

const NOTE_CHARS = 300;

export async function look(place: WorktreePlace, name: string): Promise<WorktreeState> {
  checkWorktreeName(name);
  const main = repositoryOf(place.root);
  const path = join(openDir(place.dir), name);
  return worktreesState(await openGit(main, place.dir), { name, path, registered: registeredAt(main, name, path) });
}

export async function branchLeft(
  place: WorktreePlace,
  name: string,
): Promise<{ branch: string; unmerged: number } | undefined> {
  checkWorktreeName(name);
  const git = await openGit(repositoryOf(place.root), place.dir);
  const branch = branchOf(name);
  if ((await git(["for-each-ref", `refs/heads/${branch}`])) === "") return undefined;
  return { branch, unmerged: await countUnmerged(git, branch) };
}

/** Waits for who makes or removes it: afterwards it is there, or it is not. */
export async function worktreePlace(place: WorktreePlace, name: string): Promise<string> {
  const gone = (why: string) =>
    new HoldfastError("refused", `the worktree ${visible(name.slice(0, 60))} ${why}`, {
      next: "make or free worktree",
    });
  try {
    checkWorktreeName(name);
  } catch {
    throw gone("is none of ours");
  }
  const dir = openDir(place.dir);
  return afterOthers({ dir, name }, async () => {
    const path = join(dir, name);
    const registered = findRegistered(repositoryOf(place.root).common, path);
    if (!registered) throw gone("is not there");
    if (registered.lock?.ours && registered.lock.phase === "being made") throw gone("is unfinished");
    checkInPlace(path, registered.admin);
    return path;
  });
}

export async function keep(place: WorktreePlace, name: string, note: string): Promise<WorktreeState> {
  checkWorktreeName(name);
  const dir = openDir(place.dir);
  return inTurn({ dir, name }, async ({ descriptor }) => {
    const main = repositoryOf(place.root);
    const path = join(dir, name);
    const registered = registeredAt(main, name, path);
    const { lock, admin } = registered;
    if (lock && !lock.ours)
      throw refused(
        `git holds the worktree ${name} locked, and not for us (${visible(lock.reason)}): it stays in any case`,
      );
    const state = await worktreesState(await openGit(main, place.dir, descriptor), { name, path, registered });
    const kept = visible(cutText(note.replace(/\s+/g, " ").trim(), NOTE_CHARS));
    writeLock(admin, reasonOf("kept for review", lock?.mark ?? branchOf(name), kept));
    return { ...state, kept };
  });
}
