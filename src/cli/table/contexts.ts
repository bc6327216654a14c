// The table of `holdfast contexts`: looking at what was done, going back, branching off, moving and removing it.
import { type Command, verb } from "../command.ts";
import { text, texts, toggle } from "../flag.ts";
import { JSON_TOO, PLACE, RUN } from "../flags.ts";

const LOOK = { ...JSON_TOO, ...PLACE };
const FORCE = { force: toggle("also over files that somebody else changed since") };
const KEEP = { keepChanged: toggle("leave files alone that somebody else changed since") };
const looking = () => import("../commands/contexts.ts");

export const CONTEXTS: Command = {
  help: "what is running, interrupted, done; going back, branching off",
  also: ["context", "ctx"],
  bare: "ls",
  more: "CONTEXT is an id, four characters of one or more, or a title. A project is a repository with all its folders and worktrees.",
  verbs: {
    ls: verb({
      words: "",
      help: "all contexts of this project, whatever folder they work in, the newest first",
      flags: { all: toggle("of all projects"), ...LOOK },
      run: async (flags) => (await looking()).ls(flags),
    }),
    show: verb({
      words: "CONTEXT",
      help: "what happened in one; what its model was asked",
      flags: {
        view: text("N", "the request of reply N, or of the next one (next); with --json its very bytes"),
        diff: texts("N M", "how the requests of two replies differ", {
          alsoTakes: (word) => /^(?:r?\d+|next)$/.test(word),
        }),
        breaks: toggle("the requests that broke what providers cache, why, and what that cost"),
        agent: text("NAME", "whose requests; default: the lead's"),
        at: text("SEQ", "as it was when that event had just happened: agents, data, board, files, transcript"),
        ...LOOK,
      },
      run: async (flags, [id]) => (await looking()).show(flags, id),
    }),
    resume: verb({
      words: "[CONTEXT] [PROMPT …]",
      help: "take it up again, the newest without a CONTEXT (same as -p -r)",
      flags: RUN,
      run: async (flags, [id = "", ...words]) =>
        (await import("../headless.ts")).headless({ ...flags, resume: id, continue: false }, words),
    }),
    resumable: verb({
      words: "",
      help: "what can be taken up again",
      flags: LOOK,
      run: async (flags) => (await looking()).inStore(flags, (verbs, contexts) => verbs.resumable(contexts, flags)),
    }),
    verify: verb({
      words: "[CONTEXT]",
      help: "read everything again and check it",
      flags: { repair: toggle("mend what can be, keeping the damaged file"), ...LOOK },
      run: async (flags, [id]) => (await looking()).verify(flags, id),
    }),
    data: verb({
      words: "CONTEXT [KEY [PATH]]",
      help: "what its agents share",
      flags: LOOK,
      run: async (flags, words) =>
        (await looking()).inStore(flags, (verbs, contexts) => verbs.data(contexts, flags, words)),
    }),
    checkpoints: verb({
      words: "CONTEXT",
      help: "where you can go back to (one at every prompt)",
      flags: LOOK,
      run: async (flags, [id]) =>
        (await looking()).ofContext(flags, id, (verbs, context) => verbs.checkpoints(context, flags)),
    }),
    checkpoint: verb({
      words: "CONTEXT [NAME]",
      help: "make one now",
      flags: LOOK,
      run: async (flags, [id, name]) =>
        (await looking()).ofContext(flags, id, (verbs, context) => verbs.checkpoint(context, flags, name)),
    }),
    restore: verb({
      words: "CONTEXT CHECKPOINT",
      help: "go back to it; undo takes that back",
      more: 'CHECKPOINT is a name or a number that `holdfast contexts checkpoints CONTEXT` shows, such as "prompt 2".',
      flags: {
        only: text("PARTS", "not all of conversation,data,files", { values: ["conversation", "data", "files"] }),
        ...KEEP,
        ...FORCE,
        ...LOOK,
      },
      run: async (flags, [id, name]) =>
        (await looking()).ofContext(flags, id, (verbs, context) => verbs.restore(context, flags, name)),
    }),
    undo: verb({
      words: "CONTEXT",
      help: "take the last restore back",
      flags: { ...KEEP, ...FORCE, ...LOOK },
      run: async (flags, [id]) =>
        (await looking()).ofContext(flags, id, (verbs, context) => verbs.undo(context, flags)),
    }),
    diff: verb({
      words: "CONTEXT CHECKPOINT [CHECKPOINT]",
      help: "what changed between two of them, or since one",
      flags: { stat: toggle("names only"), ...LOOK },
      run: async (flags, [id, from, to]) =>
        (await looking()).ofContext(flags, id, (verbs, context) => verbs.diff(context, flags, from, to)),
    }),
    fork: verb({
      words: "CONTEXT [CHECKPOINT]",
      help: "a second timeline beside the first, from a checkpoint or any event",
      more: "CHECKPOINT is a name, or the number of any event. Inside a turn the fork begins where the model was last asked, and goes on from there.",
      flags: LOOK,
      run: async (flags, [id, name]) =>
        (await looking()).ofContext(flags, id, (verbs, context) => verbs.fork(context, flags, name)),
    }),
    export: verb({
      words: "CONTEXT FILE",
      help: "into one file, with checksums",
      flags: { asTest: toggle("as a recording that `replays(file)` runs, without your secrets"), ...LOOK },
      run: async (flags, words) =>
        flags.asTest
          ? (await import("../commands/replay.ts")).exportAsTest(flags, words[0], words[1])
          : (await looking()).inStore(flags, (verbs, contexts) => verbs.export(contexts, flags, words)),
    }),
    import: verb({
      words: "FILE",
      help: "what was exported, here",
      flags: LOOK,
      run: async (flags, words) =>
        (await looking()).inStore(flags, (verbs, contexts) => verbs.import(contexts, flags, words)),
    }),
    gc: verb({
      words: "",
      help: "remove what has outlived its time",
      flags: { dryRun: toggle("only say what would go"), ...LOOK },
      run: async (flags) => (await looking()).inStore(flags, (verbs, contexts) => verbs.gc(contexts, flags)),
    }),
    rm: verb({
      words: "CONTEXT",
      help: "remove it, with everything in it",
      flags: { force: toggle("without being asked"), ...LOOK },
      run: async (flags, words) =>
        (await looking()).inStore(flags, (verbs, contexts) => verbs.rm(contexts, flags, words)),
    }),
  },
};
