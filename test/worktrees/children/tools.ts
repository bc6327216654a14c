// A child that makes or removes worktrees again and again: node tools.ts ROOT DIR make|remove NAME…; one line for each, what came of it.
import { openWorktrees } from "../../../src/mechanisms/worktrees/index.ts";

const [root = "", dir = "", verb = "", ...names] = process.argv.slice(2);
const worktrees = openWorktrees({ root, dir });
for (const name of names) {
  try {
    if (verb === "make") await worktrees.make(await worktrees.planMake(name, { from: root, mark: `p${process.pid}` }));
    else {
      const nobody = { discardIgnored: false, usedBy: async () => [] };
      await worktrees.remove(await worktrees.planRemoval(name, nobody), nobody);
    }
    process.stdout.write(`${verb} ${name}\n`);
  } catch (error) {
    process.stdout.write(`! ${(error as Error).message}\n`);
  }
}
