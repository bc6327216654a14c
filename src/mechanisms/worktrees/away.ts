// Worktrees of tasks on a store that several machines share: whose they are left to, what is said of them, and how one of a machine that is gone is made anew.
import { refused } from "../../file-access/refused.ts";
import { thisMachine } from "../../ledger/holder.ts";
import type { Store } from "../../ledger/store.ts";
import type { Remaking, Task } from "../tasks/port.ts";
import type { TreeElsewhere } from "./elsewhere.ts";
import type { Remade, Worktrees } from "./port.ts";

export interface SharedTrees {
  store: Store;
  /** Whether hosts of that machine are seen, or were a while ago. */
  lives(machine: string): Promise<boolean>;
}

/** A worktree that is not here, and whether its machine lives. */
type Away = TreeElsewhere & { lives: boolean };

export interface TaskTrees {
  /** Contract: throws `refused`, which says where it is and what to do, when it is not here. */
  placeOf: Worktrees["placeOf"];
  /** Its worktree is on another machine that lives. */
  isElsewhere: (task: Pick<Task, "worktree">) => Promise<boolean>;
  /** Contract: undefined when it is here, or nobody knows of it, or its machine lives. `by`: for whom. */
  remake: (name: string, by: string) => Promise<Remaking | undefined>;
}

/** So long what the ledgers tell is not read again: all of them are. */
const KNOWN_MS = 5_000;

export function treesFor(worktrees: Worktrees, { root, shared }: { root: string; shared: SharedTrees }): TaskTrees {
  const find = finding(worktrees, shared);
  return {
    async placeOf(name) {
      const tree = await find(name);
      if (!tree) return worktrees.placeOf(name);
      throw refused(tree.lives ? await waitsThere(tree) : await goneThere(tree));
    },
    isElsewhere: async ({ worktree }) => worktree !== null && ((await find(worktree))?.lives ?? false),
    async remake(name, by) {
      const tree = await find(name);
      if (!tree || tree.lives) return undefined;
      const made = await worktrees.remake(name, { from: root, mark: by });
      const { path, branch, commit } = made;
      const says = `The worktree ${name} was made anew, ${beginning(made)}: ${await lostThere(tree)}`;
      return {
        event: { type: "worktree.created", data: { name, path, branch, commit, machine: thisMachine() } },
        says,
      };
    },
  };
}

/** Contract: undefined when it is here, or when no ledger tells of it. */
function finding({ placeOf }: Worktrees, { store, lives }: SharedTrees): (name: string) => Promise<Away | undefined> {
  let read: { at: number; trees: Promise<TreeElsewhere[]> } | undefined;
  const known = async (): Promise<TreeElsewhere[]> => (await import("./elsewhere.ts")).treesElsewhere(store);
  return async (name) => {
    if (await placeOf(name).then(Boolean, () => false)) return undefined;
    if (!read || Date.now() - read.at >= KNOWN_MS) read = { at: Date.now(), trees: known() };
    const trees = await read.trees.catch((error) => {
      read = undefined;
      throw error;
    });
    const same = trees.filter((one) => one.name === name);
    const found = await Promise.all(same.map(async (one) => ({ ...one, lives: await lives(one.machine) })));
    return found.find((one) => one.lives) ?? found[0];
  };
}

async function waitsThere({ name, machine, path }: TreeElsewhere): Promise<string> {
  const { machineText } = await import("./elsewhere.ts");
  return `the worktree ${name} is ${machineText(machine)}, in ${path}, and hosts of that machine live: leave the task on the board, and its teammate goes on with it there`;
}

const goneThere = async (tree: TreeElsewhere): Promise<string> =>
  `the worktree ${tree.name} is not here: ${await lostThere(tree)}. Make it anew here with create_worktree and claim the task then; or start \`holdfast worker\` there again`;

async function lostThere({ machine, path, branch }: TreeElsewhere): Promise<string> {
  const { machineText } = await import("./elsewhere.ts");
  return `it was ${machineText(machine)}, in ${path}, of which no host is seen any more, and what was not pushed there (branch ${branch}) is not here`;
}

function beginning({ begins, branch, commit }: Remade): string {
  const at = `at ${commit.slice(0, 10)}`;
  if (begins === undefined) return at;
  return begins === "branch" ? `${at} from its branch ${branch} as it is known here` : `${at} from the project's tree`;
}
