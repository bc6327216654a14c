// What follows when a project's folder has another path: its contexts work where it is now, and its worktrees find their repository.
import fs from "node:fs";
import path from "node:path";
import { crashPoint } from "../../ledger/crash-point.ts";
import { isHoldfastError } from "../../ledger/error.ts";
import type { EventInput, LedgerSummary, Store } from "../../ledger/store.ts";
import { contextEntries, holderOf, type Summary, summaryOf } from "../listing.ts";
import type { Project } from "../project.ts";
import { dropPaths } from "./places.ts";

/**
 * Recorded in each context as an event, so that every reader sees the same. Contract: nothing to do, and nothing read, where the folder has
 * one path; a context that somebody is working in is left to the next time; of two that do it at once one does.
 */
export async function settleMovedRoots(store: Store, project: Project): Promise<void> {
  const { formerly, top, stateDir } = project;
  if (formerly.length === 0 || store.readOnly) return;
  repairWorktrees(path.join(stateDir, "worktrees"), formerly, top);
  const left = new Set<string>();
  const there: (LedgerSummary & { from: string })[] = [];
  for await (const entry of contextEntries(store)) {
    const from = formerly.find((one) => isInside(summaryOf(entry).root ?? "", one));
    if (from !== undefined) there.push({ ...entry, from });
  }
  // One by one, the one last used last: the newest stays the newest.
  for (const entry of there.sort((a, b) => a.updatedAt - b.updatedAt || (a.ledger < b.ledger ? -1 : 1))) {
    const { ledger, from } = entry;
    const version = await store.version(ledger, CONFIG);
    const { root = "", agents = [], busy = [] } = await summaryIn(store, ledger);
    if (!isInside(root, from)) continue; // another process has done it
    if ((await holderOf(store, ledger, [...agents, ...busy]))?.alive) {
      left.add(from);
      continue;
    }
    const data = { from, to: top };
    const moved: EventInput = { type: "context.moved", v: 1, actor: "user", touches: [CONFIG], data };
    const summary: Summary = { root: top + root.slice(from.length) };
    try {
      await store.append([{ ledger, events: [moved], summary, expect: { [CONFIG]: version } }]);
    } catch (error) {
      if (!isHoldfastError(error, "damaged") && !isHoldfastError(error, "conflict")) throw error;
      left.add(from); // one that is damaged keeps nobody from the others, nor from its repair
    }
    crashPoint("root.moved");
  }
  if (project.place) dropPaths(project.place, new Set(formerly.filter((one) => !left.has(one))));
}

const CONFIG = "ctx:config";

async function summaryIn(store: Store, ledger: string): Promise<Summary> {
  for await (const entry of store.list({ prefix: ledger })) return summaryOf(entry);
  return {};
}

const isInside = (file: string, dir: string): boolean => file === dir || file.startsWith(`${dir}/`);

/** As `git worktree repair` does, for the worktrees in our own state only, where the repository names them back. */
function repairWorktrees(dir: string, formerly: string[], top: string): void {
  if (!fs.existsSync(dir)) return;
  for (const name of fs.readdirSync(dir)) {
    const file = path.join(dir, name, ".git");
    try {
      if (!fs.lstatSync(file).isFile()) continue;
      const named = /^gitdir: (.+)\n?$/.exec(fs.readFileSync(file, "utf8"))?.[1] ?? "";
      const from = formerly.find((one) => isInside(named, one));
      if (from === undefined) continue;
      const admin = top + named.slice(from.length);
      if (fs.readFileSync(path.join(admin, "gitdir"), "utf8").trim() !== file) continue;
      const fresh = `${file}.${process.pid}`;
      fs.writeFileSync(fresh, `gitdir: ${admin}\n`, { flush: true });
      fs.renameSync(fresh, file);
    } catch {
      // not a worktree of ours: whoever uses it is told
    }
  }
}
