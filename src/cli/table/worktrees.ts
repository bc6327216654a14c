// The table of `holdfast worktrees`: what teams made, and how to take it over.
import { type Command, verb } from "../command.ts";
import { text, toggle } from "../flag.ts";
import { JSON_TOO, PLACE } from "../flags.ts";

const LOOK = { ...JSON_TOO, ...PLACE };
const STAT = { stat: toggle("names only") };
const run = async () => (await import("../commands/worktrees.ts")).worktrees;

export const WORKTREES: Command = {
  help: "what teams made, and how to take it over",
  also: ["worktree"],
  bare: "ls",
  verbs: {
    ls: verb({
      words: "",
      help: "all of them: branch, task, agent, what is new in each",
      flags: { all: toggle("also branches whose directory is gone"), ...LOOK },
      run: async (flags, words) => (await run())("ls", flags, words),
    }),
    show: verb({
      words: "WORKTREE",
      help: "one of them: its commits and files, and what to do with it",
      flags: LOOK,
      run: async (flags, words) => (await run())("show", flags, words),
    }),
    diff: verb({
      words: "WORKTREE",
      help: "what differs from where it began, uncommitted work too",
      flags: { ...STAT, ...LOOK },
      run: async (flags, words) => (await run())("diff", flags, words),
    }),
    merge: verb({
      words: "WORKTREE",
      help: "into the branch that is checked out here; a conflict leaves everything as it was",
      flags: {
        commit: toggle("commit what is uncommitted in it on its branch first"),
        reason: text("TEXT", "the message of that commit"),
        ...LOOK,
      },
      run: async (flags, words) => (await run())("merge", flags, words),
    }),
    rm: verb({
      words: "WORKTREE",
      help: "remove the directory; its branch stays. Refused while it is dirty, unmerged or in use",
      flags: { discardIgnored: toggle("single ignored files may go with it"), ...LOOK },
      run: async (flags, words) => (await run())("rm", flags, words),
    }),
  },
};
